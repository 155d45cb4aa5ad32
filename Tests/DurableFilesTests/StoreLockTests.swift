import CLinux
import DurableFiles
import Foundation
import TestSupport
import Testing

@Suite struct StoreLockTests {
    private func store(_ folder: FilePath, _ name: FilePath = "store") throws -> FilePath {
        let path = folder.appending(name)
        try DurableFileSystem().write(noise(4096, seed: 1), to: path)
        return path
    }

    @Test func theSecondRunIsToldOfTheFirst() throws {
        try withFolder { folder in
            let path = try store(folder)
            let first = try StoreLock(path)
            let error = #expect(throws: DurableFileError.self) { try StoreLock(path) }
            guard case .lockHeld(path, let holder) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(holder == "another run of godwit (pid \(getpid()))")
            first.release()
            first.release()
            let second = try StoreLock(path)
            second.release()
        }
    }

    @Test func readersShareAStoreAndKeepAnInPlaceRunAway() throws {
        try withFolder { folder in
            let path = try store(folder)
            let first = try StoreLock(path, for: .reading)
            let second = try StoreLock(path, for: .reading)
            #expect(throws: DurableFileError.self) { try StoreLock(path, for: .replacing) }
            first.release()
            second.release()
            let owner = try StoreLock(path, for: .replacing)
            #expect(throws: DurableFileError.self) { try StoreLock(path, for: .reading) }
            owner.release()
        }
    }

    @Test func theLockBelongsToTheFileAndIsCarriedToItsSuccessor() throws {
        try withFolder { folder in
            let (path, next) = (try store(folder), try store(folder, "next"))
            let lock = try StoreLock(path)
            try lock.cover(next)
            try lock.cover(next)
            try DurableFileSystem().rename(next, to: path, existing: .replace)
            #expect(throws: DurableFileError.self) { try StoreLock(path) }
            lock.release()
            _ = try StoreLock(path)
        }
    }

    @Test func aFileThatMayOnlyBeReadIsLocked() throws {
        try withFolder { folder in
            let path = try store(folder)
            expectSuccess(path) { chmod($0, 0o400) }
            let lock = try StoreLock(path)
            #expect(throws: DurableFileError.self) { try StoreLock(path) }
            lock.release()
        }
    }

    /// A name that gets another file between opening and locking.
    @Test func theFileBehindTheNameIsTheOneLocked() throws {
        try withFolder { folder in
            let (path, next) = (try store(folder), try store(folder, "next"))
            let files = DurableFileSystem()
            let lock = try StoreLock(
                path,
                faults: FaultPoints { point in
                    guard point.operation == .lock, point.moment == .before else { return nil }
                    do {
                        if try FileStatus.ifPresent(next) != nil {
                            try files.rename(next, to: path, existing: .replace)
                        }
                        return nil
                    } catch {
                        return .error(EIO)
                    }
                })
            #expect(try FileStatus.ifPresent(next) == nil)
            #expect(throws: DurableFileError.self) { try StoreLock(path) }
            lock.release()
        }
    }
}

@Suite struct SQLiteLocksTests {
    private func store(_ folder: FilePath) throws -> FilePath {
        let path = folder.appending("store")
        try DurableFileSystem().write(noise(4096, seed: 1), to: path)
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

    @Test func readersAreSeenAndRefused() throws {
        try withFolder { folder in
            let path = try store(folder)
            #expect(try SQLiteLocks.usage(of: path) == .unused)
            let reader = try DurableFileSystem().openForWriting(path)
            // A SHARED lock is a read lock on the shared range (SQLite's os.h). Looking at the
            // file through another descriptor would drop it, so it is taken anew.
            lock(reader, F_RDLCK, at: 0x4000_0002, 510)
            let error = #expect(throws: DurableFileError.self) {
                try SQLiteLocks().cover(path)
            }
            guard case .lockHeld(path, let holder) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(holder == "a process that has it open (pid \(getpid()))")
            lock(reader, F_RDLCK, at: 0x4000_0002, 510)
            #expect(try SQLiteLocks.usage(of: path) == .open(process: Int64(getpid())))
            lock(reader, F_WRLCK, at: 0x4000_0001, 1)
            #expect(try SQLiteLocks.usage(of: path) == .writing(process: Int64(getpid())))
            // Held by a connection of a log, through the index.
            try DurableFileSystem().write(noise(32_768, seed: 2), to: path.adding(suffix: "-shm"))
            let memory = try DurableFileSystem().openForWriting(path.adding(suffix: "-shm"))
            lock(memory, F_WRLCK, at: 120, 1)
            #expect(try SQLiteLocks.usage(of: path) == .writing(process: Int64(getpid())))
            try memory.close()
            try reader.close()
            let locks = SQLiteLocks()
            try locks.cover(path)
            locks.release()
        }
    }

    @Test func heldLocksKeepOthersOutUntilTheyAreReleased() throws {
        try withFolder { folder in
            let path = try store(folder)
            let locks = SQLiteLocks()
            try locks.cover(path)
            try locks.cover(path)
            #expect(try SQLiteLocks.usage(of: path) == .writing(process: nil))
            #expect(throws: DurableFileError.self) { try SQLiteLocks().cover(path) }
            locks.release()
            locks.release()
            #expect(try SQLiteLocks.usage(of: path) == .unused)
        }
    }
}
