import ClusterCore
import LocalRun
import RunLedger

/// A run as the loop knows it: which of its stores the machine has, and where to read on.
struct RunFeed {
    var run: SharedRun
    /// Stores that were offered and have not ended.
    var inside: [Int: FoundStore] = [:]
    /// The number behind which the ledger is read next.
    var cursor: Int?
    /// Whether nothing lies behind the cursor.
    var isExhausted = false
    /// How often it was read from the beginning: what an earlier reading found says nothing of
    /// where to go on.
    private(set) var round = 0
    /// Whether a desk reads for it.
    var isReading = false
    /// Validated stores whose swap was asked for.
    var swaps: [Int] = []
    var meter = RateMeter()
    /// Why the run has not begun; nil where it has.
    var awaitedRoom: String?

    /// Ends of the run that are yet to be told.
    var ends = 0
    /// Readings under way; and a count of what happened, by which their age is told.
    private var readings = 0
    private var moment = 0
    /// Stores that ended while something was read, with the moment.
    private var ended: [Int: Int] = [:]

    init(_ run: SharedRun) { self.run = run }

    /// Whether nothing is done for it.
    var isIdle: Bool {
        !isReading && readings == 0 && inside.isEmpty && swaps.isEmpty && ends == 0
            && awaitedRoom == nil
    }

    /// A reading of stores begins.
    ///
    /// - Returns: its moment: what it finds of a store that ends later is out of date.
    mutating func beginReading() -> Int {
        readings += 1
        moment += 1
        return moment
    }

    mutating func endReading() {
        readings = max(0, readings - 1)
        if readings == 0 { ended = [:] }
    }

    /// A store has left the machine.
    ///
    /// - Returns: its files; nil where it was not there.
    mutating func leave(_ number: Int) -> FoundStore? {
        moment += 1
        if readings > 0 { ended[number] = moment }
        return inside.removeValue(forKey: number)
    }

    /// Whether what a reading found of a store still holds, and the machine does not have it.
    func isNews(_ number: Int, of reading: Int) -> Bool {
        inside[number] == nil && ended[number].map { $0 < reading } ?? true
    }

    /// Reads from the beginning again, as stores wait that came to an end before.
    mutating func rewind() {
        cursor = nil
        isExhausted = false
        round += 1
    }
}

/// What a turn of the loop has come to and has not been let out yet.
struct Turn {
    /// To be durable before anything of `rest` is done.
    var records: [LedgerRecord] = []
    /// The effects without their records, in their order.
    var rest: [CoordinatorEffects] = []

    var isEmpty: Bool { records.isEmpty && rest.isEmpty }
}
