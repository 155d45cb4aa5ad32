/// A row of a simulated store: a key, a value, and perhaps a link to another row's key.
struct SimulatedRow: Hashable, Sendable {
    let key: Int
    let value: UInt64
    /// The key of the row that it refers to.
    let target: Int?
}

/// The mapping that the simulated engine applies; what the copy makes of a row.
enum SimulatedMapping {
    /// The destination's key: keys are renumbered, so that links must be looked up.
    static func key(_ key: Int) -> Int { key &* 3 &+ 7 }
    static func value(_ value: UInt64) -> UInt64 { SimulationGenerator.mix(value ^ 0x6077_6974) }
}

/// A row of a destination.
struct SimulatedResultRow: Hashable, Sendable {
    let key: Int
    let value: UInt64
    /// The destination's key of the row that it refers to; nil until links were applied.
    var target: Int?
}
