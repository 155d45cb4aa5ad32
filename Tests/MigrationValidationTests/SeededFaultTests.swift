import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Jobs
import ManagedObjectModel
import MappingModel
import SafeSQLite
import StoreFileChecks
import StoreForge
import TestSupport
import Testing

@testable import MigrationValidation
@testable import ValidationScans

@Suite struct SeededFaultTests {
    /// The models of two apps, and random ones that have what those lack.
    private static func models() throws -> [Model] {
        var models = [try ForgeModels.shop(version: 1), try ForgeModels.notes(version: 1)]
        for seed in [0, 1, 2, 3, 4, 5] as [UInt64] {
            var generator = SeededGenerator(seed: seed)
            models.append(try RandomModel.make(using: &generator, entities: 4...7))
        }
        models.append(try Self.listModel())
        return models
    }

    /// A model of two lists that lead to each other, both in an order of their own.
    private static func listModel() throws -> Model {
        let name = Attribute(name: "name", type: .string)
        return try Model(entities: [
            Entity(
                name: "Author", attributes: [name],
                relationships: [
                    Relationship(
                        name: "books", destination: "Book", inverse: "authors", maximumCount: 0,
                        isOrdered: true)
                ]),
            Entity(
                name: "Book", attributes: [name, Attribute(name: "pages", type: .integer32)],
                relationships: [
                    Relationship(
                        name: "authors", destination: "Author", inverse: "books", maximumCount: 0,
                        isOrdered: true)
                ]),
        ])
    }

    /// A forged store that has what the model asks for, and nothing dangling.
    private static func forge(_ model: Model, seed: UInt64, in folder: URL) throws -> SourceStore {
        var recipe = ForgeRecipe(model: model, seed: seed)
        recipe.defaultRows = 12
        recipe.metadata = ForgeRecipe.sampleMetadata
        let url = folder.appendingPathComponent("forged.sqlite")
        _ = try Forge(recipe).write(to: FilePath(url.path))
        return try StoreCopies.open(url, in: folder)
    }

    private static func copy(_ store: SourceStore, in folder: URL, _ name: String) throws
        -> FilePath
    {
        let path = FilePath(folder.appendingPathComponent(name).path)
        _ = try DurableFileSystem().clone(from: store.database, to: path)
        return path
    }

    /// Every fault in every store.
    @Test(arguments: SeededFault.all)
    func faultIsCaught(fault: SeededFault) throws {
        var applied = 0
        for (place, model) in try Self.models().enumerated() {
            try withTemporaryFolder { folder in
                let store = try Self.forge(model, seed: UInt64(place) + 5, in: folder)
                let seed = UInt64(place)
                let path = try Self.copy(store, in: folder, "spoilt.sqlite")
                guard try fault.apply(to: path, layout: store.layout, seed: seed) else { return }
                applied += 1
                let copies = try StoreCopies(of: store, in: folder, as: path)
                let caught: Bool
                do {
                    caught = try !copies.validator.run().isEqual
                } catch is StoreError {
                    // A file that can no longer be read as a store is caught as well.
                    caught = true
                }
                #expect(caught, "\(fault.name) in store \(place)")
            }
        }
        #expect(applied > 0, "\(fault.name) found no place")
    }

