package import Jobs
package import RunLedger

/// How a run ended, or where it stands.
package struct RunEnding: Sendable {
    package let id: String
    /// Stores of the run by their state.
    package let counts: [StoreState: Int]
    /// Whether the run resumed what an earlier process had begun.
    package let isResumed: Bool
    /// Why the run stopped before its stores were done, such as at its failure limit; nil where
    /// it did not.
    package let stopReason: String?

    package init(
        id: String, counts: [StoreState: Int], isResumed: Bool, stopReason: String? = nil
    ) {
        self.id = id
        self.counts = counts
        self.isResumed = isResumed
        self.stopReason = stopReason
    }
}

/// A number of stores and their bytes.
package struct RunExtent: Hashable, Sendable {
    package let stores: Int
    package let bytes: Int64

    /// The stores of a run that were migrated, or wait for their swap.
    package init(migratedIn run: String, _ ledger: Ledger) throws(LedgerError) {
        (stores, bytes) = try ledger.extent(of: run, in: [.done, .validated])
    }
}

/// A run that was begun, or resumed, with what it had done before.
package struct BegunRun: Hashable, Sendable {
    package let id: String
    /// Whether an earlier process had begun it.
    package let isResumed: Bool
    package let migrated: RunExtent

    package init(id: String, isResumed: Bool, migrated: RunExtent) {
        self.id = id
        self.isResumed = isResumed
        self.migrated = migrated
    }
}
