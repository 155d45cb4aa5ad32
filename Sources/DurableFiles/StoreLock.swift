internal import CLinux
internal import Glibc
internal import Synchronization

/// What a run does with a store that it has locked.
package enum StoreUse: Hashable, Sendable {
    /// Its files are only read; other runs may read them, too.
    case reading
    /// Its name changes hands: no other run may have the store.
    case replacing
}

/// The right of a run to a store, wherever the run keeps its state.
///
/// A flock(2) lock on the database file itself: it works on a read-only descriptor, SQLite takes
/// no notice of it, and it goes with the process. It belongs to the file and not to its name: a
/// file that is to get the name is covered before it does. For the hazard of opening a database
/// that this process has open in SQLite, see `OpenFile`.
package final class StoreLock: Sendable {
    /// The store's main file, symbolic links resolved by the caller.
    package let path: FilePath
    private let covered = Mutex<[CoveredFile]>([])
    private let use: StoreUse
    private let faults: FaultPoints

    private static let attempts = 10

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
            if covered.withLock({ $0.contains { $0.isFile(named) } }) { return }
        }
        throw .changedMeanwhile(path)
    }

    /// Locks another file that is to get the store's name; one that is covered already is fine.
    ///
    /// - Throws: as the initialiser.
    package func cover(_ file: FilePath) throws(DurableFileError) {
        let identity = try FileStatus(of: file).identity
        if covered.withLock({ $0.contains { $0.isFile(identity) } }) { return }
        let open = try DurableFileSystem(faults: faults).openForReading(file)
        let opened = try open.status().identity
        do {
            try faults.perform(.lock, on: file) { () throws(DurableFileError) in
                _ = try checked(
                    clinux_lock_file(open.descriptor, use == .replacing ? 1 : 0), .lock, file)
            }
        } catch {
            guard error.number == EAGAIN else { throw error }
            throw .lockHeld(file, holder: StoreLock.holder(of: opened))
        }
        let number = open.takeDescriptor()
        covered.withLock { $0.append(CoveredFile(identity: opened, descriptor: number)) }
    }

    /// Gives the lock back; a second call does nothing.
    package func release() {
        covered.withLock { files in
            for file in files {
                // A child on its way to another program would keep what is only closed.
                _ = clinux_unlock_file(file.descriptor)
                _ = clinux_close(file.descriptor)
            }
            files = []
        }
    }

    deinit { release() }

    /// Who holds the flock of a file, as `/proc/locks` tells.
    private static func holder(of identity: FileIdentity) -> String {
        let process = ProcessLocks.process(locking: identity, kind: "FLOCK")
        return "another run of godwit" + (process.map { " (pid \($0))" } ?? "")
    }
}

/// A file on which a lock is held through a descriptor.
struct CoveredFile: Sendable {
    let identity: FileIdentity
    let descriptor: Int32

    /// Whether it is the same file, in whatever state.
    func isFile(_ other: FileIdentity) -> Bool {
        identity.device == other.device && identity.inode == other.inode
    }
}

/// What `/proc/locks` says, for messages alone: it may be missing, and is old when it is read.
enum ProcessLocks {
    private static let limit = 1 << 20

    /// The process that holds a lock of a kind on a file; nil where it cannot be told.
    static func process(locking identity: FileIdentity, kind: String) -> Int64? {
        let bytes: [UInt8]
        do throws(DurableFileError) {
            let file = try DurableFileSystem().openForReading("/proc/locks")
            bytes = try file.read(count: limit, at: 0)
        } catch {
            return nil
        }
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            // "1: FLOCK  ADVISORY  WRITE 812 fe:00:1234 0 EOF"
            let words = String(decoding: line, as: UTF8.self).split(separator: " ")
            guard words.count >= 6, words[1] == kind, let process = Int64(words[4]), process > 0,
                words[5].split(separator: ":").last.flatMap({ UInt64($0) }) == identity.inode
            else { continue }
            return process
        }
        return nil
    }
}
