import CSQLite
import DurableFiles
import GRDB
import GRDBSQLite
import Glibc
import Synchronization

/// The one writer of a ledger: used by one thread at a time, which writes for all that wait.
struct GroupCommit: Sendable {
    /// Counts the pages in the WAL, as SQLite tells it after each commit.
    private final class LogLength: Sendable {
        let pages = Mutex(0)
    }

    /// Pages that the WAL may grow by before it is checkpointed: 16 MiB.
    private static let checkpointPages = 4096

    /// How long readers are waited for at the end, in milliseconds.
    private static let patience: UInt32 = 1000

    private let file: LedgerFile
    private var path: FilePath { file.path }
    private let faults: FaultPoints
    private let queue: DatabaseQueue
    private let board: RunStatsCache
    private let log = LogLength()
    /// Those of the process before the batches were written.
    private var roomFailures = 0
    private var checkpointAt = GroupCommit.checkpointPages
    private var refusal: String?

    init(
        _ file: LedgerFile, queue: DatabaseQueue, board: RunStatsCache, faults: FaultPoints
    ) {
        self.file = file
        self.queue = queue
        self.board = board
        self.faults = faults
        // The hook takes the place of SQLite's own checkpoints, whose failures no caller would see.
        let context = Unmanaged.passUnretained(log).toOpaque()
        queue.inDatabase { database in
            _ = sqlite3_wal_hook(
                database.sqliteConnection,
                { context, _, _, pages in
                    guard let context else { return SQLITE_OK }
                    let log = Unmanaged<LogLength>.fromOpaque(context).takeUnretainedValue()
                    log.pages.withLock { $0 = Int(pages) }
                    return SQLITE_OK
                }, context)
        }
    }

    /// Writes batches with one commit and settles each of them.
    ///
    /// A batch that breaks a rule fails alone. Where the commit itself fails, all fail.
    mutating func commit(_ batches: [PendingBatch]) {
        if let refusal {
            let error = LedgerError(ledger: path, kind: .refusing(reason: refusal))
            for batch in batches { batch.settle(.failure(error)) }
            return
        }
        roomFailures = godwit_sqlite_room_failures()
        switch write(batches) {
        case .success(let outcomes):
            for (batch, outcome) in zip(batches, outcomes) { batch.settle(outcome) }
            checkpointIfDue()
        case .failure(let failure):
            if failure.isFinal { refusal = failure.error.reason }
            for batch in batches { batch.settle(.failure(failure.error)) }
        }
    }

    /// Brings everything into the main file and closes the connection.
    ///
    /// After a failed write, and where a reader stays in the way, nothing is brought over: the
    /// next opener reads what is durable.
    mutating func close() throws(LedgerError) {
        var first: LedgerError?
        do throws(LedgerError) {
            let lock = try refusal == nil ? lockForCheckpoint(GroupCommit.patience) : nil
            if lock != nil {
                do throws(LedgerError) { try checkpoint() } catch { first = error }
                // Closing removes the log, under the same lock.
                if first == nil { keepLog(false) }
            }
            try faults.perform(.closeLedger, ledger: path) { () throws(LedgerError) in
                try LedgerError.translating(path, "close") { try queue.close() }
            }
            _ = consume lock
        } catch {
            first = first ?? error
        }
        refusal = refusal ?? "it was closed"
        if let first { throw first }
    }

    private typealias Outcomes = [Result<Void, LedgerError>]

    /// A commit that did not come about.
    private struct Failure: Error {
        let error: LedgerError
        /// Whether what the file holds is unknown, so that nothing may follow.
        let isFinal: Bool
    }

    private func write(_ batches: [PendingBatch]) -> Result<Outcomes, Failure> {
        queue.inDatabase { database in
            do {
                try database.beginTransaction(.immediate)
                var outcomes: Outcomes = []
                for batch in batches { outcomes.append(try apply(batch, database)) }
                if outcomes.contains(where: \.isSuccess) {
                    let keepFigures = try board.changes(by: batches, database)
                    try commit(database)
                    keepFigures?()
                } else {
                    try database.rollback()
                }
                return .success(outcomes)
            } catch {
                return .failure(undo(database, after: failure(error, database)))
            }
        }
    }

    /// Applies one batch, all or nothing; what only the batch is to blame for is its outcome.
    private func apply(
        _ batch: PendingBatch, _ database: Database
    ) throws -> Result<Void, LedgerError> {
        do {
            try database.inSavepoint {
                var writer = RecordWriter(database: database, ledger: path)
                for record in batch.records { try writer.apply(record) }
                return .commit
            }
            return .success(())
        } catch let error as LedgerError {
            return .failure(error)
        }
    }

