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

    /// What is made of a file's own objects may take more room than they do there, for values that
    /// SQLite computes: so many times the file's bytes, and so many more.
    private static let growth: (times: Int64, margin: Int64) = (4, 64 << 20)
    /// The same for what is written on the way, temporary files included.
    private static let writing: (times: Int64, margin: Int64) = (16, 256 << 20)

    /// Bounds what the calling thread opens until `endOpening`: SQLite reads the schema then, whose
    /// pages may lead to themselves.
    ///
    /// - Throws: `StoreError` where the files cannot be looked at.
    static func beginOpening(
        _ file: FilePath, _ mode: Mode, by budget: OpaquePointer, _ patience: Int64?
    ) throws(StoreError) {
        guard mode == .immutable || mode == .readWrite else { return }
        // A journal is rolled back, and a log is read, before the schema is.
        var held: Int64 = 0
        do throws(DurableFileError) {
            let location = StoreLocation(file)
            for path in [file] + StoreCompanion.withContent.map(location.companion) {
                let status = try FileStatus.ifPresent(path)
                held = held.addingClamped(status.map(Self.held) ?? 0)
            }
        } catch {
            throw .inputOutput(path: file.description, reason: "\(error)")
        }
        godwit_sqlite_budget_open(budget, patience ?? Self.time(held))
    }

    /// A result code of SQLite; what took more memory than the bounds leave counts as interrupted.
    static func cause(of code: Int32, _ budget: OpaquePointer) -> Int32 {
        let isSpent = code == SQLITE_NOMEM && godwit_sqlite_budget_is_spent(budget) != 0
        return isSpent ? SQLITE_INTERRUPT : code
    }

    /// What was made for a connection.
    ///
    /// - Throws: `StoreError.inputOutput` where there was no memory.
    static func present(
        _ made: OpaquePointer?, _ path: String
    ) throws(StoreError) -> OpaquePointer {
        guard let made else {
            throw .inputOutput(path: path, reason: "there is not enough memory for a connection")
        }
        return made
    }

    /// Ends what `beginOpening` began.
    static func endOpening() { godwit_sqlite_budget_open(nil, 0) }

    /// Sets the bounds that go with a mode.
    ///
    /// What this process writes is bounded only while it makes objects of a stranger (`bounded`).
    func bound(_ mode: Mode, _ file: FilePath, _ patience: Int64?) throws(StoreError) {
        let code = godwit_sqlite_bound_functions(handle, budget)
        guard code == SQLITE_OK else { throw failure(code) }
        switch mode {
        case .immutable: bound(by: try sizes(of: file), patience)
        case .memory: bound(by: (0, 0))
        case .readWrite, .create, .functions: godwit_sqlite_budget_set(budget, handle, 0)
        }
    }

    /// Lets a bounded connection take values of another file, too.
    func bound(byAttached file: FilePath) throws(StoreError) {
        let time = godwit_sqlite_budget_limit(budget)
        guard time > 0 else { return }
        let known = Int64(sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, -1)) - Self.valueMargin
        let (length, held) = try sizes(of: file)
        bound(by: (max(known, length), held), max(time, Self.time(held)))
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
        let sizes = try sizes(of: file)
        let (pages, most) = (try pageCount(), try number("max_page_count"))
        let growth =
            sizes.held.multipliedClamped(by: Self.growth.times)
            .addingClamped(Self.growth.margin) / max(512, try number("page_size"))
        _ = try pragma("max_page_count", min(most, pages.addingClamped(growth)))
        bound(by: sizes)
        let writing = sizes.held.multipliedClamped(by: Self.writing.times)
        godwit_sqlite_budget_set_room(budget, writing.addingClamped(Self.writing.margin))
        // What is written is counted for one thread.
        let threads = sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0)
        let failures = godwit_sqlite_room_failures()
        let result = Swift.Result(catching: body)
        sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, threads)
        godwit_sqlite_budget_set(budget, handle, 0)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(Self.longestValue))
        _ = try pragma("max_page_count", most)
        if case .failure(StoreError.outOfSpace) = result,
            failures == godwit_sqlite_room_failures(), !FileSystemSpace.isExhausted(at: folder)
        {
            throw StoreError.notAStore(
                path: path, reason: "objects of its own would take far more space than the store")
        }
        return try result.get()
    }

    // `length`: bytes of the file; `held`: those that it has, holes left out, and more for file
    // systems that compress.
    private func bound(by sizes: (length: Int64, held: Int64), _ time: Int64? = nil) {
        let length = min(sizes.length.addingClamped(Self.valueMargin), Self.longestValue)
        sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Int32(length))
        godwit_sqlite_budget_set(budget, handle, time ?? Self.time(sizes.held))
    }

    /// Milliseconds that so many bytes give.
    private static func time(_ held: Int64) -> Int64 {
        leastTime.addingClamped(held / bytesPerMillisecond)
    }

    /// The bytes of a file, holes left out; some file systems count what was just written late.
    private static func held(_ status: FileStatus) -> Int64 {
        min(status.size, max(16 << 20, min(status.allocatedBytes, 1 << 50) * 16))
    }

    private func sizes(of file: FilePath) throws(StoreError) -> (length: Int64, held: Int64) {
        do throws(DurableFileError) {
            let status = try FileStatus(of: file)
            return (status.size, Self.held(status))
        } catch {
            throw .inputOutput(path: path, reason: "\(error)")
        }
    }
}
