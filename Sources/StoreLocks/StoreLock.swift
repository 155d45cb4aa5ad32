internal import CLinux
package import DurableFiles

internal import Glibc
internal import Synchronization

/// What a run does with a store that it has locked.
package enum StoreUse: Hashable, Sendable {
    /// Its files are only read; other runs may read them, too.
    case reading
    /// Its name changes hands: no other run may have the store.
    case replacing
}

/// The right of a run to a store, and, for the time of a swap, to keep every client out of it.
///
/// Against other runs, wherever they keep their state: a flock(2) lock on the database file
/// itself. It works on a read-only descriptor, SQLite takes no notice of it, and it goes with the
/// process. It belongs to the file and not to its name: a file that is to get the name is covered
/// before it does.
///
/// Against clients: SQLite's own lock bytes, which keep connections from reading and writing, and
/// a write lease (fcntl(2), F_SETLEASE), which the kernel grants only where no program has the file
/// open, with or without locks, and which makes those wait who open it afterwards.
package final class StoreLock: Sendable {
    /// The store's main file, symbolic links resolved by the caller.
    package let path: FilePath
    /// The files that are locked: read them through this while clients are kept out.
    package let held = HeldFiles()
    private let use: StoreUse
    private let faults: FaultPoints

    private static let attempts = 10
    /// Looks for the name of a program that has a file open now and then.
    private static let looks = 30
    /// Between two looks at a file that is in use, in milliseconds.
    private static let pause: Int64 = 10

    /// Locks the file that has this name.
    ///
    /// - Throws: `DurableFileError.lockHeld` where another run has the store, with its process
    ///   id where the system tells; `changedMeanwhile` where the name keeps changing hands.
    package init(
        _ path: FilePath, for use: StoreUse = .replacing, faults: FaultPoints = .none
    ) throws(DurableFileError) {
        self.path = path
        self.use = use
        self.faults = faults
        for _ in 0..<StoreLock.attempts {
            try cover(path)
            let named = try FileStatus(of: path).identity
            // Another run may have given the name to another file just before its lock went.
            if holds(named) { return }
        }
        throw .changedMeanwhile(path)
    }

    /// Locks another file that is to get the store's name; one that is covered already is fine.
    ///
    /// - Throws: as the initialiser.
    package func cover(_ file: FilePath) throws(DurableFileError) {
        if holds(try FileStatus(of: file).identity) { return }
        let open = try DurableFileSystem(faults: faults).openForReading(file)
        try take(open, file, isWritable: false)
    }

    /// Takes the lock of an open file and keeps its descriptor.
    private func take(
        _ open: consuming OpenFile, _ file: FilePath, isWritable: Bool
    ) throws(DurableFileError) {
        let identity = try open.status().identity
        let descriptor = open.descriptor
        do {
            try faults.perform(.lock, on: file) { () throws(DurableFileError) in
                _ = try checked(
                    clinux_lock_file(descriptor, use == .replacing ? 1 : 0), .lock, file)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw .lockHeld(file, holder: StoreLock.holder(of: identity))
        }
        let number = open.takeDescriptor()
        held.files.withLock {
            $0.append(HeldFile(identity: identity, descriptor: number, isWritable: isWritable))
        }
    }

    /// Whether a file is one of those that are locked.
    package func holds(_ identity: FileIdentity) -> Bool {
        held.files.withLock { $0.contains { $0.isFile(identity) } }
    }

    /// Gives the lock back; a second call does nothing.
    package func release() {
        held.files.withLock { files in
            for file in files { file.close() }
            files = []
        }
    }

    deinit { release() }

    /// Who holds the flock of a file, as `/proc/locks` tells.
    private static func holder(of identity: FileIdentity) -> String {
        let user = ProcessLocks.process(locking: identity, kind: "FLOCK")
        return "another godwit process" + (user.map { " (pid \($0.process))" } ?? "")
    }
}

// MARK: - Clients

extension StoreLock {
    /// Keeps every client out of a file until `admitClients`; one that is kept out already is fine.
    ///
    /// Afterwards no program of this machine has the file open, but where that cannot be seen.
    ///
    /// - Parameters:
    ///   - file: a file that is covered, or is to be.
    ///   - policy: how long to wait for clients, and what to do where they cannot be seen.
    /// - Throws: `DurableFileError.inUse` where a program has the file open, `.clientsHidden`
    ///   where that cannot be seen, `.lockHeld` where another run has the file.
    package func keepClientsOut(
        of file: FilePath, _ policy: ClientPolicy = ClientPolicy()
    ) throws(DurableFileError) {
        let start = clinux_monotonic()
        // A program that closes the file between two looks had it open all the same.
        var seen: [FileUser] = []
        while true {
            do throws(DurableFileError) {
                return try takeFromClients(file, policy)
            } catch {
                guard error.isInUse else { throw error }
                if case .inUse(_, let users) = error {
                    // A guardian looks whether anybody but itself has the file open, as we do.
                    if users.isEmpty { try letGo(of: file) } else { seen = users }
                }
                if clinux_monotonic() - start >= policy.patience {
                    guard case .inUse(let path, _) = error else { throw error }
                    if seen.isEmpty {
                        seen = FileUser.some(
                            of: try FileStatus(of: file).identity, looks: StoreLock.looks)
                    }
                    throw .inUse(path, by: seen)
                }
                clinux_sleep(StoreLock.pause)
            }
        }
    }

    /// Closes a file until the next look.
    private func letGo(of file: FilePath) throws(DurableFileError) {
        guard let status = try FileStatus.ifPresent(file) else { return }
        held.files.withLock { files in
            for held in files where held.isFile(status.identity) { held.close() }
            files.removeAll { $0.isFile(status.identity) }
        }
    }

    private func takeFromClients(
        _ file: FilePath, _ policy: ClientPolicy
    ) throws(DurableFileError) {
        let identity = try FileStatus(of: file).identity
        var known = held.files.withLock { $0.first { $0.isFile(identity) } }
        if known?.isWritable != true {
            if known?.hasLockBytes == true { return }
            try reopen(file, instead: known)
            known = held.files.withLock { $0.first { $0.isFile(identity) } }
        }
        guard var taken = known else { throw .changedMeanwhile(file) }
        if taken.hasLockBytes { return }
        do throws(DurableFileError) {
            try lockBytes(of: &taken, file)
            try lease(&taken, file, policy)
            if taken.hasLease { taken.guarded = FileGuardian.hold(taken.descriptor, of: path) }
        } catch {
            taken.admitClients()
            update(taken)
            throw error
        }
        update(taken)
    }

    private func update(_ file: HeldFile) {
        held.files.withLock { files in
            for index in files.indices where files[index].descriptor == file.descriptor {
                files[index] = file
            }
        }
    }

    /// Opens a file for writing, as its lock bytes ask for, and moves the lock there: with two
    /// descriptors of ours there is no lease.
    private func reopen(_ file: FilePath, instead old: HeldFile?) throws(DurableFileError) {
        let system = DurableFileSystem(faults: faults)
        let open: OpenFile
        do throws(DurableFileError) {
            open = try system.openForWriting(file)
        } catch {
            if error.number == EWOULDBLOCK {
                throw .inUse(file, by: FileUser.all(of: try FileStatus(of: file).identity))
            }
            // One that may not be written is locked for reading, through the descriptor that is.
            guard [EACCES, EPERM, EROFS].contains(error.number) else { throw error }
            return try cover(file)
        }
        if let old {
            guard old.isFile(try open.status().identity) else { throw .changedMeanwhile(file) }
            held.files.withLock { $0.removeAll { $0.descriptor == old.descriptor } }
            old.close()
        }
        try take(open, file, isWritable: true)
    }

    /// Takes the lock bytes: shared ones, which keep writers out, where the file is read-only.
    private func lockBytes(
        of held: inout HeldFile, _ file: FilePath
    ) throws(DurableFileError) {
        let (descriptor, isExclusive) = (held.descriptor, held.isWritable)
        do {
            try faults.perform(.lock, on: file) { () throws(DurableFileError) in
                _ = try checked(
                    clinux_lock_range(
                        descriptor, HeldFile.lockBytesStart, HeldFile.lockBytes,
                        isExclusive ? 1 : 0),
                    .lock, file)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw .inUse(file, by: users(of: held))
        }
        held.hasLockBytes = true
        var process: Int64 = 0
        let isRead =
            !isExclusive
            && clinux_range_is_held(
                descriptor, HeldFile.lockBytesStart, HeldFile.lockBytes, 1, &process) == 1
        if isRead { throw .inUse(file, by: users(of: held)) }
    }

    private func lease(
        _ held: inout HeldFile, _ file: FilePath, _ policy: ClientPolicy
    ) throws(DurableFileError) {
        let network = try FileSystemSpace(at: file).networkFileSystemName
        let hidden: ClientVisibility?
        if let network {
            hidden = .hidden("it lies on a network file system (\(network))")
        } else {
            let result = clinux_lease(held.descriptor)
            if result == -EAGAIN { throw .inUse(file, by: users(of: held)) }
            held.hasLease = result == 0
            hidden = ClientVisibility(leaseResult: result)
        }
        guard case .hidden(let reason) = hidden, !policy.assumesClosed else { return }
        throw .clientsHidden(file, reason: reason)
    }

    /// Who has a file open; a process that only the lock tells of is named by that.
    private func users(of held: HeldFile) -> [FileUser] {
        let users = FileUser.all(of: held.identity)
        guard users.isEmpty else { return users }
        var process: Int64 = 0
        let isHeld = clinux_range_is_held(
            held.descriptor, HeldFile.lockBytesStart, HeldFile.lockBytes, 1, &process)
        return isHeld == 1 && process > 0 ? [FileUser(process: process)] : []
    }

    /// Whether a program waits to open a file that clients are kept out of, or has opened it
    /// because the lease was held for longer than the system allows
    /// (`/proc/sys/fs/lease-break-time`, 45 s).
    package var isAwaited: Bool {
        held.files.withLock { $0.contains { $0.isAwaited } }
    }

    /// Whether a program is about to open such a file and does not wait for its lease yet.
    package var isAboutToBeOpened: Bool {
        held.files.withLock { $0.contains { $0.isAboutToBeOpened } }
    }

    /// Lets clients in again; the right against other runs stays.
    package func admitClients() {
        held.files.withLock { files in
            for index in files.indices { files[index].admitClients() }
        }
    }

    /// After a failure, leaves files that have lost the store's name to the guardian.
    ///
    /// Clients are let into the others.
    ///
    /// - Parameters:
    ///   - named: what had the name since clients were kept out, also for a moment.
    ///   - live: what has the name now; nil where that cannot be seen.
    package func abandon(_ named: [FileIdentity], unless live: FileIdentity?) {
        held.files.withLock { files in
            let isLost = { (file: HeldFile) in
                named.contains(where: file.isFile) && live.map(file.isFile) != true
            }
            for file in files where isLost(file) { file.abandon() }
            files.removeAll(where: isLost)
            for index in files.indices { files[index].admitClients() }
        }
    }

    /// Hands over the files that have lost the store's name, with what keeps clients out of them.
    ///
    /// - Parameter live: what has the name now: its clients are let in.
    /// - Returns: the files, which the lock no longer holds.
    package func handOver(keeping live: FileIdentity) -> [ReplacedFile] {
        held.files.withLock { files in
            let replaced = files.filter { !$0.isFile(live) }
            files.removeAll { !$0.isFile(live) }
            for index in files.indices { files[index].admitClients() }
            return replaced.map { ReplacedFile($0, faults: faults) }
        }
    }
}
