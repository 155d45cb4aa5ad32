import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import Glibc
import Jobs
import MigrationEngine
import RunLedger
import SafeSQLite
import StateFolders
import StoreForge
import StoreLocks
import Synchronization
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// What lies beside a store that a program puts in place during a swap or a rollback: a log never
/// meets another database than its own.
@Suite struct ReplacedLogTests {
    /// The process ends after an exchange that took out a program's store: what lay beside that
    /// before fits no other file.
    @Test(arguments: [false, true]) func aStoreComesBackWithItsLog(inRollback: Bool) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            if inRollback { #expect(try lab.migrate([store]).counts == [.done: 1]) }
            let other = try lab.forge(
                "other.sqlite", notes: 5, seed: 9, journal: .writeAheadLogWithContent)
            let names = ["", "-wal"].map { (FilePath("\(other)\($0)"), FilePath("\(store)\($0)")) }
            let bytes = try names.map { try lab.files.contents(of: $0.0, limit: 1 << 30) }
            let count = Mutex(0)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    count.withLock { count in
                        if count > 0 { return .error(EIO) }
                        guard point.operation == .rename, point.path == store else { return nil }
                        count += 1
                        for (old, new) in names { #expect(rename("\(old)", "\(new)") == 0) }
                        return nil
                    }
                })
            if inRollback {
                _ = try? lab.rollBack(files: files)
            } else {
                _ = try? lab.migrate([store], files: files)
            }
            #expect(try lab.files.contents(of: store, limit: 1 << 30) != bytes[0])
            if inRollback {
                // The log may as well be the original's: it was written after the swap.
                let refused = try #require(try lab.rollBack().first?.failure).description
                #expect(refused.contains("Copy all three files"))
                let out = try #require(
                    try lab.files.tree(at: lab.data).map(\.path).first {
                        try FileStatus(ofLink: $0).isRegularFile
                            && lab.files.contents(of: $0, limit: 1 << 30) == bytes[0]
                    })
                #expect(refused.contains(out.description))
                #expect(rename("\(out)", "\(store)-mine") == 0)
                #expect(rename("\(names[1].1)", "\(store)-mine-wal") == 0)
                #expect(try lab.rollBack().allSatisfy { $0.failure == nil })
                return
            }
            // It comes back before it is migrated again, which this disk does not let happen.
            let disk = StoppableDisk {
                $0.operation == .makeFolder && "\($0.path)".contains(".godwit-unpublished")
            }
            #expect(throws: RunError.self) { try lab.migrate([store], files: disk.files) }
            let found = try names.map { try lab.files.contents(of: $0.1, limit: 1 << 30) }
            #expect(found == bytes)
        }
    }

    /// A program that replaces the store when the original's log lies beside it already.
    @Test func aLogMeetsNoOtherStore() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let bytes = try lab.files.contents(of: other, limit: 1 << 30)
            let log = StoreLocation(store).companion(.writeAheadLog)
            let isDone = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == .rename, point.path == store else { return nil }
                    isDone.withLock { isDone in
                        guard !isDone,
                            (try? FileStatus.ifPresent(log)?.size).flatMap({ $0 }) ?? 0 > 0
                        else { return }
                        isDone = true
                        #expect(rename("\(other)", "\(store)") == 0)
                        #expect(throws: DatabaseError.self) {
                            try DatabaseQueue(path: store.description).read { database in
                                _ = try String.fetchAll(database, sql: "SELECT ZTITLE FROM ZNOTE")
                            }
                        }
                    }
                    return nil
                })
            #expect(try lab.rollBack(files: files).contains { $0.failure != nil })
            #expect(isDone.withLock { $0 })
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == bytes)
            #expect(try FileStatus.ifPresent(log) == nil)
            let app = try Connection(path: store, mode: .readWrite)
            #expect(try app.texts("SELECT ZTITLE FROM ZNOTE").count == 5)
            try app.close()
        }
    }

    /// The same, and a program has that log open when the original is to come back.
    @Test func aLogThatAProgramMayEmptyDoesNotComeBack() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let log = StoreLocation(store).companion(.writeAheadLog)
            let original = try [store, log].map { try lab.files.contents(of: $0, limit: 1 << 30) }
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let bytes = try lab.files.contents(of: other, limit: 1 << 30)
            let program = Mutex<Int32>(-1)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == .rename, point.path == store else { return nil }
                    program.withLock { program in
                        guard program < 0 else { return }
                        program = open(log.description, O_RDWR)
                        if program >= 0 { #expect(rename("\(other)", "\(store)") == 0) }
                    }
                    return nil
                })
            #expect(try lab.rollBack(files: files).contains { $0.failure != nil })
            #expect(program.withLock { $0 } >= 0)
            let refused = try lab.rollBack(discardsChanges: true).first?.failure?.description
            #expect(try #require(refused).contains("open"))
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == bytes)
            #expect(close(program.withLock { $0 }) == 0)
            #expect(try lab.rollBack(discardsChanges: true).map { $0.failure == nil } == [true])
            #expect(
                try [store, log].map { try lab.files.contents(of: $0, limit: 1 << 30) } == original)
        }
    }

    /// The same, and the program tries again and again, also when the log is withdrawn.
    @Test func aWithdrawnLogIsReadByNoProgramThatWaits() async {
        await #expect(processExitsWith: .success) {
            FileGuardian.enable()
            try ReplacedLogTests.withdrawBesideAProgramThatWaits()
        }
    }

    private static func withdrawBesideAProgramThatWaits() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let log = StoreLocation(store).companion(.writeAheadLog)
            let program = WaitingProgram(store)
            let isDone = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == .rename, point.path == store,
                        (try? FileStatus.ifPresent(log)?.size).flatMap({ $0 }) ?? 0 > 0,
                        isDone.withLock({ isDone in
                            defer { isDone = true }
                            return !isDone
                        })
                    else { return nil }
                    #expect(rename("\(other)", "\(store)") == 0)
                    program.start()
                    return nil
                })
            #expect(try lab.rollBack(files: files).contains { $0.failure != nil })
            #expect(isDone.withLock { $0 })
            #expect(try FileStatus.ifPresent(log) == nil)
            #expect(program.finish() == .SQLITE_PROTOCOL)
            var patient = Configuration()
            patient.busyMode = .timeout(20)
            let queue = try DatabaseQueue(path: store.description, configuration: patient)
            let titles = try queue.read {
                try String.fetchAll($0, sql: "SELECT ZTITLE FROM ZNOTE")
            }
            #expect(titles.count == 5)
        }
    }

    enum Ending: CaseIterable { case cancel, prune }

    /// The process ends when it has moved the log of a program's store aside, and none resumes it.
    @Test(arguments: Ending.allCases) func aLogThatWasMovedAsideComesBack(_ ending: Ending) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let isSwapped = ending != .cancel
            if isSwapped { #expect(try lab.migrate([store]).counts == [.done: 1]) }
            let names = try replacement(lab, of: store)
            let bytes = try names.map { try lab.files.contents(of: $0.0, limit: 1 << 30) }
            let files = stoppingAtAside(names)
            if isSwapped {
                // As a program leaves it that only looked.
                try lab.files.create(names[1].1).close()
                _ = try? lab.rollBack(files: files)
            } else {
                _ = try? lab.migrate([store], files: files)
            }
            #expect(try FileStatus.ifPresent(names[1].1) == nil)
            switch ending {
            case .cancel:
                _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            case .prune: _ = try lab.prune(removes: true)
            }
            let found = try names.map { try lab.files.contents(of: $0.1, limit: 1 << 30) }
            #expect(found == bytes)
        }
    }

    /// The same, and the user restores another store meanwhile, which has no log.
    @Test func aLogThatWasMovedAsideMeetsNoOtherStore() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let names = try replacement(lab, of: store)
            let log = try lab.files.contents(of: names[1].0, limit: 1 << 30)
            _ = try? lab.migrate([store], files: stoppingAtAside(names))
            let restored = try lab.forge("restored.sqlite", notes: 7, seed: 4)
            let bytes = try lab.files.contents(of: restored, limit: 1 << 30)
            #expect(rename("\(restored)", "\(store)") == 0)
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == bytes)
            #expect(try FileStatus.ifPresent(names[1].1) == nil)
            let kept = try lab.files.names(in: lab.data).filter {
                $0.description.hasPrefix(".godwit-kept-") && $0.description.hasSuffix("-wal")
            }
            #expect(
                try kept.map { try lab.files.contents(of: lab.data.appending($0), limit: 1 << 30) }
                    == [log])
        }
    }

    /// A program replaces a store whose swap was stopped after its backup: the log of the old
    /// original must not lie beside the new one in the backup.
    @Test func aBackupHasNoOtherStoresLog() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let isEnded = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    isEnded.withLock { isEnded in
                        if point.operation == .rename, point.path == store { isEnded = true }
                        return isEnded ? .error(EIO) : nil
                    }
                })
            _ = try? lab.migrate([store], files: files)
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let bytes = try lab.files.contents(of: other, limit: 1 << 30)
            #expect(rename("\(other)", "\(store)") == 0)
            #expect(unlink("\(store)-wal") == 0 || errno == ENOENT)
            var counts = try lab.migrate([store]).counts
            if counts != [.done: 1] { counts = try lab.migrate([store]).counts }
            #expect(counts == [.done: 1])
            let mains = try lab.files.tree(at: lab.data).map(\.path).filter { path in
                guard path.lastComponent == store.lastComponent, path != store else { return false }
                return try lab.files.contents(of: path, limit: 1 << 30) == bytes
            }
            let main = try #require(mains.first)
            #expect(try FileStatus.ifPresent(StoreLocation(main).companion(.writeAheadLog)) == nil)
            #expect(try lab.prune(removes: true).refused.isEmpty)
        }
    }

    /// Names of another store with a log, and those under which a program puts it in place.
    private func replacement(_ lab: RunLab, of store: FilePath) throws -> [(FilePath, FilePath)] {
        let other = try lab.forge(
            "other.sqlite", notes: 5, seed: 9, journal: .writeAheadLogWithContent)
        return ["", "-wal"].map { (FilePath("\(other)\($0)"), FilePath("\(store)\($0)")) }
    }

    /// Puts another store in place just before a log is moved aside, and ends just after that.
    private func stoppingAtAside(_ names: [(FilePath, FilePath)]) -> DurableFileSystem {
        let seen = Mutex(0)
        return DurableFileSystem(
            faults: FaultPoints { point in
                seen.withLock { seen in
                    if seen > 1 { return .error(EIO) }
                    guard point.operation == .rename,
                        point.path.lastComponent.description.hasPrefix(".godwit-aside-")
                    else { return nil }
                    seen += 1
                    if seen == 1 {
                        for (old, new) in names { #expect(rename("\(old)", "\(new)") == 0) }
                        return nil
                    }
                    return .error(EIO)
                }
            })
    }
}

