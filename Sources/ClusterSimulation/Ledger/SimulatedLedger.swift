import ClusterVocabulary

/// The ledger: what was written, and what of it a crash cannot take away any more.
///
/// Records are written in groups; a group is durable as a whole or not at all.
struct SimulatedLedger {
    /// What the coordinator's process reads: everything that it wrote.
    private(set) var written = LedgerFacts()
    /// What a new start would find.
    private(set) var durable = LedgerFacts()
    private var unsynced: [[CoordinatorRecord]] = []

    /// Groups that a crash may still lose.
    var unsyncedGroups: Int { unsynced.count }

    /// Writes a group of records, checking each.
    mutating func write(_ records: [CoordinatorRecord]) throws(Refused) {
        for record in records { try written.apply(record) }
        unsynced.append(records)
    }

    /// Makes the oldest groups durable.
    mutating func sync(groups: Int) throws(Refused) {
        for group in unsynced.prefix(groups) {
            for record in group { try durable.apply(record) }
        }
        unsynced.removeFirst(min(groups, unsynced.count))
    }

    /// Loses what is not durable.
    mutating func crash() {
        unsynced = []
        written = durable
    }

    /// Changes what the loop writes beside the machine, durable at once.
    mutating func change(_ body: (inout LedgerFacts) -> Void) {
        body(&written)
        body(&durable)
    }
}
