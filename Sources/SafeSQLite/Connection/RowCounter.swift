import GRDBSQLite
import Synchronization

/// Counts the rows that a connection inserts while its statements run, for a thread beside it.
///
/// `changes` tells of a statement only when it has ended. The counter costs one call a row.
package final class RowCounter: Sendable {
    private let counted = Atomic<Int64>(0)

    package init() {}

    /// Rows so far; never goes back.
    package var rows: Int64 { counted.load(ordering: .relaxed) }

    private func count() { counted.wrappingAdd(1, ordering: .relaxed) }

    /// Runs a body and counts the rows that a connection inserts, changes or deletes meanwhile.
    ///
    /// Rows of tables without a rowid are not counted (SQLite, sqlite3_update_hook).
    ///
    /// - Parameters:
    ///   - connection: on which the body works.
    ///   - body: what to run.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    package func counting<Result, Failure: Error>(
        on connection: Connection, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        sqlite3_update_hook(
            connection.handle,
            { context, _, _, _, _ in
                guard let context else { return }
                Unmanaged<RowCounter>.fromOpaque(context).takeUnretainedValue().count()
            }, Unmanaged.passUnretained(self).toOpaque())
        defer { sqlite3_update_hook(connection.handle, nil, nil) }
        return try body()
    }
}
