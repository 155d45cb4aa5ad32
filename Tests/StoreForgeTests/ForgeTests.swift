import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import ModelFiles
import SafeSQLite
import StoreForge
import TestSupport
import Testing

/// What recipes ask for beyond rows.
@Suite("Forge")
struct ForgeTests {
    private func notes() throws -> ForgeRecipe {
        var recipe = try ForgeRecipe.notes(version: 3, notes: 60)
        recipe.hasApplicationObjects = true
        recipe.historyRows = 11
        return recipe
    }

    private func bytes(of recipe: ForgeRecipe) throws -> [[UInt8]] {
        try withTemporaryFolder { folder in
            let place = try #require(FilePath(folder))
            _ = try Forge(recipe).write(to: place.appending("Forged.sqlite"))
            let files = DurableFileSystem()
            return try files.tree(at: place).filter { $0.status.isRegularFile }
                .map { try files.contents(of: $0.path, limit: 1 << 30) }
        }
    }

    @Test(
        "equal recipes give equal bytes, in every file",
        arguments: [ForgeRecipe.Journal.writeAheadLog, .writeAheadLogWithContent, .rollback])
    func deterministic(journal: ForgeRecipe.Journal) throws {
        var recipe = try notes()
        recipe.journal = journal
        let first = try bytes(of: recipe)
        #expect(try bytes(of: recipe) == first)
        #expect(first.count > 2, "files of external data are there")
        recipe.seed = 2
        #expect(try bytes(of: recipe) != first)
    }

    @Test("a store with everything in it is whole")
    func everything() throws {
        try withForgedStore(notes()) { store, receipt in
            try StoreAudit(store).run()
            #expect(store.extras.map(\.name).contains("RADAR_LOG"))
            #expect(store.hasHistory)
            #expect(store.primaryKeys.reserved.map(\.maximum) == [11, 3, 4])
            for entry in ForgeRecipe.sampleMetadata {
                #expect(store.metadata.properties[entry.key] == entry.value)
            }
            let folder = try DurableFileSystem().names(in: store.externalData)
            #expect(folder.count == receipt.externalFiles)
            #expect(receipt.externalFiles > 0)
        }
    }

