import CSQLite
package import DurableFiles
import GRDBSQLite

// What a stranger's file has SQLite do is bounded by the file: an expression in its schema may make
// values of any length, and it, or pages that lead to themselves, may have no end.

extension Connection {
    /// Milliseconds that statements over any file may run, together.
    ///
    /// Less than a worker's lease without progress, so that the job itself fails.
    private static let leastTime: Int64 = 20_000
    /// Bytes of a file that a millisecond more is given for: 64 KiB a second.
    private static let bytesPerMillisecond: Int64 = 64
    /// Bytes that a value may have beyond those of the file that it comes from.
    private static let valueMargin: Int64 = 1 << 20
    /// What SQLite takes for the longest value itself.
    private static let longestValue: Int64 = 1_000_000_000

    /// Sets the bounds that go with a mode.
    ///
    /// What this process writes is bounded only while it makes objects of a stranger (`bounded`).
    func bound(_ mode: Mode, _ file: FilePath) throws(StoreError) {
        let code = godwit_sqlite_bound_functions(handle)
        guard code == SQLITE_OK else { throw failure(code) }
        switch mode {
        case .immutable: bound(by: try sizes(of: file))
        case .memory: bound(by: (0, 0))
        case .readWrite, .create: break
        }
    }

    /// Lets a bounded connection take values of another file, too.
    func bound(byAttached file: FilePath) throws(StoreError) {
        guard godwit_sqlite_budget_limit(budget) > 0 else { return }
        let known = Int64(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)) - Self.valueMargin
        let (length, held) = try sizes(of: file)
        bound(by: (max(known, length), held))
    }

    /// Runs a body that has this connection evaluate expressions of a stranger's schema over values
    /// of a file.
    ///
    /// - Parameters:
    ///   - file: where the values come from.
    ///   - body: what is to be bounded.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws; `StoreError.notAStore` where it takes too long.
    package func bounded<Result>(
        by file: FilePath, _ body: () throws -> Result
    ) throws -> Result {
        bound(by: try sizes(of: file))
        defer {
            godwit_sqlite_budget_set(budget, handle, 0)
            sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(Self.longestValue))
        }
        return try body()
    }

    // `length`: bytes of the file; `held`: those that it has, holes left out, and more for file
    // systems that compress.
    private func bound(by sizes: (length: Int64, held: Int64)) {
        let length = min(sizes.length.addingClamped(Self.valueMargin), Self.longestValue)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(length))
        let time = Self.leastTime.addingClamped(sizes.held / Self.bytesPerMillisecond)
        godwit_sqlite_budget_set(budget, handle, time)
    }

    private func sizes(of file: FilePath) throws(StoreError) -> (length: Int64, held: Int64) {
        do throws(DurableFileError) {
            let status = try FileStatus(of: file)
            return (status.size, min(status.size, min(status.allocatedBytes, 1 << 50) * 16))
        } catch {
            throw .inputOutput(path: path, reason: "\(error)")
        }
    }
}
