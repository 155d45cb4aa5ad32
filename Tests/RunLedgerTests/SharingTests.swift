import DurableFiles
import Foundation
import GRDB
import Jobs
import RunLedger
import Synchronization
import TestSupport
import Testing
import Threads

/// What the owner and readers of one ledger do to each other.
@Suite struct SharingTests {
    private let files = DurableFileSystem()

    private func names(_ folder: FilePath) throws -> Set<String> {
        Set(try files.names(in: folder).map(\.description))
    }

    private func log(of ledger: Ledger) -> FilePath { ledger.path.adding(suffix: "-wal") }

    /// A page of a mapping that is written where a quota or a copying file system has no room
    /// ends the process.
    @Test func nothingIsMapped() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 3))
            let reader = try Ledger(reading: folder)
            #expect(try reader.storeCounts(of: "r1") == [.waiting: 3])
            #expect(
                try names(folder) == ["godwit.lock", "ledger.sqlite", "ledger.sqlite-wal"])
            let maps = try String(contentsOfFile: "/proc/self/maps", encoding: .utf8)
            #expect(!maps.contains(folder.description))
            try reader.close()
            try ledger.close()
        }
    }

    /// An index that an earlier version shared goes.
    @Test func sharedIndexesOfOldAreRemoved() throws {
        try withFolder { folder in
            try openLedger(folder).close()
            try files.publish(
                [UInt8](repeating: 7, count: 32768), to: folder.appending("ledger.sqlite-shm"))
            let ledger = try openLedger(folder)
            #expect(try !names(folder).contains("ledger.sqlite-shm"))
            try ledger.close()
        }
    }

    @Test func readersLeaveNoTrace() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 3))
            let bytes = try files.contents(of: log(of: ledger), limit: 1 << 24)
            for _ in 0..<3 {
                let reader = try Ledger(reading: folder)
                #expect(try reader.runs().count == 1)
                try reader.close()
            }
            #expect(try files.contents(of: log(of: ledger), limit: 1 << 24) == bytes)
            try ledger.close()
            let reader = try Ledger(reading: folder)
            #expect(try reader.runs().count == 1)
            #expect(try names(folder) == ["godwit.lock", "ledger.sqlite"])
            try reader.close()
            #expect(try names(folder) == ["godwit.lock", "ledger.sqlite"])
        }
    }

    /// What a killed owner leaves can be read without being changed.
    @Test func leftLogsAreRead() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder.appending("one"))
            try ledger.append(beginning(stores: 3))
            let copy = folder.appending("two")
            try files.makeFolders(copy)
            for name in ["ledger.sqlite", "ledger.sqlite-wal"] {
                let bytes = try files.contents(
                    of: folder.appending("one").appending(FilePath(name)), limit: 1 << 24)
                try files.publish(bytes, to: copy.appending(FilePath(name)))
            }
            try ledger.close()
            let before = try names(copy)
            let reader = try Ledger(reading: copy)
            #expect(try reader.storeCounts(of: "r1") == [.waiting: 3])
            try reader.close()
            #expect(try names(copy) == before)
            // Beside the first one it would be a copy, which no one may own.
            try files.removeTree(folder.appending("one"))
            let owner = try openLedger(copy)
            #expect(try owner.storeCounts(of: "r1") == [.waiting: 3])
            #expect(try FileStatus(of: log(of: owner)).size == 0)
            try owner.close()
        }
    }

    /// A ledger whose making was cut short is none, and reading it tidies nothing up.
    @Test func whatIsHardlyBegunIsMissing() throws {
        try withFolder { folder in
            for name in ["ledger.sqlite", "ledger.sqlite-journal", "ledger.sqlite-wal"] {
                try files.publish(
                    name == "ledger.sqlite" ? [] : [1, 2, 3],
                    to: folder.appending(FilePath(name)))
            }
            let before = try names(folder)
            #expect(try cause { _ = try Ledger(reading: folder) } == .missing)
            #expect(try names(folder) == before)
        }
    }

    /// While a process reads, the log is left alone, and it is moved later.
    @Test func readersHoldCheckpointsUp() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 1))
            let large = note(String(repeating: "x", count: 17 << 20))
            do {
                let lock = try ReadingLock(
                    folder.appending(Ledger.lockName), isRewriting: false)
                try ledger.append([large])
                #expect(try FileStatus(of: log(of: ledger)).size > 17 << 20)
                _ = consume lock
            }
            try ledger.append([large])
            #expect(try FileStatus(of: log(of: ledger)).size == 0)
            try ledger.append([note("small")])
            #expect(try ledger.events(run: "r1").count { $0.kind == "k" } == 3)
            // At the end, too: the log stays, and nothing of it is lost.
            do {
                let lock = try ReadingLock(
                    folder.appending(Ledger.lockName), isRewriting: false)
                try ledger.close()
                #expect(try FileStatus(of: log(of: ledger)).size > 0)
                _ = consume lock
            }
            let reader = try Ledger(reading: folder)
            #expect(try reader.events(run: "r1").count { $0.kind == "k" } == 3)
            try reader.close()
        }
    }

    /// SQLite of other programs finds the ledger locked while its owner works.
    @Test func otherProgramsAreKeptOut() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 1))
            let error = #expect(throws: DatabaseError.self) {
                let queue = try DatabaseQueue(path: ledger.path.description)
                try queue.read { _ = try Int.fetchOne($0, sql: "SELECT count(*) FROM run") }
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            try ledger.close()
            let queue = try DatabaseQueue(path: ledger.path.description)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM run") } == 1)
            try queue.close()
        }
    }

    /// Readers see each call whole or not at all while the log is written, moved and restarted.
    @Test func callsAreSeenWhole() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 1))
            let isOver = Atomic(false)
            let seen = Mutex([Int]())
            let text = String(repeating: "x", count: 300_000)
            _ = try SlotThreads<Void>.map(0..<3, count: 3, name: "share") { thread, _ in
                if thread == 0 {
                    defer { isOver.store(true, ordering: .relaxed) }
                    for _ in 0..<120 { try ledger.append([note(text), note("2"), note("3")]) }
                    return
                }
                let reader = try Ledger(reading: folder)
                var last = 0
                while !isOver.load(ordering: .relaxed) {
                    let count = try reader.events(run: "r1", limit: 1000)
                        .count { $0.kind == "k" }
                    if count % 3 != 0 || count < last { seen.withLock { $0.append(count) } }
                    last = count
                }
                #expect(try reader.events(run: "r1", limit: 1000).count { $0.kind == "k" } == 360)
                try reader.close()
            }
            #expect(seen.withLock { $0 } == [])
            try ledger.close()
        }
    }
}
