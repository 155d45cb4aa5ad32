/// How fast a fleet goes, from what this process has done: a value that knows no clock.
struct FleetPace: Hashable, Sendable {
    /// Stores that were left when the process began with them.
    let stores: Int
    /// Seconds of the run's clock at that time.
    let began: Double
    private let weight: Double
    private(set) var done = 0
    private var doneWeight = 0.0

    /// What a store costs beside its bytes, as bytes: a small one takes some milliseconds however
    /// little is in it.
    private static let storeBytes = 262_144.0

    /// - Parameters:
    ///   - stores: that are left.
    ///   - bytes: of them all.
    ///   - began: seconds of the run's clock.
    init(stores: Int, bytes: Int64, began: Double) {
        self.stores = stores
        self.began = began
        weight = FleetPace.weight(stores: stores, bytes: bytes)
    }

    /// Counts a store that came to its end, whatever end.
    mutating func add(bytes: Int64) {
        done += 1
        doneWeight += FleetPace.weight(stores: 1, bytes: bytes)
    }

    /// Stores a second; nil before there is anything to say.
    func rate(at now: Double) -> Double? {
        let seconds = now - began
        return seconds > 1 && done > 0 ? Double(done) / seconds : nil
    }

    /// What the others may still take: stores of a fleet differ in size by orders of magnitude, so
    /// they count by their bytes.
    func secondsLeft(at now: Double) -> Double? {
        let seconds = now - began
        guard seconds > 1, doneWeight > 0, done < stores else { return nil }
        return max(0, weight - doneWeight) / doneWeight * seconds
    }

    private static func weight(stores: Int, bytes: Int64) -> Double {
        Double(max(0, bytes)) + Double(max(0, stores)) * storeBytes
    }
}
