import CoreDataStore
import ManagedObjectModel
import MappingInference
import MappingModel
import SafeSQLite
import StoreForge
import Testing

/// The models that recipes come with.
@Suite("Forge: presets")
struct PresetTests {
    @Test("consecutive versions can be migrated by inference")
    func inference() throws {
        let chains: [[Model]] = try [
            (1...2).map(ForgeModels.smallRows), (1...2).map(ForgeModels.largeBinaries),
            (1...3).map(ForgeModels.notes), (1...3).map(ForgeModels.shop),
            (1...5).map(ForgeModels.fleet),
        ]
        for chain in chains {
            for (source, destination) in zip(chain, chain.dropFirst()) {
                let inferred = try Inference(from: source, to: destination)
                #expect(inferred.mapping.entityMappings.count { $0.source == nil } < 4)
                #expect(source != destination)
            }
        }
    }

    @Test("renamed attributes keep their values, added ones have defaults")
    func rewrite() throws {
        let inferred = try Inference(
            from: ForgeModels.smallRows(version: 1), to: ForgeModels.smallRows(version: 2))
        let mapping = try #require(inferred.mapping.entityMappings.first)
        let remark = try #require(mapping.attributes.first { $0.destination == "remark" })
        #expect(remark.value == .source("note"))
    }

    @Test("binaries move to another table")
    func move() throws {
        let key = PropertyKey("Photo", "data")
        let tables = try (1...2).map { version in
            let layout = try StoreLayout(
                model: ForgeModels.largeBinaries(version: version), framework: .newestVerified)
            return layout.column(.attribute(key))?.table.name
        }
        #expect(tables == ["ZITEM", "ZPHOTO"])
    }

    @Test("stores of every version are whole", arguments: 1...3)
    func whole(version: Int) throws {
        try withForgedStore(.notes(version: version, notes: 50)) { store, receipt in
            try StoreAudit(store).run()
            #expect(receipt.rowsByEntity["Note"] == 50)
        }
        try withForgedStore(.shop(version: version, orders: 50)) { store, receipt in
            try StoreAudit(store).run()
            #expect(receipt.joinRows > 0 || version == 1)
        }
    }

    @Test("small rows take about 127 bytes each, with their index")
    func size() throws {
        try withForgedStore(.smallRows(20_000)) { store, receipt in
            #expect((122...132).contains(receipt.bytes / 20_000))
            try StoreAudit(store).run()
        }
    }

    @Test("every version of a fleet's store has twenty tables and sixty indexes", arguments: 1...5)
    func fleet(version: Int) throws {
        try withForgedStore(.fleet(version: version, seed: 3)) { store, receipt in
            #expect(store.layout.tables.count == 20)
            #expect(store.layout.indexes.count == 60)
            #expect((400_000...600_000).contains(receipt.bytes))
            try StoreAudit(store).run()
        }
    }

    @Test("large binaries have the length that was asked for")
    func binaries() throws {
        try withForgedStore(.largeBinaries(20, bytes: 30_000)) { store, _ in
            let connection = try store.connect()
            #expect(try connection.integer("SELECT sum(length(ZDATA)) FROM ZITEM") == 600_000)
        }
    }
}
