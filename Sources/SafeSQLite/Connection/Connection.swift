import CSQLite
package import DurableFiles
package import GRDB
import GRDBSQLite
import Glibc

/// A connection to one SQLite file, used by one thread at a time.
///
/// GRDB opens and closes it; row loops use `Statement` on the handle below, because a loop over
/// GRDB rows costs five times as much.
package final class Connection {
    /// How a file is opened.
    package enum Mode: Sendable {
        /// Read-only and taken as never changing: no locks, no `-wal`, no `-shm`.
        case immutable
        /// Read and write a file of our own that exists.
        case readWrite
        /// Make a file of our own, or write one that we made.
        case create
        /// An empty database in memory, in which triggers and views can be compiled.
        case memory
        /// The same for calls of SQLite's functions, for as long as they take.
        case functions
    }

    /// The file, as errors name it.
    package let path: String
    /// GRDB's connection, for queries that are not hot.
    package let queue: DatabaseQueue
    let handle: OpaquePointer
    /// Decides what statements may do.
    private let guardian: OpaquePointer
    /// How long they may run.
    let budget: OpaquePointer
    /// How many files are attached.
    private var attached: Int32 = 0
    /// The file, and those that were attached at some time.
    private var announced: [AnnouncedFile] = []
    private var isClosed = false
    /// Of the file, whatever errors name.
    let folder: FilePath
    /// Those of the process before the file was opened.
    let roomFailures: Int

    /// Opens a file and makes the connection safe for files of strangers.
    ///
    /// - Parameters:
    ///   - file: the database file.
    ///   - mode: how to open it.
    ///   - original: how errors name the file, for a snapshot of an original.
    ///   - cacheKibibytes: the page cache, in KiB; large caches do not pay.
    ///   - patience: milliseconds that a stranger's file may keep SQLite busy; nil for as long as
    ///     its size gives.
    /// - Throws: `StoreError.inputOutput` or `.notAStore` with SQLite's reason.
    package init(
        path file: FilePath, mode: Mode, named original: FilePath? = nil,
        cacheKibibytes: Int = 2048, patience: Int64? = nil
    ) throws(StoreError) {
        path = (original ?? file).description
        folder = file.parent
        _ = Connection.isConfigured
        roomFailures = godwit_sqlite_room_failures()
        var configuration = Configuration()
        configuration.foreignKeysEnabled = false
        configuration.readonly = mode == .immutable
        configuration.busyMode = .timeout(5)
        if mode == .readWrite || mode == .create {
            // Before the first look at the file: the index of a log is then kept on the heap. A
            // `-shm` is written through a mapping, and where a copying file system or a quota has
            // no room for that, the process dies of SIGBUS (decision 0013).
            configuration.prepareDatabase { try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE") }
        }
        let name = Connection.fileName(file, mode: mode)
        announced = [try AnnouncedFile(file)]
        budget = try Connection.present(godwit_sqlite_budget_new(), path)
        try Connection.beginOpening(file, mode, by: budget, patience)
        defer { Connection.endOpening() }
        do {
            let queue = try DatabaseQueue(path: name, configuration: configuration)
            guard let handle = queue.inDatabase({ $0.sqliteConnection }) else {
                throw StoreError.inputOutput(path: path, reason: "no connection")
            }
            if mode == .readWrite || mode == .create {
                try Connection.refuseLink(handle, to: file, named: path)
            }
            self.queue = queue
            self.handle = handle
            godwit_sqlite_budget_connect(budget, handle)
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw Connection.openingFailure(
                error, path: path, folder: folder, budget: budget, roomFailures: roomFailures)
        } catch {
            throw .inputOutput(path: path, reason: "\(error)")
        }
        // GRDB's hooks expect every commit to come through GRDB, and trap where one comes from the
        // handle. Nothing here observes transactions.
        sqlite3_commit_hook(handle, nil, nil)
        sqlite3_rollback_hook(handle, nil, nil)
        // In place of GRDB's authorizer, which notes every column of every statement: that took a
        // fifth of a small store's migration. Names in a file or a model are a stranger's, so what
        // no step is meant to do does not compile (decision 0020).
        guardian = try Connection.present(
            godwit_sqlite_guard_new(handle, mode == .immutable ? 0 : 1), path)
        try protect(mode)
        try bound(mode, file, patience)
        try configure(
            """
            PRAGMA mmap_size = 0; PRAGMA cell_size_check = ON; PRAGMA temp_store = FILE
            """)
        _ = try pragma("cache_size", -Int64(cacheKibibytes))
        // Rows that break a rule of the app's own are copied as they are; validation counts them.
        // The rule may need what SQLite trusts no schema with.
        if mode == .create || mode == .immutable {
            try configure("PRAGMA ignore_check_constraints = ON")
        }
    }

    /// Makes the connection safe for files of strangers.
    private func protect(_ mode: Mode) throws(StoreError) {
        // Triggers and views never run. Files that we make are written without a journal, which
        // defensive mode would forbid.
        if mode != .memory, mode != .functions {
            let code = godwit_sqlite_harden(handle, mode == .create ? 1 : 0)
            guard code == SQLITE_OK else { throw failure(code) }
        }
        // An index in an order that only the app knows must not hide the rows; one that we make
        // would have the wrong order.
        if mode == .immutable || mode == .readWrite {
            let code = godwit_sqlite_stand_in_for_collations(handle)
            guard code == SQLITE_OK else { throw failure(code) }
        }
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 0)
    }

    deinit {
        if !isClosed {
            sqlite3_set_authorizer(handle, nil, nil)
            // Before the files are withdrawn: closing may remove a log.
            closeQuietly()
        }
        godwit_sqlite_guard_free(guardian)
        godwit_sqlite_budget_free(budget)
    }

    private func closeQuietly() {
        godwit_sqlite_budget_retire(budget)
        do { try queue.close() } catch { return }
    }

    /// Closes the connection.
    ///
    /// - Throws: `StoreError.inputOutput` when statements are still open.
    package func close() throws(StoreError) {
        godwit_sqlite_budget_retire(budget)
        do {
            try queue.close()
            isClosed = true
            announced = []
        } catch {
            throw .inputOutput(path: path, reason: "the connection could not be closed: \(error)")
        }
    }

    // Once a process.
    static let isConfigured: Bool =
        godwit_sqlite_configure(SystemMemory.sqliteLimit) == SQLITE_OK

    /// A `file:` name, every byte but letters, digits and a few signs escaped, so that `?`, `#`
    /// and `%` in a path mean themselves.
    private static func fileName(_ path: FilePath, mode: Mode) -> String {
        let hex = Array("0123456789ABCDEF".utf8)
        var name: [UInt8] = Array("file:".utf8)
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
        let suffix =
            switch mode {
            case .immutable: "?mode=ro&immutable=1"
            case .readWrite: "?mode=rw"
            case .create: "?mode=rwc"
            case .memory, .functions: "?mode=memory"
            }
        return String(decoding: name, as: UTF8.self) + suffix
    }
}

