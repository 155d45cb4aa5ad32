import DurableFiles
import Foundation
import ManagedObjectModel
import SafeSQLite
import TestSupport
import Testing

@testable import CoreDataStore

/// A blank store is what the builder makes step by step.
@Suite struct BlankStoreTests {
    private func schema(of connection: Connection) throws -> Set<String> {
        Set(
            try connection.texts(
                "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master"))
    }

    private func format(of connection: Connection) throws -> [String] {
        let names: [StaticString] = ["page_size", "auto_vacuum", "encoding", "user_version"]
        return try names.map { try connection.pragma($0).joined() }
    }

    @Test(arguments: [637, 1044])
    func holdsTablesAndIndexes(framework: Int) throws {
        let layout = try StoreLayout(
            model: framework == 637 ? GoldenModels.moods() : GoldenModels.cars(),
            framework: FrameworkVersion(framework))
        try withTemporaryFolder { folder in
            try compare(layout, in: FilePath(folder.path))
        }
    }

    private func compare(_ layout: StoreLayout, in folder: FilePath) throws {
        let files = DurableFileSystem()
        let built = folder.appending("built.sqlite")
        let builder = try StoreBuilder(creating: built, layout: layout)
        try builder.createTables()
        for index in layout.indexes where !index.isUnique {
            try builder.connection.create(index.definition)
        }
        let blank = folder.appending("blank.sqlite")
        let file = try files.create(blank)
        try file.write(BlankStore(layout, .withEqualValues).bytes)
        try file.close()
        let opened = try Connection(path: blank, mode: .readWrite)

        #expect(layout.indexes.contains { !$0.isUnique })
        #expect(try schema(of: opened) == schema(of: builder.connection))
        #expect(try format(of: opened) == ["4096", "2", "UTF-8", "0"])
        #expect(try opened.pragma("integrity_check") == ["ok"])
        try opened.close()
        try builder.connection.close()
    }
}
