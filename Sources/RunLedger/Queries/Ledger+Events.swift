import GRDB

// Room, swaps and what happened.

extension Ledger {
    /// Everything that is reserved, over all runs.
    package func reservations() throws(LedgerError) -> [Reservation] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT run.id, reservation.* FROM reservation
                    JOIN run ON run.number = reservation.run
                    ORDER BY reservation.run, reservation.store, reservation.device
                    """
            ).map { row in
                Reservation(
                    run: try row.decode(forColumn: "id"),
                    store: try row.decode(forColumn: "store"),
                    device: UInt64(
                        bitPattern: try row.decode(Int64.self, forColumn: "device")),
                    bytes: try row.decode(forColumn: "bytes"),
                    inodes: try row.decode(forColumn: "inodes"))
            }
        }
    }

    /// Steps of swaps and rollbacks of a store in the order in which they were written.
    ///
    /// A step that is there once, not done, may have been taken or not: look at the files.
    package func swapSteps(run: String, store: Int) throws(LedgerError) -> [SwapEntry] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [] }
            return try Row.fetchAll(
                database,
                sql: "SELECT * FROM swap_step WHERE run = ? AND store = ? ORDER BY number",
                arguments: [run, store]
            ).map { row in
                SwapEntry(
                    try row.word("kind"), try row.word("name"),
                    detail: try row.decode(forColumn: "detail"))
            }
        }
    }

    /// The numbers of a run's stores whose rollback was begun at some time, in order.
    ///
    /// - Parameter run: its id.
    /// - Returns: the numbers; none for a run that is not there.
    /// - Throws: `LedgerError`.
    package func storesWithRollback(of run: String) throws(LedgerError) -> [Int] {
        try read { database in
            guard let run = try Ledger.number(database, run) else { return [] }
            return try Int.fetchAll(
                database,
                sql: """
                    SELECT DISTINCT store FROM swap_step WHERE run = ? AND kind = ? ORDER BY store
                    """,
                arguments: [run, SwapEntry.Kind.rollback.rawValue])
        }
    }

    /// The newest events of a run, or of one of its stores, in the order in which they happened.
    package func events(
        run: String, store: Int? = nil, limit: Int = 1000
    ) throws(LedgerError) -> [LedgerEvent] {
        try read { database in
            guard limit > 0, let number = try Ledger.number(database, run) else { return [] }
            let condition = store == nil ? "run = ?" : "run = ? AND store = ?"
            var arguments: StatementArguments = [number]
            if let store { arguments += [store] }
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT * FROM event WHERE \(condition) ORDER BY number DESC LIMIT ?",
                arguments: arguments + [limit])
            return try rows.reversed().map { row in
                LedgerEvent(
                    number: try row.decode(forColumn: "number"), run: run,
                    store: try row.decode(Int?.self, forColumn: "store"),
                    kind: try row.decode(forColumn: "kind"),
                    text: try row.decode(forColumn: "text"),
                    at: try row.decode(forColumn: "at"))
            }
        }
    }
}
