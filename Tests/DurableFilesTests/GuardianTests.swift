import CLinux
import Foundation
import Glibc
import StoreLocks
import Synchronization
import TestSupport
import Testing

@testable import DurableFiles

/// A process that dies between a rename and the end of its swap, while a program waits in open(2)
/// for the file that has lost the name.
@Suite struct GuardianTests {
    /// Runs a body in a folder with the file of a store and the one that replaces it.
    private func withStore(_ body: (FilePath) async throws -> Void) async throws {
        let folder = FilePath("/tmp/godwit-test-\(UUID().uuidString)")
        let files = DurableFileSystem()
        try files.makeFolders(folder)
        for name in ["store", "new"] as [FilePath] {
            try files.publish(Array(repeating: 1, count: 8192), to: folder.appending(name))
        }
        try await body(folder)
        try files.removeTree(folder)
    }

    /// Whether SQLite's lock bytes of an open file can be had for reading.
    private static func canRead(_ descriptor: Int32) -> Bool {
        let start: Int64 = 0x4000_0000
        guard clinux_lock_range(descriptor, start, 512, 0) == 0 else { return false }
        _ = clinux_unlock_range(descriptor, start, 512)
        return true
    }

    /// Waits until a condition holds, as long as a guardian may take.
    private static func wait(until condition: () -> Bool) -> Bool {
        for _ in 0..<2000 {
            if condition() { return true }
            ReplacedFile.pause(5)
        }
        return false
    }

    /// What a process does before it is killed.
    private enum Way: String, Codable {
        case renames, unchanged
        /// It gives the name to another file, and back once a program waits for that.
        case givesBack
    }

    /// Keeps clients out, renames once a program waits for the old file, and is killed there.
    private static func swapAndDie(in folder: FilePath, _ way: Way) throws {
        FileGuardian.enable()
        let (store, new) = (folder.appending("store"), folder.appending("new"))
        let lock = try StoreLock(store)
        try lock.keepClientsOut(of: store)
        try lock.keepClientsOut(of: new)
        let files = [try FileStatus(of: store).identity, try FileStatus(of: new).identity]
        let held = try HeldFolder(folder)
        if way == .givesBack { _ = try held.exchange("store", with: held, "new") }
        try DurableFileSystem().publish([], to: folder.appending("ready"))
        guard wait(until: { lock.isAwaited }) else { return }
        switch way {
        case .unchanged: break
        case .renames:
            try DurableFileSystem().linkWithoutSync(from: store, to: folder.appending("backup"))
            guard rename(new.description, store.description) == 0 else { return }
        case .givesBack:
            _ = try held.exchange("store", with: held, "new")
            lock.abandon(files, unless: files[0])
        }
        kill(getpid(), SIGKILL)
    }

    /// A client's descriptor of the store, which it got after that process had died.
    private func lateClient(in folder: FilePath, _ way: Way) async throws -> Int32 {
        let shared = Shared()
        let thread = Thread { [folder] in
            let ready = folder.appending("ready").description
            guard GuardianTests.wait(until: { access(ready, F_OK) == 0 }) else { return }
            // Waits in the kernel until the process has died.
            shared.value.withLock { $0 = open(folder.appending("store").description, O_RDWR) }
        }
        thread.start()
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = folder.description as String, way = way as Way] in
            try GuardianTests.swapAndDie(in: FilePath(place), way)
        }
        #expect(Self.wait { shared.value.withLock { $0 } >= 0 })
        return shared.value.withLock { $0 }
    }

    /// A client cannot use its file while what has the store's name is free; closes the client's.
    private static func expectLocked(_ late: Int32, beside store: FilePath) {
        let live = open(store.description, O_RDWR)
        #expect(wait { canRead(live) }, "what has the name is free")
        close(live)
        for _ in 0..<20 {
            #expect(!canRead(late))
            ReplacedFile.pause(20)
        }
        close(late)
    }

    @Test func aLateClientStaysLockedOut() async throws {
        try await withStore { folder in
            let late = try await lateClient(in: folder, .renames)
            Self.expectLocked(late, beside: folder.appending("store"))
            // Now nothing holds the backup any more.
            let backup = folder.appending("backup")
            #expect(
                Self.wait {
                    let again = open(backup.description, O_RDWR)
                    defer { close(again) }
                    return Self.canRead(again)
                })
        }
    }

    /// A swap that fails gives the store's name back to the file that a program had put there.
    @Test func aClientOfAFileThatHadTheNameForAMomentStaysLockedOut() async throws {
        try await withStore { folder in
            let late = try await lateClient(in: folder, .givesBack)
            Self.expectLocked(late, beside: folder.appending("store"))
        }
    }

    /// Two indexes that are kept for one log do not wait for each other.
    @Test func indexesOfOneLogAreLetGo() async throws {
        try await withStore { folder in
            await #expect(processExitsWith: .success) {
                [place = folder.description as String] in
                FileGuardian.enable()
                let folder = FilePath(place)
                let (files, log) = (DurableFileSystem(), folder.appending("log"))
                try files.create(log).close()
                let program = open(log.description, O_RDWR)
                for name in ["first", "second"] {
                    let index = try files.create(folder.appending(FilePath(name)))
                    try index.lockLogIndex()
                    index.keepLogIndex(until: try files.openForReading(log))
                }
                for name in ["first", "second"] {
                    #expect(!GuardianTests.isFree(folder.appending(FilePath(name))))
                }
                close(program)
                for name in ["first", "second"] {
                    let index = folder.appending(FilePath(name))
                    #expect(GuardianTests.wait(until: { GuardianTests.isFree(index) }))
                }
            }
        }
    }

    private static func isFree(_ index: FilePath) -> Bool {
        do {
            let file = try DurableFileSystem().openForWriting(index)
            try file.lockLogIndex()
            try file.close()
            return true
        } catch {
            return false
        }
    }

    @Test func aClientOfTheUnchangedStoreIsLetIn() async throws {
        try await withStore { folder in
            let client = try await lateClient(in: folder, .unchanged)
            #expect(Self.wait { Self.canRead(client) })
            close(client)
        }
    }
}

/// A value that a thread and a test share.
private final class Shared: Sendable {
    let value = Mutex<Int32>(-1)
}
