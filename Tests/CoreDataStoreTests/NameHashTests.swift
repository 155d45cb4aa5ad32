import Testing

@testable import CoreDataStore

/// Golden facts of the hash order that names join tables.
@Suite struct NameHashTests {
    @Test(
        arguments: [
            ("message", 0x67e1_7eec, 0x80a6_3a91, 0x67e1_7eec),
            ("libraryScopeAssetContributors", 0xa1f1_c21a, 0x3a97_4349, 0x05f9_2932),
            (String(repeating: "x", count: 100), 0xa8b2_03a4, 0xb8d2_d877, 0xc2c7_85e4),
        ] as [(String, UInt32, UInt32, UInt32)])
    func hashes(name: String, first: UInt32, mixed: UInt32, second: UInt32) {
        #expect(NameHash.first(name) == first)
        #expect(NameHash.mixed(NameHash.first(name)) == mixed)
        #expect(NameHash.second(name) == second)
    }

    private static let short = [
        "_ent", "_pk", "_opt", "data", "_ZASSET", "asset", "_ZMESSAGE", "message",
    ]

    @Test func orderOfEightNames() {
        var table = NameTable()
        for name in Self.short { table.enter(name) }
        #expect(
            table.names == [
                "_ent", "data", "message", "_pk", "_opt", "_ZASSET", "asset", "_ZMESSAGE",
            ])
        #expect(
            table.visitOrder == [
                "_opt", "_ZASSET", "asset", "_ZMESSAGE", "_ent", "data", "message", "_pk",
            ])
    }

    @Test func oneMoreNameFlipsTheOrder() {
        var table = NameTable()
        for name in Self.short + ["nonce"] { table.enter(name) }
        #expect(
            table.visitOrder == [
                "_ent", "_pk", "_ZASSET", "_opt", "nonce", "_ZMESSAGE", "message", "asset", "data",
            ])
    }
}
