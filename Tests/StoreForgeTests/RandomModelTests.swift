import CoreDataStore
import FaultSupport
import ManagedObjectModel
import SafeSQLite
import StoreForge
import TestSupport
import Testing

/// Stores of models made from a seed.
@Suite("Forge: random models")
struct RandomModelTests {
    @Test("every model gives a store that is whole", arguments: Array(UInt64(1)...60))
    func whole(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var recipe = ForgeRecipe(model: try RandomModel.make(using: &random), seed: seed)
        recipe.defaultRows = Int.random(in: 0...25, using: &random)
        recipe.linksPerObject = Int.random(in: 1...4, using: &random)
        recipe.deletedShare = [0, 0.3][Int.random(in: 0...1, using: &random)]
        recipe.keyOrder = seed % 3 == 0 ? .byEntity : .interleaved
        recipe.journal = seed % 4 == 0 ? .writeAheadLogWithContent : .writeAheadLog
        let layout = try StoreLayout(model: recipe.model, framework: recipe.framework)
        try withForgedStore(recipe) { store, receipt in
            try StoreAudit(store).run()
            #expect(VersionHashes(store.model) == VersionHashes(recipe.model))
            #expect(store.layout.tables.map(\.sql) == layout.tables.map(\.sql))
            #expect(store.layout.joinTables == layout.joinTables)
            #expect(store.layout.indexes == layout.indexes)
            #expect(store.layout.triggers == layout.triggers)
            let rows = try store.layout.tables.map { table in
                let connection = try store.connect()
                let count = try connection.integer("SELECT count(*) FROM \(table.name)") ?? 0
                try connection.close()
                return count
            }
            #expect(rows.reduce(0, +) == Int64(receipt.rows))
        }
    }

    @Test("the same random numbers give the same model")
    func deterministic() throws {
        for seed in UInt64(1)...20 {
            var (one, two) = (SeededGenerator(seed: seed), SeededGenerator(seed: seed))
            #expect(try RandomModel.make(using: &one) == RandomModel.make(using: &two))
        }
    }

    @Test("all kinds of relationships, indexes and derivations occur")
    func variety() throws {
        var kinds: Set<String> = []
        for seed in UInt64(1)...60 {
            var random = SeededGenerator(seed: seed)
            let model = try RandomModel.make(using: &random)
            let layout = try StoreLayout(model: model, framework: .newestVerified)
            for join in layout.joinTables {
                kinds.insert(join.isReflexive ? "reflexive" : "many-to-many")
                if join.inverseOrder != nil { kinds.insert("ordered many-to-many") }
            }
            for column in layout.tables.flatMap(\.columns) {
                switch column.role {
                case .toOneEntity: kinds.insert("entity column")
                case .hiddenKey: kinds.insert("hidden key")
                case .hiddenOrder: kinds.insert("hidden order")
                case .order: kinds.insert("order")
                default: break
                }
                if column.isExternal { kinds.insert("external") }
            }
            if !layout.rTrees.isEmpty { kinds.insert("R-tree") }
            if layout.triggers.contains(where: { $0.name.hasPrefix("Z_DA") }) {
                kinds.insert("derived")
            }
            if layout.indexes.contains(where: \.isUnique) { kinds.insert("unique") }
            if layout.indexes.contains(where: { $0.condition != nil }) { kinds.insert("partial") }
        }
        #expect(
            kinds == [
                "reflexive", "many-to-many", "ordered many-to-many", "entity column", "hidden key",
                "hidden order", "order", "external", "R-tree", "derived", "unique", "partial",
            ])
    }
}
