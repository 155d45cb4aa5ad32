import DurableFiles
import Foundation
import SafeSQLite
import TestSupport
import Testing

/// Databases that are written, where a symbolic link has their name.
@Suite struct ConnectionLinkTests {
    @Test func linksAreNotFollowedByConnectionsThatWrite() throws {
        try withTemporaryFolder { url in
            let files = DurableFileSystem()
            let folder = try files.resolve(try #require(FilePath(url)))
            let other = folder.appending("other.sqlite")
            let made = try Connection(path: other, mode: .create)
            try made.create(SchemaDefinition(.table, "t", sql: "CREATE TABLE t (x)"))
            try made.close()
            let bytes = try files.contents(of: other, limit: 1 << 20)
            let link = folder.appending("own.sqlite")
            try FileManager.default.createSymbolicLink(
                atPath: link.description, withDestinationPath: other.description)
            for mode in [Connection.Mode.readWrite, .create] {
                let error = #expect(throws: StoreError.self) {
                    _ = try Connection(path: link, mode: mode)
                }
                #expect("\(String(describing: error))".contains("symbolic link"))
            }
            #expect(try files.contents(of: other, limit: 1 << 20) == bytes)
            #expect(try files.names(in: folder) == ["other.sqlite", "own.sqlite"])
            // A link on the way to the folder is the caller's affair.
            let way = folder.appending("way")
            try FileManager.default.createSymbolicLink(
                atPath: way.description, withDestinationPath: folder.description)
            let again = try Connection(path: way.appending("other.sqlite"), mode: .readWrite)
            #expect(try again.texts("SELECT count(*) FROM t") == ["0"])
            try again.close()
        }
    }
}
