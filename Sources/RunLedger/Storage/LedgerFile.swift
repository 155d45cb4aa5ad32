import CSQLite
import DurableFiles
import Foundation
import GRDB
import GRDBSQLite

/// Opens the ledger's file and makes sure that it is one that this program knows.
///
/// The owner keeps the index of the log on the heap and SQLite's lock on the file for life:
/// nothing is mapped, for a mapping that a full disk or a quota has no room for ends the process
/// (decision 0013). Readers do the same without locks (`LedgerReader`).
struct LedgerFile: Sendable {
    let path: FilePath
    /// The file whose lock keeps readers and the owner's checkpoints apart.
    let lock: FilePath
    let schema: LedgerSchema

    /// The write-ahead log.
    var log: FilePath { path.adding(suffix: "-wal") }

    /// Ledgers of at most this size are checked whole when they are opened; pages of larger ones
    /// are checked as they are read.
    private static let checkedBytes = 64 << 20
    /// How long readers are waited for when the ledger is opened, in milliseconds.
    private static let patience: UInt32 = 5000
    /// Milliseconds between two tries.
    private static let interval: UInt32 = 5

    // Once a process: stores are opened with the same settings.
    private static let isConfigured: Bool =
        godwit_sqlite_configure(SystemMemory.sqliteLimit) == SQLITE_OK

    /// Opens the ledger for its owner, making or migrating it where that is needed.
    ///
    /// - Throws: `LedgerError`.
    func openForWriting(_ faults: FaultPoints) throws(LedgerError) -> DatabaseQueue {
        let reading = try readingLock(waiting: LedgerFile.patience, faults)
        let queue = try connect("?mode=rwc", isReadOnly: false)
        try translating("open") {
            try queue.inDatabase { database in
                // A file that is refused stays as it is.
                let isNew = try isNew(database)
                let version = try version(database)
                guard version <= schema.newest else {
                    throw fault(.laterVersion(found: version, known: schema.newest))
                }
                try check(database)
                try configure(database, isNew: isNew)
            }
            try migrator.migrate(queue)
            try queue.write { try settleHome($0) }
            try settle(queue)
        }
        _ = consume reading
        return queue
    }

    /// Takes the lock that keeps readers out while the log is moved into the main file.
    ///
    /// - Throws: `LedgerError`; `locked` where a reader is in the way.
    func readingLock(
        waiting milliseconds: UInt32, _ faults: FaultPoints
    ) throws(LedgerError) -> ReadingLock {
        do throws(DurableFileError) {
            return try LedgerFile.waiting(milliseconds) { () throws(DurableFileError) in
                try ReadingLock(lock, isRewriting: true, faults: faults)
            }
        } catch {
            throw LedgerError(ledger: path, file: error)
        }
    }

    /// Tries to take a lock as often as SQLite tries to take its own: every few milliseconds,
    /// until others have kept it for so long.
    ///
    /// - Throws: what the last try threw.
    static func waiting(
        _ milliseconds: UInt32,
        _ lock: () throws(DurableFileError) -> ReadingLock
    ) throws(DurableFileError) -> ReadingLock {
        var left = milliseconds / interval
        while true {
            do throws(DurableFileError) {
                return try lock()
            } catch {
                guard case .lockHeld = error, left > 0 else { throw error }
            }
            left -= 1
            sqlite3_sleep(Int32(interval))
        }
    }

