package import DurableFiles
import GRDB
import Synchronization

/// The durable truth of all runs of one state folder.
///
/// `ledger.sqlite` in the folder, and `godwit.lock`, which its one owner holds for life. Usable
/// from many threads at once: what several threads append at a time becomes durable with one
/// commit. What a query returns was durable when it was asked for.
package final class Ledger: Sendable {
    /// The ledger's file.
    package let path: FilePath
    private let faults: FaultPoints
    private let lock: OwnerLock?
    private let reading: Mutex<Reading?>
    private let waiting = Mutex<[PendingBatch]>([])
    private let writer: Mutex<GroupCommit?>
    /// Nil beside an owner: another process changes what it would keep.
    let board: RunStatsCache?

    /// Through what queries go.
    private enum Reading: Sendable {
        /// The owner's connection, which commits go through, too.
        case owner(DatabaseQueue)
        /// One beside an owner.
        case beside(LedgerReader)
    }

    /// The ledger's name in its folder.
    package static let fileName = "ledger.sqlite"
    /// The lock's name in the folder.
    package static let lockName = "godwit.lock"

    /// Tells the name of the network file system that a folder lies on; nil for a local one.
    package typealias NetworkCheck =
        @Sendable (FilePath) throws(DurableFileError) -> String?

    /// What statfs(2) says.
    package static let networkCheck: NetworkCheck = { folder throws(DurableFileError) in
        try FileSystemSpace(at: folder).networkFileSystemName
    }

    /// Opens the ledger of a folder for writing, making both where they are missing.
    ///
    /// A ledger of an earlier schema is brought up to date; one of a later schema, a damaged one
    /// and a file that is no ledger stay as they are.
    ///
    /// - Parameters:
    ///   - folder: the state folder, on a local file system.
    ///   - holder: what a second opener is told.
    ///   - faults: where tests let durable actions fail.
    ///   - schema: what the ledger is brought up to.
    ///   - networkCheck: how a network file system is noticed.
    /// - Throws: `LedgerError`: `locked`, `networkFileSystem`, `laterVersion`, `damaged`,
    ///   `noSpace` or `inputOutput`.
    package init(
        folder: FilePath, holder: LockHolder, faults: FaultPoints = .none,
        schema: LedgerSchema = .current, networkCheck: NetworkCheck = Ledger.networkCheck
    ) throws(LedgerError) {
        let asked = folder.appending(Ledger.fileName)
        let files = DurableFileSystem(faults: faults)
        let (place, lock) = try LedgerError.translating(asked, "open") {
            try files.makeFolders(folder)
            let place = try files.resolve(folder)
            if let name = try networkCheck(place) {
                throw LedgerError(ledger: asked, kind: .networkFileSystem(name: name))
            }
            return (
                place,
                try OwnerLock(
                    place.appending(Ledger.lockName), holder: holder, faults: faults)
            )
        }
        let path = place.appending(Ledger.fileName)
        let file = LedgerFile(path: path, lock: place.appending(Ledger.lockName), schema: schema)
        try LedgerError.translating(path, "make") {
            // SQLite would make it readable for others; its helpers take over the main file's mode.
            if try FileStatus.ifPresent(path) == nil { try files.create(path).close() }
        }
        let queue = try faults.perform(.openLedger, ledger: path) { () throws(LedgerError) in
            try file.openForWriting(faults)
        }
        try LedgerError.translating(path, "make") { try files.syncFolder(place) }
        self.path = path
        self.faults = faults
        self.lock = lock
        reading = Mutex(.owner(queue))
        let board = RunStatsCache()
        self.board = board
        writer = Mutex(GroupCommit(file, queue: queue, board: board, faults: faults))
    }

    /// Opens the ledger of a folder for reading, without the lock: its owner may go on writing.
    ///
    /// Each query sees what was committed when it began; the last commit may not be durable yet.
    /// Where the ledger is written to in this process, too, other programs can no longer be kept
    /// from opening it.
    ///
    /// - Throws: `LedgerError`: `missing`, `laterVersion`, `earlierVersion`, `damaged` or
    ///   `inputOutput`.
    package init(
        reading folder: FilePath, schema: LedgerSchema = .current
    ) throws(LedgerError) {
        let path = folder.appending(Ledger.fileName)
        let reader = try LedgerReader(
            LedgerFile(
                path: path, lock: folder.appending(Ledger.lockName), schema: schema))
        self.path = path
        faults = .none
        lock = nil
        reading = Mutex(.beside(reader))
        writer = Mutex(nil)
        board = nil
    }

    deinit {
        // Who did not close does not hear how it went; what was appended is durable.
        do throws(LedgerError) { try close() } catch { return }
    }

    /// Stores records, all or none, and returns once they are durable.
    ///
    /// Threads that append while another's commit is under way wait for it, and the first of them
    /// then commits for all.
    ///
    /// - Throws: `LedgerError`: a kind that `LedgerRecord` names, and nothing of the call is
    ///   stored; `noSpace`, the same, and the call can be repeated; `inputOutput` or `damaged`
    ///   where the write failed: whether it is stored is then known when the ledger is opened
    ///   again, and until then every call throws `refusing`.
    package func append(_ records: [LedgerRecord]) throws(LedgerError) {
        let prepared = try LedgerError.translating(path, "write") {
            try records.map { try PreparedRecord($0) }
        }
        let batch = PendingBatch(prepared)
        waiting.withLock { $0.append(batch) }
        writer.withLock { writer in
            // Another thread's commit may have taken this batch along.
            if batch.outcome != nil { return }
            let batches = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            if writer == nil {
                let error = LedgerError(ledger: path, kind: .notWritable)
                for batch in batches { batch.settle(.failure(error)) }
            } else {
                writer?.commit(batches)
            }
        }
        switch batch.outcome {
        case .success: return
        case .failure(let error): throw error
        case nil: throw LedgerError(ledger: path, kind: .notWritable)
        }
    }

    /// How many calls of `append` wait for their turn.
    package var waitingCalls: Int { waiting.withLock { $0.count } }

    /// Brings the ledger to rest and gives the lock back; a second call does nothing.
    ///
    /// - Throws: `LedgerError` where something could not be done; the lock is gone all the same,
    ///   and what was appended is durable.
    package func close() throws(LedgerError) {
        var first: LedgerError?
        func attempt(_ body: () throws -> Void) {
            do throws(LedgerError) {
                try LedgerError.translating(path, "close", body)
            } catch {
                first = first ?? error
            }
        }
        if case .beside(var reader) = reading.withLock({ $0.take() }) {
            attempt { try reader.close() }
        }
        var writing = writer.withLock { $0.take() }
        attempt { try writing?.close() }
        attempt { try lock?.release() }
        if let first { throw first }
    }

    /// Runs a query.
    func read<Result>(_ query: (Database) throws -> Result) throws(LedgerError) -> Result {
        var result: Swift.Result<Result, LedgerError>?
        var owned: DatabaseQueue?
        reading.withLock { reading in
            switch reading {
            case nil: break
            case .owner(let queue): owned = queue
            case .beside(var reader):
                do throws(LedgerError) {
                    result = .success(try reader.read(query))
                } catch {
                    result = .failure(error)
                }
                reading = .beside(reader)
            }
        }
        if let result { return try result.get() }
        guard let owned else { throw LedgerError(ledger: path, kind: .notWritable) }
        return try LedgerError.translating(path, "read") {
            try owned.inDatabase { try Self.read(query, in: $0) }
        }
    }

    /// Runs a query in a transaction of its own.
    ///
    /// `DatabaseQueue.read` sets `query_only` before and after, upon which SQLite compiles every
    /// statement of the connection again.
    private static func read<Result>(
        _ query: (Database) throws -> Result, in database: Database
    ) throws -> Result {
        var result: Swift.Result<Result, any Error>?
        try database.inTransaction(.deferred) {
            result = Swift.Result { try query(database) }
            return .commit
        }
        guard let result else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        return try result.get()
    }
}
