import CLinux
import DurableFiles
import Foundation
import StoreLocks
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
            #expect(holder == "another godwit process (pid \(getpid()))")
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