    private func configure(_ database: Database, isNew: Bool) throws {
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw fault(.inputOutput(reason: "its file system does not support a write-ahead log"))
        }
        try database.execute(
            sql: "PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 0")
        guard isNew else { return }
        let identifier = LedgerSchema.applicationIdentifier
        try database.execute(sql: "PRAGMA application_id = \(identifier)")
    }

    /// Refuses a copy of a ledger that is still where it was, and remembers where this one is.
    ///
    /// Runs name their stores by path: through a copy, a rehearsal would roll back and prune the
    /// stores of the first one. Both have the identifier that the first one drew.
    private func settleHome(_ database: Database) throws {
        // Tests also open ledgers of earlier versions.
        guard schema.newest >= LedgerSchema.homeVersion else { return }
        guard let home = try Row.fetchOne(database, sql: "SELECT path, identifier FROM home") else {
            try database.execute(
                sql: "INSERT INTO home VALUES (?, randomblob(16))", arguments: [Data(path.bytes)])
            return
        }
        let place: Data = try home.decode(forColumn: "path")
        let identifier: Data = try home.decode(forColumn: "identifier")
        let old = FilePath(bytes: Array(place))
        if old == path { return }
        if try !isSame(old),
            LedgerFile(path: old, lock: lock, schema: schema).identifier == identifier
        {
            throw fault(.copied(from: old.parent))
        }
        try database.execute(sql: "UPDATE home SET path = ?", arguments: [Data(path.bytes)])
    }

    /// Whether another path leads to this ledger.
    private func isSame(_ other: FilePath) throws -> Bool {
        let own = try FileStatus(of: path).identity
        do throws(DurableFileError) {
            return try FileStatus(of: other).identity.isFile(own)
        } catch {
            return false
        }
    }

    /// What tells the ledger from others; nil where it cannot be read, which is as if it were not
    /// there.
    private var identifier: Data? {
        do {
            guard try FileStatus.ifPresent(path)?.isRegularFile == true else { return nil }
            let queue = try connect("?mode=ro&immutable=1", isReadOnly: true)
            defer { withExtendedLifetime(queue) {} }
            return try queue.read {
                try Data.fetchOne($0, sql: "SELECT identifier FROM home")
            }
        } catch {
            return nil
        }
    }

    /// Begins with an empty log: every commit makes it longer, so readers see that there is news.
    ///
    /// Without room for that the log stays as it is.
    private func settle(_ queue: DatabaseQueue) throws {
        do throws(LedgerError) {
            try LedgerError.translating(path, "checkpoint", on: queue) {
                _ = try queue.inDatabase { try $0.checkpoint(.truncate) }
            }
        } catch {
            guard error.isOutOfSpace else { throw error }
        }
        // Of a version that let SQLite share the index.
        let shared = path.adding(suffix: "-shm")
        if try FileStatus.ifPresent(shared) != nil { try DurableFileSystem().remove(shared) }
    }

    /// Opens a ledger of this program's version for reading, without SQLite's locks and without
    /// a trace; the caller holds the reading lock.
    ///
    /// - Parameter hasLog: whether there is a log with content; SQLite would make a missing one.
    /// - Returns: the connection.
    /// - Throws: `LedgerError`.
    func openForReading(hasLog: Bool) throws(LedgerError) -> DatabaseQueue {
        let queue = try connect(
            hasLog ? "?mode=ro&vfs=unix-none" : "?mode=ro&immutable=1", isReadOnly: true)
        return try translating("read") {
            try queue.inDatabase { database in
                if try isNew(database) { throw fault(.missing) }
                let version = try version(database)
                if version > schema.newest {
                    throw fault(.laterVersion(found: version, known: schema.newest))
                }
                if version < schema.newest {
                    throw fault(.earlierVersion(found: version, known: schema.newest))
                }
            }
            return queue
        }
    }

    private func connect(_ mode: String, isReadOnly: Bool) throws(LedgerError) -> DatabaseQueue {
        _ = LedgerFile.isConfigured
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(5)
        configuration.label = "ledger"
        configuration.prepareDatabase { database in
            // Without its lock SQLite takes every connection for the last one: on closing it
            // would remove the log under the owner.
            guard let handle = database.sqliteConnection,
                godwit_sqlite_harden(handle, 1) == SQLITE_OK,
                godwit_sqlite_keep_log(handle, 1) == SQLITE_OK
            else { throw fault(.inputOutput(reason: "SQLite refuses its safety settings")) }
            // The locking mode before the first look at the file.
            try database.execute(
                sql: """
                    PRAGMA locking_mode = EXCLUSIVE;
                    PRAGMA cell_size_check = ON;
                    PRAGMA mmap_size = 0;
                    PRAGMA temp_store = MEMORY
                    """)
        }
        // For good: a process has one ledger.
        guard godwit_sqlite_announce(path.bytes, path.bytes.count) == SQLITE_OK else {
            throw fault(.inputOutput(reason: "there is not enough memory for it"))
        }
        return try translating("open") {
            do {
                return try DatabaseQueue(path: fileName(mode), configuration: configuration)
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                throw fault(.locked(holder: "another program that has it open in SQLite"))
            }
        }
    }

    /// A `file:` name, every byte but letters, digits and a few signs escaped: any path will do.
    private func fileName(_ mode: String) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var name: [UInt8] = []
        for byte in path.bytes {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.append(byte)
            default:
                name += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
            }
        }
        return "file:" + String(decoding: name, as: UTF8.self) + mode
    }

    /// Whether nothing was ever written, or the first start was killed before it had finished.
    private func isNew(_ database: Database) throws -> Bool {
        let identifier = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let objects = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if identifier == 0, objects == 0 { return true }
        guard identifier == LedgerSchema.applicationIdentifier else {
            throw fault(.damaged(reason: "the file is a database, but not a ledger"))
        }
        return false
    }

    private func version(_ database: Database) throws -> Int {
        try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    }

    private func check(_ database: Database) throws {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let size = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        let (bytes, overflow) = pages.multipliedReportingOverflow(by: size)
        guard !overflow, bytes <= LedgerFile.checkedBytes else { return }
        let result = try String.fetchOne(database, sql: "PRAGMA quick_check(1)") ?? ""
        guard result == "ok" else { throw fault(.damaged(reason: result)) }
    }

    private var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator().disablingDeferredForeignKeyChecks()
        for (index, sql) in schema.versions.enumerated() {
            migrator.registerMigration("version \(index + 1)") { database in
                try database.execute(sql: sql)
                try database.execute(sql: "PRAGMA user_version = \(index + 1)")
            }
        }
        return migrator
    }

    private func fault(_ kind: LedgerError.Kind) -> LedgerError {
        LedgerError(ledger: path, kind: kind)
    }

    private func translating<Result>(
        _ step: String, _ body: () throws -> Result
    ) throws(LedgerError) -> Result {
        try LedgerError.translating(path, step, body)
    }
}
