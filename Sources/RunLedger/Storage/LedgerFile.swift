import CSQLite
import DurableFiles
import GRDB
import GRDBSQLite

/// Opens the ledger's file and makes sure that it is one that this program knows.
struct LedgerFile {
    let path: FilePath
    let schema: LedgerSchema

    /// The longest WAL file that is kept for reuse, in bytes.
    private static let keptLogBytes = 64 << 20
    /// Ledgers of at most this size are checked whole when they are opened; pages of larger ones
    /// are checked as they are read.
    private static let checkedBytes = 64 << 20

    // Once a process, before SQLite starts: stores are opened by `file:` names, too.
    private static let isConfigured: Bool = godwit_sqlite_configure() == SQLITE_OK

    /// Opens the ledger for its owner, making or migrating it where that is needed.
    ///
    /// - Throws: `LedgerError`.
    func openForWriting() throws(LedgerError) -> DatabaseQueue {
        let queue = try connect(isReadOnly: false)
        return try translating("open") {
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
            return queue
        }
    }

    private func configure(_ database: Database, isNew: Bool) throws {
        let mode = try String.fetchOne(database, sql: "PRAGMA journal_mode = WAL")
        guard mode == "wal" else {
            throw fault(.inputOutput(reason: "its file system allows no write-ahead log"))
        }
        try database.execute(
            sql: """
                PRAGMA synchronous = FULL;
                PRAGMA wal_autocheckpoint = 0;
                PRAGMA journal_size_limit = \(LedgerFile.keptLogBytes)
                """)
        guard isNew else { return }
        let identifier = LedgerSchema.applicationIdentifier
        try database.execute(sql: "PRAGMA application_id = \(identifier)")
    }

    /// Opens a ledger of this program's version for reading.
    ///
    /// - Throws: `LedgerError`.
    func openForReading() throws(LedgerError) -> DatabaseQueue {
        let isPresent = try translating("look for") { try FileStatus.ifPresent(path) != nil }
        guard isPresent else { throw fault(.missing) }
        let queue = try connect(isReadOnly: true)
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

    private func connect(isReadOnly: Bool) throws(LedgerError) -> DatabaseQueue {
        _ = LedgerFile.isConfigured
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.readonly = isReadOnly
        configuration.busyMode = .timeout(5)
        configuration.label = "ledger"
        configuration.prepareDatabase { database in
            guard let handle = database.sqliteConnection,
                godwit_sqlite_harden(handle, 1) == SQLITE_OK
            else { throw fault(.inputOutput(reason: "SQLite refuses its safety settings")) }
            try database.execute(
                sql: """
                    PRAGMA cell_size_check = ON;
                    PRAGMA mmap_size = 0;
                    PRAGMA temp_store = MEMORY
                    """)
        }
        return try translating("open") {
            try DatabaseQueue(
                path: fileName(isReadOnly ? "ro" : "rwc"), configuration: configuration)
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
        return "file:" + String(decoding: name, as: UTF8.self) + "?mode=" + mode
    }

    /// Whether nothing was ever written, or the first start was killed before it had finished.
    private func isNew(_ database: Database) throws -> Bool {
        let identifier = try Int64.fetchOne(database, sql: "PRAGMA application_id") ?? 0
        let objects = try Int64.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") ?? 0
        if identifier == 0, objects == 0 { return true }
        guard identifier == LedgerSchema.applicationIdentifier else {
            throw fault(.damaged(reason: "the file is a database, but no ledger"))
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

    private func fault(_ cause: LedgerError.Cause) -> LedgerError {
        LedgerError(ledger: path, cause: cause)
    }

    private func translating<Result>(
        _ step: String, _ body: () throws -> Result
    ) throws(LedgerError) -> Result {
        try LedgerError.translating(path, step, body)
    }
}