    private func commit(_ database: Database) throws {
        var isDone = false
        do throws(LedgerError) {
            try faults.perform(.commitLedger, ledger: path) { () throws(LedgerError) in
                do {
                    try database.commit()
                    isDone = true
                } catch let error as DatabaseError {
                    throw self.failure(error, database).error
                } catch {
                    throw LedgerError(ledger: path, kind: .inputOutput(reason: "\(error)"))
                }
            }
        } catch {
            // A commit that failed after it was done, and one that the disk refused, leave open
            // what is durable. Where there was no room, nothing was.
            throw Failure(error: error, isFinal: isDone || !isRepeatable(error, database))
        }
    }

    /// Whether a commit that failed so can be tried again when there is room.
    ///
    /// A failed sync is final even where the disk was full: pages may be gone from the cache.
    private func isRepeatable(_ error: LedgerError, _ database: Database) -> Bool {
        guard error.isOutOfSpace else { return false }
        let code = sqlite3_extended_errcode(database.sqliteConnection)
        return !GroupCommit.syncFailures.contains(code)
    }

    /// SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC, macros that Swift does not see.
    private static let syncFailures: Set<Int32> = [SQLITE_IOERR | 4 << 8, SQLITE_IOERR | 5 << 8]

    private func failure(_ error: any Error, _ database: Database) -> Failure {
        // SQLite keeps the system's number, but not where COMMIT fails: there it is the last one.
        let last = errno
        if let failure = error as? Failure { return failure }
        guard let error = error as? DatabaseError else {
            let kind = LedgerError.Kind.inputOutput(reason: "\(error)")
            return Failure(error: LedgerError(ledger: path, kind: kind), isFinal: true)
        }
        let codes: [ResultCode] = [.SQLITE_IOERR, .SQLITE_FULL, .SQLITE_CANTOPEN]
        let isSystem = codes.contains(error.resultCode)
        var system = isSystem ? sqlite3_system_errno(database.sqliteConnection) : 0
        if isSystem, last == ENOSPC || last == EDQUOT { system = last }
        if isSystem, godwit_sqlite_room_failures() > roomFailures { system = ENOSPC }
        let told = LedgerError(
            ledger: path, step: "write", database: error, systemError: system)
        let isSync = GroupCommit.syncFailures.contains(error.extendedResultCode.rawValue)
        let isBusy = error.resultCode == .SQLITE_BUSY
        return Failure(error: told, isFinal: isSync || !(told.isOutOfSpace || isBusy))
    }

    /// Takes back what is not committed; a failure of that is final, too.
    private func undo(_ database: Database, after failure: Failure) -> Failure {
        guard database.isInsideTransaction else { return failure }
        do {
            try database.rollback()
            return failure
        } catch {
            return Failure(error: failure.error, isFinal: true)
        }
    }

    /// Moves the WAL into the main file when it has grown.
    ///
    /// What was appended is durable already, so a failure is no failure of the append; but a sync
    /// that failed is never tried again on this descriptor.
    private mutating func checkpointIfDue() {
        let pages = log.pages.withLock { $0 }
        if pages < checkpointAt - GroupCommit.checkpointPages {
            checkpointAt = GroupCommit.checkpointPages
        }
        guard pages >= checkpointAt else { return }
        checkpointAt = pages + GroupCommit.checkpointPages
        let lock: ReadingLock
        do throws(LedgerError) {
            // Where a reader is in the way, the next checkpoint moves all.
            guard let taken = try lockForCheckpoint(0) else { return }
            lock = taken
        } catch {
            // Nothing was begun, and what was appended is durable: the next one tries again.
            return
        }
        do throws(LedgerError) {
            try checkpoint()
        } catch {
            if !error.isOutOfSpace { refusal = error.reason }
        }
        _ = consume lock
    }

    /// Nil where a reader is in the way.
    private func lockForCheckpoint(
        _ milliseconds: UInt32
    ) throws(LedgerError) -> ReadingLock? {
        do throws(LedgerError) {
            return try file.readingLock(waiting: milliseconds, faults)
        } catch {
            if case .locked = error.kind { return nil }
            throw error
        }
    }

    /// Moves the log into the main file and empties it.
    ///
    /// A log that was restarted without being emptied would look to readers like the old one.
    private func checkpoint() throws(LedgerError) {
        try faults.perform(.checkpointLedger, ledger: path) { () throws(LedgerError) in
            try LedgerError.translating(path, "checkpoint", on: queue) {
                _ = try queue.inDatabase { try $0.checkpoint(.truncate) }
            }
        }
    }

    private func keepLog(_ keeps: Bool) {
        queue.inDatabase { database in
            guard let handle = database.sqliteConnection else { return }
            // Where it is refused, the log stays, which does no harm.
            _ = godwit_sqlite_keep_log(handle, keeps ? 1 : 0)
        }
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}

extension LedgerError {
    /// The reason alone, for an error that quotes this one.
    fileprivate var reason: String {
        switch kind {
        case .noSpace(let reason), .inputOutput(let reason), .damaged(let reason): reason
        default: description
        }
    }
}
