/// The one source of chance in a simulation (SplitMix64): the same seed, the same decisions.
package struct SimulationGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        return SimulationGenerator.mix(state)
    }

    /// Spreads every bit of a word over all of them.
    package static func mix(_ word: UInt64) -> UInt64 {
        var mixed = word
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number of the range; each as likely as the others but for 2⁻⁵⁰.
    mutating func number(_ range: ClosedRange<Int>) -> Int {
        let width = UInt64(range.upperBound - range.lowerBound) + 1
        return range.lowerBound + Int(next().multipliedFullWidth(by: width).high)
    }

    /// A span of virtual time between two bounds, in milliseconds.
    mutating func span(_ range: ClosedRange<Int>) -> Int64 { Int64(number(range)) }

    /// Whether something of so many chances in a thousand happens.
    mutating func happens(perMille chance: Int) -> Bool { number(0...999) < chance }

    /// A generator for one part of the world, so that parts do not disturb each other's chances.
    mutating func fork() -> SimulationGenerator { SimulationGenerator(seed: next()) }
}
