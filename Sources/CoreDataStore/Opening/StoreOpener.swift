package import DurableFiles
package import ManagedObjectModel
package import SafeSQLite
package import StoreLocks

/// Where the snapshot of a store that is not at rest goes.
package enum SnapshotPlace: Hashable, Sendable {
    /// It is made there, should one be needed.
    case toMake(FilePath)
    /// An earlier call made it there, of the same state of the store.
    case made(FilePath)
}

/// How programs are kept out of a store while its snapshot is made.
package struct SnapshotClients: Sendable {
    /// The store's lock; nil takes one for that time.
    package let lock: StoreLock?
    package let policy: ClientPolicy

    package init(lock: StoreLock?, policy: ClientPolicy) {
        self.lock = lock
        self.policy = policy
    }
}

/// Opens stores of strangers: checks the files before SQLite sees them, reads from a snapshot
/// wherever the original is not at rest, and refuses what is not understood.
package struct StoreOpener: Sendable {
    private let files: DurableFileSystem
    private let cache: StoreCache
    private let clients: SnapshotClients?

    /// - Parameters:
    ///   - files: through which files are read.
    ///   - cache: what is known of stores of the same app.
    ///   - clients: how programs are kept out of a store while its snapshot is made; nil lets them
    ///     work, and fails where one writes meanwhile.
    package init(
        files: DurableFileSystem = DurableFileSystem(), cache: StoreCache = StoreCache(),
        clients: SnapshotClients? = nil
    ) {
        self.files = files
        self.cache = cache
        self.clients = clients
    }

    /// Opens a store.
    ///
    /// - Parameters:
    ///   - location: of the store; a symbolic link to its database is followed once.
    ///   - scratch: an existing folder of our own for the snapshot, should one be needed.
    ///   - given: the model, for a store that holds none.
    ///   - checksPages: whether to run `quick_check` over the file, which reads all of it.
    ///   - snapshot: where it goes, or where it is; in `scratch` without it.
    /// - Returns: the store, whose `database` is the file to read.
    /// - Throws: `StoreError` naming what was found.
    package func open(
        _ location: StoreLocation, scratch: FilePath, given: Model? = nil, checksPages: Bool = true,
        snapshot: SnapshotPlace? = nil
    ) throws(StoreError) -> SourceStore {
        let opened = try openConnected(
            location, scratch: scratch, given: given, checksPages: checksPages,
            snapshot: snapshot)
        try opened.connection.close()
        return opened.store
    }

    /// Opens a store and keeps the connection through which it was read, so that more can be
    /// read without reading the schema again.
    ///
    /// - Returns: the store, and a connection to its `database`; the caller closes it.
    /// - Throws: `StoreError`, as `open`.
    package func openConnected(
        _ location: StoreLocation, scratch: FilePath, given: Model? = nil, checksPages: Bool = true,
        snapshot: SnapshotPlace? = nil
    ) throws(StoreError) -> (store: SourceStore, connection: Connection) {
        let path = location.database
        do {
            return try openSteady(
                path, given: given, checksPages: checksPages,
                snapshot: snapshot ?? .toMake(scratch.appending("snapshot")))
        } catch let error as StoreError {
            throw error
        } catch let error as DurableFileError where error.isOutOfSpace {
            throw .outOfSpace(path: path.description, reason: "\(error)")
        } catch let error as DurableFileError where error.isInUse {
            if case .inUse(_, let users) = error {
                throw .inUse(path: path.description, users: FileUser.words(users))
            }
            throw .inUse(path: path.description, users: "another godwit process")
        } catch DurableFileError.changedMeanwhile {
            throw .written(path)
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }

    /// Runs `quick_check` over a store that was opened without it.
    ///
    /// - Throws: `StoreError.notAStore` with the first finding.
    /// - Complexity: reads the whole file.
    package static func checkPages(of store: SourceStore) throws(StoreError) {
        let connection = try Connection(
            path: store.database, mode: .immutable, named: store.path)
        try check(connection)
        try connection.close()
    }

    /// Runs `quick_check` over an open connection.
    ///
    /// - Throws: `StoreError.notAStore` with the first finding.
    /// - Complexity: reads the whole file.
    package static func checkPages(over connection: Connection) throws(StoreError) {
        try check(connection)
    }

    /// How often a store is read that a program writes meanwhile.
    private static let tries = 3

    /// Opens a store that holds still, and again one that did not: what goes wrong with a store
    /// that a program writes says nothing about its files.
    private func openSteady(
        _ given: FilePath, given model: Model?, checksPages: Bool, snapshot: SnapshotPlace
    ) throws -> (store: SourceStore, connection: Connection) {
        let path = try files.resolve(given)
        let status = try FileStatus(of: path)
        guard status.isRegularFile else {
            throw StoreError.notAStore(
                path: path.description, reason: "it is \(status.kind), not a file")
        }
        // A snapshot that was made before is of one state only.
        var left = if case .made = snapshot { 1 } else { StoreOpener.tries }
        while true {
            let fingerprint = try StoreFingerprint(of: path)
            do {
                return try openChecked(
                    path, fingerprint, given: model, checksPages: checksPages,
                    snapshot: snapshot)
            } catch {
                guard hasChanged(path, since: fingerprint, after: error) else { throw error }
                left -= 1
                guard left > 0, case .toMake(let place) = snapshot else {
                    throw StoreError.written(path)
                }
                try SettledCopy.remove(place, files)
            }
        }
    }

    /// Whether a store is another one than before an attempt to read it, which failed.
    private func hasChanged(
        _ path: FilePath, since before: StoreFingerprint, after error: any Error
    ) -> Bool {
        switch error {
        case StoreError.changed: return true
        case StoreError.notAStore, StoreError.inputOutput:
            // A transaction under way may have written twice within one step of the file
            // system's clock, which is 10 ms at most.
            ReplacedFile.pause(20)
        case is StoreError: break
        case let error as DurableFileError where error.isOutOfSpace || error.isInUse: return false
        default: break
        }
        do throws(DurableFileError) {
            return try StoreFingerprint(of: path) != before
        } catch {
            // The failure itself reports a store that is gone.
            if case .changedMeanwhile = error { return true }
            return false
        }
    }

    private func openChecked(
        _ path: FilePath, _ fingerprint: StoreFingerprint, given model: Model?,
        checksPages: Bool, snapshot: SnapshotPlace
    ) throws -> (store: SourceStore, connection: Connection) {
        let header = try Self.header(fingerprint.header, of: path)
        var oddities: [String] = []
        let database: FilePath
        switch snapshot {
        case .made(let made): database = made
        case .toMake(let place):
            database = try atRest(
                path, header: header, fingerprint: fingerprint, snapshot: place,
                oddities: &oddities)
        }
        let isSnapshot = database != path
        if isSnapshot, try StoreFingerprint(of: path) != fingerprint {
            throw StoreError.changed(path.description)
        }
        // Only now: with a log, the main file alone may be older, shorter, or hardly begun.
        var settled = header
        var size = fingerprint.main.size
        if isSnapshot {
            let file = try files.openForReading(database)
            settled = try Self.header(
                file.read(count: StoreFingerprint.headerBytes, at: 0), of: path)
            size = try file.status().size
        }
        if let reason = refusal(of: settled, size: size) {
            throw StoreError.notAStore(path: path.description, reason: reason)
        }
        let connection = try Connection(path: database, mode: .immutable, named: path)
        if checksPages { try Self.check(connection) }
        let contents = try StoreContents.read(connection, given: model, known: cache)
        oddities += contents.oddities
        if settled.pageSize != 4096 { oddities.append("pages of \(settled.pageSize) bytes") }
        for (name, number) in [
            ("user_version", settled.userVersion), ("application_id", settled.applicationID),
        ] where number != 0 {
            oddities.append("\(name) is \(number), which Core Data leaves 0")
        }
        if !header.isWriteAheadLogged { oddities.append("rollback journal instead of a -wal") }
        let store = SourceStore(
            path: path, database: database, isSnapshot: isSnapshot, header: settled,
            schema: contents.schema, primaryKeys: contents.primaryKeys,
            metadata: contents.metadata, model: contents.model, modelCache: contents.modelCache,
            layout: contents.layout, fingerprint: fingerprint, oddities: oddities)
        return (store, connection)
    }

    private static func header(
        _ bytes: [UInt8], of original: FilePath
    ) throws(StoreError) -> DatabaseHeader {
        switch DatabaseHeader.read(bytes) {
        case .failure(let fault):
            throw StoreError.notAStore(path: original.description, reason: fault.reason)
        case .success(let header): return header
        }
    }

    private func refusal(of header: DatabaseHeader, size: Int64) -> String? {
        if header.textEncoding != 1 { return "its text is UTF-16; Core Data writes UTF-8" }
        if header.reservedBytes != 0 {
            return "its pages have reserved bytes, as encrypted databases do"
        }
        if size % Int64(header.pageSize) != 0 {
            return "the file is truncated (its length is not a multiple of its page size)"
        }
        if header.pageCount > size / Int64(header.pageSize) {
            return "the file is truncated (it has fewer pages than its header says)"
        }
        return nil
    }

    /// The path of a file that holds the whole store and that no program writes: the original, or a
    /// snapshot with the `-wal` or the hot journal applied.
    private func atRest(
        _ path: FilePath, header: DatabaseHeader, fingerprint: StoreFingerprint,
        snapshot: FilePath, oddities: inout [String]
    ) throws -> FilePath {
        var companion: StoreCompanion?
        if let log = fingerprint.writeAheadLog {
            let file = try files.openForReading(StoreLocation(path).companion(.writeAheadLog))
            let prefix = try file.read(count: WriteAheadLog.prefixLength, at: 0)
            let state = WriteAheadLog.judge(
                prefix: prefix, length: log.size, pageSize: header.pageSize)
            switch state {
            case .empty: break
            case .hasFrames:
                companion = .writeAheadLog
                let scan = try WriteAheadLogScan(
                    file, length: log.size, pageSize: header.pageSize)
                guard scan.lostTransactions == 0 else {
                    throw StoreError.notAStore(
                        path: path.description,
                        reason: "frame \(scan.validFrames + 1) of its -wal file is damaged, and "
                            + "SQLite would silently lose \(scan.lostTransactions) transactions "
                            + "behind it")
                }
                if scan.endsInTornFrame {
                    oddities.append(
                        "the -wal ends in an unfinished transaction, which SQLite does not read "
                            + "either"
                    )
                }
            case .foreign(let reason):
                throw StoreError.notAStore(path: path.description, reason: reason)
            }
        }
        if let journal = fingerprint.rollbackJournal, journal.size > 0 {
            guard companion == nil else {
                throw StoreError.notAStore(
                    path: path.description, reason: "it has both a -wal and a -journal file")
            }
            let end = try files.openForReading(StoreLocation(path).companion(.rollbackJournal))
                .read(count: RollbackJournal.magic.count, at: journal.size - 8)
            if let reason = RollbackJournal.refusal(end: end) {
                throw StoreError.notAStore(path: path.description, reason: reason)
            }
            companion = .rollbackJournal
        }
        guard let companion else { return path }
        try copy(path, companion, to: snapshot)
        // SQLite applies the log or rolls the journal back on our copy; closing leaves one file.
        let connection = try Connection(path: snapshot, mode: .readWrite, named: path)
        if companion == .writeAheadLog { try connection.checkpoint() }
        _ = try connection.integer("SELECT count(*) FROM sqlite_master")
        try connection.close()
        for file in StoreLocation(snapshot).companions
        where try FileStatus.ifPresent(file) != nil {
            try files.remove(file)
        }
        return snapshot
    }

    /// Copies the main file and a companion, both as they are at one moment.
    private func copy(
        _ path: FilePath, _ companion: StoreCompanion, to snapshot: FilePath
    ) throws {
        let lock = try clients.map { try $0.lock ?? StoreLock(path, for: .reading) }
        defer {
            lock?.admitClients()
            if clients?.lock == nil { lock?.release() }
        }
        if let lock, let clients { try lock.keepClientsOut(of: path, clients.policy) }
        let files = lock.map { self.files.opening($0.held) } ?? self.files
        _ = try files.clone(from: path, to: snapshot)
        _ = try files.clone(
            from: StoreLocation(path).companion(companion),
            to: StoreLocation(snapshot).companion(companion))
    }

    /// Checks every page of the file.
    private static func check(_ connection: Connection) throws(StoreError) {
        let lines = try connection.checkPages()
        guard lines == ["ok"] else {
            // A line may quote the schema, never a row's value.
            throw .notAStore(
                path: connection.path, reason: "it is damaged: \(CheckFindings.words(lines))")
        }
    }
}