extension Connection {
    /// Runs one statement that returns nothing of interest.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func execute(_ sql: SQLText) throws(StoreError) { try prepare(sql).run() }

    /// Compiles a statement.
    ///
    /// - Throws: `StoreError` with SQLite's message; `StoreError.notAStore` where anything but
    ///   blanks stands behind the statement.
    package func prepare(_ sql: SQLText) throws(StoreError) -> Statement {
        var pointer: OpaquePointer?
        var isWhole = false
        let text = sql.description
        godwit_sqlite_budget_begin(budget)
        defer { _ = godwit_sqlite_budget_end(budget) }
        let code = text.withCString { start in
            var rest: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(handle, start, -1, &pointer, &rest)
            // SQLite stops at a NUL, which then stands behind the statement, too.
            let end = start + text.utf8.count
            isWhole = rest.map { Connection.areBlanks($0, upTo: end) } ?? false
            return code
        }
        guard code == SQLITE_OK else { throw failure(code) }
        guard let pointer else {
            throw .notAStore(path: path, reason: "a statement is empty")
        }
        let statement = Statement(pointer, connection: self)
        guard isWhole else {
            throw .notAStore(path: path, reason: "other text follows a statement")
        }
        return statement
    }

    private static func areBlanks(
        _ start: UnsafePointer<CChar>, upTo end: UnsafePointer<CChar>
    ) -> Bool {
        UnsafeBufferPointer(start: start, count: end - start).allSatisfy {
            $0 == 32 || (9...13).contains($0)
        }
    }

