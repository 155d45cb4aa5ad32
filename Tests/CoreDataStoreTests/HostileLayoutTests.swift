import DurableFiles
import ManagedObjectModel
import SafeSQLite
import TestSupport
import Testing

@testable import CoreDataStore

/// Layouts of models that no reader lets through: their names are names in the file, too.
@Suite struct HostileLayoutTests {
    private func model(_ name: String) throws -> Model {
        var entity = Entity(name: name)
        entity.attributes = [
            Attribute(name: name, type: .string, isIndexed: true),
            Attribute(name: name + "2", type: .double),
            Attribute(name: name + "3", type: .double),
        ]
        entity.relationships = [
            Relationship(name: name + "4", destination: name, inverse: name + "5"),
            Relationship(
                name: name + "5", destination: name, inverse: name + "4", maximumCount: 0),
            Relationship(
                name: name + "6", destination: name, inverse: name + "6", maximumCount: 0),
        ]
        entity.fetchIndexes = [
            FetchIndex(
                name: name, elements: [.init(.property(name), isAscending: false)],
                partialPredicate: .compare(property: name, .equal, .text(name))),
            FetchIndex(
                name: name + "R",
                elements: [
                    .init(.property(name + "2"), type: .rTree),
                    .init(.property(name + "3"), type: .rTree),
                ]),
        ]
        entity.uniquenessConstraints = [[name]]
        return try Model(entities: [entity])
    }

    @Test(arguments: [519, 637, 1522])
    func namesStayNames(framework: Int) throws {
        for name in HostileNames.known(canary: "/nowhere") where !name.contains("\0") {
            let layout = try StoreLayout(
                model: model(name), framework: FrameworkVersion(framework))
            let connection = try Connection(path: "", mode: .memory)
            for definition in layout.definitions { try connection.create(definition) }
            let wanted = Set(layout.definitions.map(\.name))
            let found = try Set(
                connection.texts(
                    "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_autoindex_%'"))
            let shadows = layout.rTrees.flatMap { tree in
                ["_node", "_parent", "_rowid"].map { tree.name + $0 }
            }
            #expect(found == wanted.union(shadows), "\(name)")
            for table in layout.tables {
                let info = try connection.prepare("SELECT name FROM pragma_table_xinfo(?1)")
                try info.bind(table.name, at: 1)
                var columns: [String] = []
                while try info.step() { columns.append(info.text(0) ?? "") }
                #expect(columns == table.columnNames, "\(name)")
            }
            for tree in layout.rTrees { try connection.execute(tree.fillSQL) }
            try connection.close()
        }
    }

    /// SQLite's text ends at a NUL: such a name is refused, and nothing of it runs.
    @Test func namesWithNULAreRefused() throws {
        for name in HostileNames.known(canary: "/nowhere") where name.contains("\0") {
            let layout = try StoreLayout(model: model(name), framework: .newestVerified)
            let connection = try Connection(path: "", mode: .memory)
            #expect(throws: StoreError.self) {
                for definition in layout.definitions { try connection.create(definition) }
            }
            #expect(try connection.texts("SELECT name FROM sqlite_master") == [])
            try connection.close()
        }
    }
}