    @Test("references to external data name the files that were written")
    func external() throws {
        try withForgedStore(notes()) { store, _ in
            let connection = try store.connect()
            let column = try #require(
                store.layout.column(.attribute(PropertyKey("Attachment", "content"))))
            let list = try connection.prepare(
                "SELECT \(column.column.name) FROM \(column.table.name) "
                    + "WHERE \(column.column.name) IS NOT NULL")
            var names: Set<FilePath> = []
            var inline = 0
            while try list.step() {
                switch ExternalReference(list.bytes(0)) {
                case .inline: inline += 1
                case .file(let name): names.insert(FilePath(name))
                case .malformed: Issue.record("a value without a prefix")
                }
            }
            #expect(inline > 0)
            #expect(try names == Set(DurableFileSystem().names(in: store.externalData)))
        }
    }

    @Test("the log holds rows that the database alone does not")
    func log() throws {
        var recipe = try notes()
        recipe.journal = .writeAheadLogWithContent
        try withForgedStore(recipe) { store, receipt in
            #expect(store.isSnapshot)
            try StoreAudit(store).run()
            let alone = try Connection(path: store.path, mode: .immutable)
            let whole = try store.connect()
            let sql = "SELECT count(*) FROM ZNOTE"
            #expect(try whole.integer(sql) == 66)
            #expect(try alone.integer(sql) == 49)
        }
    }

    @Test("stores of early versions", arguments: [241, 419, 519, 637, 640, 752, 866, 973, 1132])
    func frameworks(number: Int) throws {
        var recipe = try ForgeRecipe.shop(orders: 40)
        recipe.framework = FrameworkVersion(number)
        recipe.pageSize = number < 250 ? 2048 : 4096
        recipe.journal = number < 520 ? .rollback : .writeAheadLog
        try withForgedStore(recipe) { store, _ in
            #expect(store.header.pageSize == recipe.pageSize)
            #expect(store.header.autoVacuum == 2)
            #expect(store.header.isWriteAheadLogged == (number >= 520))
            #expect(store.metadata.framework.number == number)
            let connection = try store.connect()
            #expect(try connection.texts("PRAGMA integrity_check") == ["ok"])
        }
    }

    @Test("keys leave gaps, grow, and stay below Z_MAX")
    func gaps() throws {
        var recipe = try ForgeRecipe.smallRows(1_000)
        recipe.deletedShare = 0.5
        recipe.firstKey = 1 << 40
        try withForgedStore(recipe) { store, _ in
            let connection = try store.connect()
            let low = try connection.integer("SELECT min(Z_PK) FROM ZREADING")
            let high = try connection.integer("SELECT max(Z_PK) FROM ZREADING")
            #expect(try #require(low) - (1 << 40) < 2)
            #expect(try #require(high) - (1 << 40) > 1_900)
            #expect(store.primaryKeys.rows.map(\.maximum) == [(1 << 40) + 1_999])
        }
    }

    @Test("links to nothing are made where asked for")
    func dangling() throws {
        var recipe = try ForgeRecipe.shop(orders: 200)
        recipe.danglingShare = 0.2
        try withForgedStore(recipe) { store, _ in
            let connection = try store.connect()
            let lost = try connection.integer(
                "SELECT count(*) FROM ZORDERLINE WHERE ZORDER NOT IN (SELECT Z_PK FROM ZORDER)")
            #expect((20...250).contains(try #require(lost)))
        }
    }

    @Test("NULL, empty and full values of texts and bytes all occur; so do odd texts")
    func values() throws {
        var recipe = ForgeRecipe(
            model: try Model(entities: [
                Entity(
                    name: "Thing",
                    attributes: [
                        Attribute(name: "bytes", type: .binary),
                        Attribute(name: "date", type: .date),
                        Attribute(name: "text", type: .string),
                    ])
            ]))
        recipe.rows = ["Thing": 2_000]
        try withForgedStore(recipe) { store, _ in
            let connection = try store.connect()
            for condition in [
                "ZTEXT IS NULL", "ZTEXT = ''", "length(ZTEXT) <> length(CAST(ZTEXT AS BLOB))",
                "ZBYTES IS NULL", "length(ZBYTES) = 0", "typeof(ZDATE) = 'integer'",
                "typeof(ZDATE) = 'real'", "ZDATE < 0",
            ] {
                let count = try connection.integer("SELECT count(*) FROM ZTHING WHERE \(condition)")
                #expect(try #require(count) > 5, "\(condition)")
            }
            let wrong = try connection.integer(
                "SELECT count(*) FROM ZTHING WHERE typeof(ZTEXT) NOT IN ('text', 'null') "
                    + "OR typeof(ZBYTES) NOT IN ('blob', 'null') OR instr(ZTEXT, char(0))")
            #expect(wrong == 0)
        }
    }

    @Test("recipes that cannot be followed are refused")
    func refusals() throws {
        let model = try ForgeModels.notes(version: 3)
        var recipes = [ForgeRecipe](repeating: ForgeRecipe(model: model), count: 5)
        recipes[0].rows = ["Nothing": 1]
        recipes[1].rows = ["Element": 1]
        recipes[2].nullShare = 1.5
        recipes[3].deletedShare = 1
        recipes[4].rows = ["Note": ForgeRecipe.rowLimit]
        for recipe in recipes {
            try withTemporaryFolder { folder in
                let path = try #require(FilePath(folder)).appending("Forged.sqlite")
                #expect {
                    try Forge(recipe).write(to: path)
                } throws: { error in
                    if case .recipe = error as? ForgeError { true } else { false }
                }
            }
        }
    }

    @Test("nothing is written over a file that is there")
    func exists() throws {
        try withTemporaryFolder { folder in
            let path = try #require(FilePath(folder)).appending("Forged.sqlite")
            let recipe = try ForgeRecipe.smallRows(1)
            _ = try Forge(recipe).write(to: path)
            #expect(throws: ForgeError.exists(path: path.description)) {
                try Forge(recipe).write(to: path)
            }
        }
    }
}
