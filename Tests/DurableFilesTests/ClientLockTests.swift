import Foundation
import Glibc
import TestSupport
import Testing

@testable import DurableFiles
@testable import StoreLocks

/// Programs that have a store open while its lock keeps clients out.
@Suite struct ClientLockTests {
    private let impatient = ClientPolicy(patience: 0)
    /// Other tests start processes, which have all files of this one until they become others.
    private let patient = ClientPolicy(patience: 20_000)

    private func store(_ folder: FilePath) throws -> FilePath {
        let path = folder.appending("store")
        try DurableFileSystem().write(noise(8192, seed: 1), to: path)
        return path
    }

    /// Takes a lock as SQLite does, by fcntl(2), in this process.
    private func lock(_ file: borrowing OpenFile, _ type: Int32, at start: Int64, _ length: Int64) {
        var lock = flock()
        lock.l_type = Int16(type)
        lock.l_whence = Int16(SEEK_SET)
        lock.l_start = Int(start)
        lock.l_len = Int(length)
        #expect(fcntl(file.descriptor, F_SETLK, &lock) == 0)
    }

    /// The refusal of a lock whose file one client has open, and no other.
    private func refusal(
        of path: FilePath, _ lock: StoreLock, naming client: ShellClient
    ) throws -> String {
        let error = try #require(
            #expect(throws: DurableFileError.self) {
                try lock.keepClientsOut(of: path, impatient)
            })
        if case .inUse(path, let users) = error {
            #expect(users.map(\.process) == [Int64(client.process)])
        } else {
            Issue.record("\(error)")
        }
        return error.description
    }

    @Test(arguments: ["<", "<>"])
    func aProgramThatHoldsNoLockIsRefusedByName(mode: String) throws {
        try withFolder { folder in
            let path = try store(folder)
            let client = try ShellClient(
                "exec 3\(mode)\"$1\"; echo open; read word", path.description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(path)
            let text = try refusal(of: path, lock, naming: client)
            #expect(text.contains("sh (pid \(client.process))"))
            #expect(!lock.isAwaited)
            try client.end()
            try lock.keepClientsOut(of: path, patient)
            lock.release()
        }
    }

    /// Python's own `mmap` keeps a descriptor.
    private static let mapper = """
        exec python3 -c '
        import ctypes, os, sys
        system = ctypes.CDLL(None)
        system.mmap.restype = ctypes.c_void_p
        system.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [
            ctypes.c_long]
        file = os.open(sys.argv[1], os.O_RDWR)
        system.mmap(None, 4096, 3, 1, file, 0)
        os.close(file)
        print("open", flush=True)
        sys.stdin.readline()
        ' "$1"
        """

    /// Only root may see what other processes have mapped.
    @Test(.enabled(if: geteuid() == 0, "for root"))
    func aProgramThatHasTheFileOnlyMappedIsNamed() throws {
        try withFolder { folder in
            let path = try store(folder)
            let client = try ShellClient(Self.mapper, path.description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(path)
            let text = try refusal(of: path, lock, naming: client)
            #expect(text.contains("python3 (pid \(client.process))"))
            try client.end()
            lock.release()
        }
    }

    @Test func aProgramThatClosesTheFileIsWaitedFor() throws {
        try withFolder { folder in
            let path = try store(folder)
            let client = try ShellClient("exec 3<\"$1\"; echo open; read word", path.description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(path)
            Thread { client.endOrReport() }.start()
            try lock.keepClientsOut(of: path, ClientPolicy(patience: 60_000))
            lock.release()
        }
    }

    /// A hard link and another mount lead to the same file.
    @Test func aProgramThatUsesAnotherNameIsSeen() throws {
        try withFolder { folder in
            let path = try store(folder)
            let other = folder.appending("other")
            try DurableFileSystem().hardLink(from: path, to: other)
            let client = try ShellClient("exec 3<\"$1\"; echo open; read word", other.description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(path)
            #expect(throws: DurableFileError.self) {
                try lock.keepClientsOut(of: path, impatient)
            }
            try client.end()
            lock.release()
        }
    }

    @Test func aConnectionOfThisProcessIsRefused() throws {
        try withFolder { folder in
            let path = try store(folder)
            let lock = try StoreLock(path)
            let reader = try DurableFileSystem().openForWriting(path)
            // A SHARED lock is a read lock on the shared range (SQLite's os.h).
            self.lock(reader, F_RDLCK, at: 0x4000_0002, 510)
            let error = #expect(throws: DurableFileError.self) {
                try lock.keepClientsOut(of: path, impatient)
            }
            guard case .inUse = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            try reader.close()
            try lock.keepClientsOut(of: path, patient)
            lock.release()
        }
    }

    @Test func theFileIsReadThroughItsLock() throws {
        try withFolder { folder in
            let path = try store(folder)
            let bytes = try DurableFileSystem().contents(of: path, limit: 8192)
            let lock = try StoreLock(path)
            try lock.keepClientsOut(of: path, patient)
            try lock.keepClientsOut(of: path, patient)
            let files = DurableFileSystem().opening(lock.held)
            #expect(try files.contents(of: path, limit: 8192) == bytes)
            #expect(!lock.isAwaited)
            // Another open waits, or fails where it must not wait, and is noticed.
            let error = #expect(throws: DurableFileError.self) {
                try DurableFileSystem().contents(of: path, limit: 8192)
            }
            #expect(error?.number == EWOULDBLOCK)
            #expect(lock.isAwaited)
            lock.admitClients()
            #expect(!lock.isAwaited)
            #expect(try DurableFileSystem().contents(of: path, limit: 8192) == bytes)
            lock.release()
            lock.release()
        }
    }

    @Test func twoLocksDoNotKeepClientsOutTogether() throws {
        try withFolder { folder in
            let path = try store(folder)
            let lock = try StoreLock(path, for: .reading)
            let other = try StoreLock(path, for: .reading)
            #expect(throws: DurableFileError.self) {
                try lock.keepClientsOut(of: path, impatient)
            }
            other.release()
            try lock.keepClientsOut(of: path, patient)
            lock.release()
        }
    }

    /// A program that looked the name up before it changed waits with the old file.
    @Test func whoeverComesTooLateFindsNoDatabase() throws {
        try withFolder { folder in
            let path = try store(folder)
            let next = folder.appending("next")
            try DurableFileSystem().write(noise(4096, seed: 2), to: next)
            let lock = try StoreLock(path)
            try lock.keepClientsOut(of: path, patient)
            let client = try ShellClient(
                "echo here; exec 3<>\"$1\"; head -c 20 <&3; echo; read word", path.description)
            #expect(try client.line() == "here")
            #expect(becomesTrue { lock.isAwaited })
            try lock.keepClientsOut(of: next, impatient)
            try DurableFileSystem().rename(next, to: path, existing: .replace)
            let replaced = lock.handOver(keeping: try FileStatus(of: path).identity)
            let old = try #require(replaced.first)
            #expect(replaced.count == 1 && old.isAwaited && !old.isUnopened())
            // What has the name now is open to all.
            #expect(try DurableFileSystem().contents(of: path, limit: 4096).count == 4096)
            try old.invalidate("old")
            #expect(try client.line() == "replaced by godwit; ")
            #expect(!old.isAwaited && !old.isUnopened())
            #expect(old.users().map(\.process) == [Int64(client.process)])
            try client.end()
            #expect(old.isUnopened())
            old.release()
            lock.release()
        }
    }

    @Test func aReplacedFileThatHasANameIsNotMadeUnusable() throws {
        try withFolder { folder in
            let path = try store(folder)
            let bytes = try DurableFileSystem().contents(of: path, limit: 8192)
            let (next, backup) = (folder.appending("next"), folder.appending("backup"))
            try DurableFileSystem().write(noise(4096, seed: 2), to: next)
            try DurableFileSystem().hardLink(from: path, to: backup)
            let lock = try StoreLock(path)
            try lock.keepClientsOut(of: path, patient)
            try lock.keepClientsOut(of: next, impatient)
            try DurableFileSystem().rename(next, to: path, existing: .replace)
            let replaced = lock.handOver(keeping: try FileStatus(of: path).identity)
            let old = try #require(replaced.first)
            #expect(throws: DurableFileError.self) { try old.invalidate("old") }
            #expect(!old.isAwaited && old.isUnopened())
            old.release()
            old.release()
            #expect(try DurableFileSystem().contents(of: backup, limit: 8192) == bytes)
            lock.release()
        }
    }

    @Test func visibilityIsAskedForWithoutHoldingAnything() throws {
        try withFolder { folder in
            let path = try store(folder)
            #expect(try ClientVisibility(of: path) == .visible)
            let writer = try DurableFileSystem().openForWriting(path)
            #expect(try ClientVisibility(of: path) == .open)
            try writer.close()
            let lock = try StoreLock(path)
            try lock.keepClientsOut(of: path, patient)
            #expect(try ClientVisibility(of: path) == .visible)
            lock.release()
        }
    }

    @Test(arguments: [
        (EACCES, "CAP_LEASE"), (EINVAL, "does not support leases"),
        (EOPNOTSUPP, "does not support leases"),
    ])
    func refusedLeasesHideClients(number: Int32, word: String) {
        guard case .hidden(let reason) = ClientVisibility(leaseResult: -number) else {
            Issue.record("\(number) was taken for a lease")
            return
        }
        #expect(reason.contains(word))
        #expect(ClientVisibility(leaseResult: -EAGAIN) == nil)
    }
}
