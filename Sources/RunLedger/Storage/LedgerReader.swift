import DurableFiles
import GRDB

/// Reads a ledger beside its owner, whose log has no index that others could look into.
///
/// SQLite recovers an index of its own from the log, on the heap, as it does after a crash. What
/// keeps that right is not SQLite's locks, which the owner holds for life, but two things: while
/// the reader holds `ReadingLock`, the owner moves nothing from the log into the main file, and a
/// log that was restarted during a query has another header, and the query is made again (decision
/// 0013). Used by one thread at a time.
struct LedgerReader: Sendable {
    /// What the files looked like when the connection was opened: while it is equal, nothing was
    /// committed since.
    private struct Moment: Equatable, Sendable {
        let main: FileIdentity
        let log: FileIdentity?
    }

    private struct Opened: Sendable {
        let queue: DatabaseQueue
        let moment: Moment
        /// The log's header, empty where there is no log.
        let header: [UInt8]
    }

    private let file: LedgerFile
    private let files = DurableFileSystem()
    private var opened: Opened?

    /// How often a query is made that finds the log restarted under it.
    private static let tries = 20
    /// How long the owner is waited for while it moves the log, in milliseconds.
    private static let patience: UInt32 = 5000
    /// The log's header with its salts (SQLite file format §4.1).
    private static let headerBytes = 32
    /// A shorter file is a ledger whose making was begun: SQLite would tidy up beside it.
    private static let leastBytes: Int64 = 512

    /// Opens a ledger of this program's version.
    ///
    /// - Throws: `LedgerError`.
    init(_ file: LedgerFile) throws(LedgerError) {
        self.file = file
        try read { _ in }
    }

    /// Runs a query on what is committed when it begins.
    mutating func read<Result>(_ query: (Database) throws -> Result) throws(LedgerError) -> Result {
        try LedgerError.translating(file.path, "read") {
            for _ in 0..<LedgerReader.tries {
                let lock = try lock()
                let current = try current()
                let result = Swift.Result { try current.queue.read(query) }
                // A main file without a log stays as it is while the lock is held.
                let isSame = try current.header.isEmpty || header() == current.header
                _ = consume lock
                if isSame { return try result.get() }
                try close()
            }
            throw fault(.inputOutput(reason: "it is written faster than it can be read"))
        }
    }

    /// Closes the connection; another query would open another.
    mutating func close() throws(LedgerError) {
        let closing = opened.take()
        try LedgerError.translating(file.path, "close") { try closing?.queue.close() }
    }

    /// The connection of the last query, or a new one where something was written since.
    private mutating func current() throws -> Opened {
        let moment = try moment()
        if let opened, opened.moment == moment { return opened }
        try close()
        let header = try header()
        let queue = try file.openForReading(hasLog: !header.isEmpty)
        let opened = Opened(queue: queue, moment: moment, header: header)
        self.opened = opened
        return opened
    }

    /// A ledger that was copied from elsewhere may have no lock file, and then no owner.
    private func lock() throws -> ReadingLock? {
        do throws(DurableFileError) {
            return try LedgerFile.waiting(LedgerReader.patience) { () throws(DurableFileError) in
                try ReadingLock(file.lock, isRewriting: false)
            }
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    private func moment() throws -> Moment {
        guard let main = try FileStatus.ifPresent(file.path),
            main.size >= LedgerReader.leastBytes || !main.isRegularFile
        else { throw fault(.missing) }
        return Moment(
            main: main.identity, log: try FileStatus.ifPresent(file.log)?.identity)
    }

    private func header() throws -> [UInt8] {
        do throws(DurableFileError) {
            // Not the main file: closing it would drop the locks of an owner in this process.
            return try files.openForReading(file.log).read(
                count: LedgerReader.headerBytes, at: 0)
        } catch {
            if error.isMissing { return [] }
            throw error
        }
    }

    private func fault(_ kind: LedgerError.Kind) -> LedgerError {
        LedgerError(ledger: file.path, kind: kind)
    }
}
