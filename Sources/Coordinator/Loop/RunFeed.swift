import ClusterCore
import LocalRun
import RunLedger

/// A run as the loop knows it: which of its stores the machine has, and where to read on.
struct RunFeed {
    let run: SharedRun
    /// Stores that were offered and have not ended.
    var inside: [Int: FoundStore] = [:]
    /// The number behind which the ledger is read next.
    var cursor: Int?
    /// Whether nothing lies behind the cursor.
    var isExhausted = false
    /// How often it was read from the beginning: what an earlier reading found says nothing of
    /// where to go on.
    private(set) var round = 0
    /// Whether somebody reads for it.
    var isReading = false
    /// Validated stores whose swap was asked for.
    var swaps: [Int] = []
    var meter = RateMeter()
    /// Why the run has not begun; nil where it has.
    var awaitedRoom: String?

    init(_ run: SharedRun) { self.run = run }

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
