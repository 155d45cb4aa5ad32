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

    fileprivate func count() { counted.wrappingAdd(1, ordering: .relaxed) }
}

extension Connection {
    /// Runs a body and counts the rows that this connection inserts, changes or deletes meanwhile.
    ///
    /// Rows of tables without a rowid are not counted (SQLite, sqlite3_update_hook).
    ///
    /// - Parameters:
    ///   - counter: what is counted with; nil counts nothing.
    ///   - body: what to run.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    package func counting<Result, Failure: Error>(
        _ counter: RowCounter?, _ body: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let counter else { return try body() }
        sqlite3_update_hook(
            handle,
            { context, _, _, _, _ in
                guard let context else { return }
                Unmanaged<RowCounter>.fromOpaque(context).takeUnretainedValue().count()
            }, Unmanaged.passUnretained(counter).toOpaque())
        defer {
            sqlite3_update_hook(handle, nil, nil)
            withExtendedLifetime(counter) {}
        }
        return try body()
    }
}