/// A program that reads a store as soon as SQLite lets it, which tries for ten seconds.
private final class WaitingProgram: Sendable {
    private let store: FilePath
    private let ended = DispatchSemaphore(value: 0)
    private let result = Mutex<ResultCode?>(nil)

    init(_ store: FilePath) { self.store = store }

    /// Returns once the program has opened the store's log.
    func start() {
        Thread { self.read() }.start()
        let log = StoreLocation(store).companion(.writeAheadLog).description
        while !opened().contains(log), result.withLock({ $0 }) == nil { ReplacedFile.pause(1) }
    }

    /// What it ended with.
    func finish() -> ResultCode? {
        ended.wait()
        return result.withLock { $0 }
    }

    private func read() {
        do {
            let queue = try DatabaseQueue(path: store.description)
            _ = try queue.read { try String.fetchAll($0, sql: "SELECT ZTITLE FROM ZNOTE") }
            result.withLock { $0 = .SQLITE_OK }
        } catch {
            result.withLock { $0 = (error as? DatabaseError)?.resultCode ?? .SQLITE_ERROR }
        }
        ended.signal()
    }

    /// The paths of the files that this process has open.
    private func opened() -> [String] {
        let folder = "/proc/self/fd"
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
        return (names ?? []).compactMap {
            try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
        }
    }
}
