import GRDB
package import Jobs

/// How far a run is: what a status shows of it.
package struct RunStats: Hashable, Sendable {
    /// Its id.
    package let run: String
    package let state: RunState
    /// Why it has this state; nil for a run that has never changed.
    package let reason: RunReason?
    /// Stores by state; states without stores are left out.
    package let stores: [StoreState: Int]
    /// Bytes of stores that have not come to their end, as they were found.
    package let bytesLeft: Int64

    /// Runs that a caller asks for.
    package enum Selection: Hashable, Sendable {
        /// The runs that began last, at most this many.
        case newest(Int)
        /// These; those that the ledger does not know are left out.
        case named([String])
    }
}

extension Ledger {
    /// How far some runs are, in the order of the selection.
    ///
    /// - Complexity: O(1) a run.
    package func figures(
        of selection: RunStats.Selection
    ) throws(LedgerError) -> [RunStats] {
        if let known = knownFigures(of: selection) { return known }
        return try read { database in
            let found = try RunStatsCache.read(selection, database)
            // On the connection's own queue: no commit comes between the reading and this.
            board?.learn(found, selection)
            return found
        }
    }

    /// The same without reading anything; nil where it has to be read.
    ///
    /// An owner knows what it was asked for once, and keeps that up with each commit: a caller that
    /// must not wait for another's commit asks this first.
    package func knownFigures(of selection: RunStats.Selection) -> [RunStats]? {
        board?.known(selection)
    }
}