    /// References to nothing are inherited; where they are to go, they must be gone.
    @Test func danglingReferencesAreKeptOrNullified() throws {
        try withTemporaryFolder { folder in
            var recipe = ForgeRecipe(model: try ForgeModels.notes(version: 1), seed: 3)
            recipe.danglingShare = 0.4
            recipe.defaultRows = 30
            let url = folder.appendingPathComponent("forged.sqlite")
            _ = try Forge(recipe).write(to: FilePath(url.path))
            let store = try StoreCopies.open(url, in: folder)
            let kept = try StoreCopies(of: store, in: folder)
            let report = try kept.validator.run()
            #expect(report.isEqual, "\(report.lines)")
            #expect(report.inherited.contains { $0.fault.kind == .dangling && $0.count > 2 })
            let nullified = try StoreCopies(
                of: store, in: folder, as: kept.destination, dangling: .nullify)
            #expect(try !nullified.validator.run().isEqual)

            let connection = try Connection(path: kept.destination, mode: .create)
            for place in nullified.validator.places where place.storage.owner == .row {
                let storage = place.storage
                let target = store.layout.table(of: place.targetEntity)?.name ?? ""
                let columns = [storage.target.keyColumn, storage.target.entityColumn]
                let cleared = columns.compactMap { $0 }.map { "\(SQLText.quoted($0)) = NULL" }
                try connection.execute(
                    "UPDATE \(SQLText.quoted(storage.table)) SET "
                        + cleared.joined(separator: ", ")
                        + " WHERE NOT EXISTS (SELECT 1 FROM \(SQLText.quoted(target)) x "
                        + "WHERE x.Z_PK = \(SQLText.quoted(storage.target.keyColumn)))")
            }
            _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)")
            try connection.close()
            let after = try nullified.validator.run()
            #expect(after.isEqual, "\(after.lines)")
        }
    }

    /// A place in a list that is no integer, and reads as the right one under a known encoding.
    @Test(arguments: 1...5)
    func aPlaceOfAnotherTypeIsAnotherPlace(storageClass: Int64) throws {
        try withTemporaryFolder { folder in
            let store = try Self.forge(try Self.listModel(), seed: 3, in: folder)
            let copies = try StoreCopies(of: store, in: folder)
            #expect(try copies.validator.run().isEqual)
            let connection = try Connection(path: copies.destination, mode: .create)
            var changed = 0
            for place in copies.validator.places {
                for column in [place.storage.ownerOrder, place.storage.targetOrder] {
                    guard let name = column.map(SQLText.quoted) else { continue }
                    let table = SQLText.quoted(place.storage.table)
                    try connection.execute(
                        "UPDATE \(table) SET \(name) = CAST(CAST(\(name) - "
                            + "\(storageClass << 56) AS TEXT) AS BLOB) WHERE \(name) IS NOT NULL")
                    changed += Int(try connection.integer("SELECT changes()") ?? 0)
                }
            }
            _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)")
            try connection.close()
            #expect(changed > 0)
            #expect(try !copies.validator.run().isEqual)
        }
    }

    /// Where no object is linked, no entity is named.
    @Test func theEntityOfNoObjectIsFound() throws {
        var applied = 0
        for (place, model) in try Self.models().enumerated() {
            try withTemporaryFolder { folder in
                let store = try Self.forge(model, seed: UInt64(place) + 5, in: folder)
                let copies = try StoreCopies(of: store, in: folder)
                let connection = try Connection(path: copies.destination, mode: .create)
                var changed: Int64 = 0
                for place in copies.validator.places {
                    guard let entity = place.storage.target.entityColumn else { continue }
                    let key = SQLText.quoted(place.storage.target.keyColumn)
                    try connection.execute(
                        "UPDATE \(SQLText.quoted(place.storage.table)) "
                            + "SET \(SQLText.quoted(entity)) = 77 WHERE \(key) IS NULL")
                    changed += try connection.integer("SELECT changes()") ?? 0
                }
                _ = try connection.texts("PRAGMA wal_checkpoint(TRUNCATE)")
                try connection.close()
                guard changed > 0 else { return }
                applied += 1
                #expect(try !copies.validator.run().isEqual, "store \(place)")
            }
        }
        #expect(applied > 0)
    }

    /// What a worker works out about one validation tells it nothing of the next one: every
    /// validation has sums of its own.
    @Test func eachValidationHasItsOwnSums() throws {
        try withTemporaryFolder { folder in
            let store = try Self.forge(try ForgeModels.shop(version: 1), seed: 7, in: folder)
            var seen: [[String: ContentSum]] = []
            for _ in 0..<3 {
                let validator = try StoreCopies(of: store, in: folder).validator
                var whole = PartialResult()
                for part in validator.parts() { whole.merge(try validator.run(part)) }
                #expect(try validator.report(on: whole).isEqual)
                seen.append(whole.expected.filter { $0.value.count > 0 })
                try FileManager.default.removeItem(
                    at: folder.appendingPathComponent("copy.sqlite"))
            }
            #expect(seen[0].count > 10)
            for (label, sum) in seen[0] {
                let others = seen[1...].compactMap { $0[label] }
                #expect(others.count == 2 && Set(others + [sum]).count == 3, "\(label)")
            }
        }
    }

    /// Without a fault both stores are equal: what the faults are caught by is the fault.
    @Test func soundCopiesAreEqual() throws {
        var compared = PartialResult()
        var links: Int64 = 0
        for (place, model) in try Self.models().enumerated() {
            try withTemporaryFolder { folder in
                let store = try Self.forge(model, seed: UInt64(place) + 5, in: folder)
                let report = try StoreCopies(of: store, in: folder).validator.run()
                #expect(report.isEqual, "store \(place): \(report.lines)")
                compared.destinationRows += report.rows
                compared.joinRows += report.joinRows
                links += report.links
            }
        }
        #expect(compared.destinationRows > 200 && compared.joinRows > 50 && links > 200)
    }
}