    /// Runs a body while a step is open (`CSQLite.h`).
    ///
    /// - Parameters:
    ///   - step: what statements may do meanwhile.
    ///   - name: of the object that the step makes or drops.
    ///   - table: that an index or a trigger belongs to.
    ///   - isTemporary: whether the object goes into the temporary schema.
    ///   - body: what compiles and runs the step's statement.
    /// - Returns: what the body returns.
    /// - Throws: what the body throws.
    func opening<Result>(
        _ step: godwit_sqlite_step, name: String? = nil, table: String? = nil,
        isTemporary: Bool = false, _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let code = godwit_sqlite_guard_open(guardian, step, name, table, isTemporary ? 1 : 0)
        guard code == SQLITE_OK else { throw failure(code) }
        defer { godwit_sqlite_guard_close(guardian) }
        return try body()
    }

    /// Whether the last call failed because a row would break a constraint.
    package var brokeConstraint: Bool { sqlite3_errcode(handle) & 0xFF == SQLITE_CONSTRAINT }

    /// Whether a transaction is open.
    package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    /// Runs a body inside a transaction, which is rolled back when the body throws.
    ///
    /// Inside another transaction it becomes a part of that one (a savepoint).
    package func transaction<Result, Failure: Error>(
        _ body: () throws(Failure) -> Result, failing: (StoreError) -> Failure
    ) throws(Failure) -> Result {
        let isOuter = sqlite3_get_autocommit(handle) != 0
        do throws(StoreError) {
            try execute(isOuter ? "BEGIN" : "SAVEPOINT part")
        } catch {
            throw failing(error)
        }
        let result: Result
        do throws(Failure) {
            result = try body()
        } catch {
            rollBack(isOuter: isOuter)
            throw error
        }
        do throws(StoreError) {
            try execute(isOuter ? "COMMIT" : "RELEASE part")
        } catch {
            rollBack(isOuter: isOuter)
            throw failing(error)
        }
        return result
    }

    /// The same for a body that throws nothing but errors of stores.
    package func transaction<Result>(
        _ body: () throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try transaction(body) { $0 }
    }

    private func rollBack(isOuter: Bool) {
        // SQLite may have rolled back by itself; then there is nothing left to undo.
        guard sqlite3_get_autocommit(handle) == 0 else { return }
        let undo = isOuter ? "ROLLBACK" : "ROLLBACK TO part; RELEASE part"
        sqlite3_exec(handle, undo, nil, nil, nil)
    }

    /// Attaches another file under a schema name, read-only and immutable.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func attachImmutable(
        _ path: FilePath, as schema: StaticString
    ) throws(StoreError) {
        let file = SQLText.text(Connection.fileName(path, mode: .immutable))
        let name = SQLText.quoted(schema.description)
        announced.append(try AnnouncedFile(path))
        try bound(byAttached: path)
        // No more than what is asked for here can ever be attached.
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, attached + 1)
        do throws(StoreError) {
            try opening(godwit_sqlite_step_attach) { () throws(StoreError) in
                try execute("ATTACH \(file) AS \(name)")
                attached += 1
                try execute("PRAGMA \(name).mmap_size = 0")
                try execute("PRAGMA \(name).cache_size = -1024")
            }
        } catch {
            sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, attached)
            throw error
        }
    }

    /// Detaches a schema.
    ///
    /// - Throws: `StoreError` with SQLite's message.
    package func detach(_ schema: StaticString) throws(StoreError) {
        let name = SQLText.quoted(schema.description)
        try opening(godwit_sqlite_step_detach) { () throws(StoreError) in
            try execute("DETACH \(name)")
        }
        attached -= 1
        sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, attached)
    }

    /// Rows that the last statement inserted, changed or deleted.
    package var changes: Int64 { sqlite3_changes64(handle) }

    /// The first column of the first row as an integer; nil where there is no row or NULL.
    package func integer(_ sql: SQLText) throws(StoreError) -> Int64? {
        let statement = try prepare(sql)
        guard try statement.step() else { return nil }
        return statement.isNull(0) ? nil : statement.integer(0)
    }

    /// The first column of all rows as text; NULL becomes an empty text.
    package func texts(_ sql: SQLText) throws(StoreError) -> [String] {
        let statement = try prepare(sql)
        var result: [String] = []
        while try statement.step() { result.append(statement.text(0) ?? "") }
        return result
    }
}
