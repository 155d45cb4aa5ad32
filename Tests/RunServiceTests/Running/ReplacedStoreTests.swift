import DurableFiles
import Foundation
import Glibc
import Jobs
import RunLedger
import SafeSQLite
import StateFolders
import StoreForge
import StoreRuns
import Synchronization
import TestSupport
import Testing

@testable import RunMoves

/// What a program puts in a store's place is never lost.
///
/// No lock and no lease keeps it from doing so.
@Suite struct ReplacedStoreTests {
    /// A program that replaces a store, before and after each change of names that the bits of
    /// `moments` stand for.
    private final class Replacer: Sendable {
        let store: FilePath
        let moments: Int
        /// Whether it gives what it replaces another name first.
        let keepsOld: Bool
        /// The moment at which the process of the swap ends: nothing it does afterwards succeeds.
        let end: Int
        private let text: [UInt8]
        private let seen = Mutex((count: 0, last: [UInt8]?.none))

        init(_ store: FilePath, moments: Int, keepsOld: Bool, end: Int, _ text: [UInt8]) {
            (self.store, self.moments, self.keepsOld, self.text) = (store, moments, keepsOld, text)
            self.end = end
        }

        /// What it put there last.
        var last: [UInt8]? { seen.withLock { $0.last } }

        var files: DurableFileSystem {
            DurableFileSystem(
                faults: FaultPoints { point in
                    if point.operation == .rename, point.path == self.store { self.replace() }
                    return self.seen.withLock { $0.count > self.end } ? .error(EIO) : nil
                })
        }

        private func replace() {
            seen.withLock { seen in
                defer { seen.count += 1 }
                guard moments >> seen.count & 1 == 1 else { return }
                let bytes = text + [UInt8(seen.count)]
                let name = store.description + "-new-\(seen.count)"
                #expect(FileManager.default.createFile(atPath: name, contents: Data(bytes)))
                if keepsOld {
                    #expect(rename(store.description, store.description + "-old") == 0)
                }
                #expect(rename(name, store.description) == 0)
                seen.last = bytes
            }
        }
    }

    private func replacer(
        _ lab: RunLab, _ store: FilePath, _ moments: Int, _ keepsOld: Bool = false,
        end: Int = .max
    ) throws -> Replacer {
        let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
        return Replacer(
            store, moments: moments, keepsOld: keepsOld, end: end,
            try lab.files.contents(of: other, limit: 1 << 30))
    }

    private static let moments = Array(1...31) + [1023]

    @Test(arguments: [ForgeRecipe.Journal.rollback, .writeAheadLog], moments)
    func aSwapKeepsIt(journal: ForgeRecipe.Journal, moments: Int) throws {
        for keepsOld in [false, true] {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: journal)
                let program = try replacer(lab, store, moments, keepsOld)
                let ending = try lab.migrate([store], files: program.files)
                guard let last = program.last else {
                    #expect(ending.counts == [.done: 1])
                    return
                }
                #expect(try lab.files.contents(of: store, limit: 1 << 30) == last)
                // What the next command does with what was left leaves it alone, too.
                _ = try lab.migrate([store])
                #expect(try lab.files.contents(of: store, limit: 1 << 30) == last)
                #expect(ending.counts == [.failed: 1])
            }
        }
    }

    @Test(arguments: moments, [false, true])
    func aRollbackKeepsIt(moments: Int, keepsOld: Bool) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let program = try replacer(lab, store, moments, keepsOld)
            let changes = try lab.rollBack(files: program.files)
            guard let last = program.last else {
                #expect(changes.allSatisfy { $0.failure == nil })
                return
            }
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == last)
            #expect(changes.contains { $0.failure != nil })
            #expect(try lab.rollBack().contains { $0.failure != nil })
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == last)
        }
    }

    /// The process ends between the exchange of names and the look at them: what the program put
    /// there has a name of the run's then.
    @Test func aSwapThatWasStoppedKeepsIt() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let program = try replacer(lab, store, 1, end: 1)
            _ = try? lab.migrate([store], files: program.files)
            let last = try #require(program.last)
            #expect(try lab.files.contents(of: store, limit: 1 << 30) != last)
            #expect(try lab.rollBack().contains { $0.failure != nil })
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == last)
        }
    }

    @Test func aRollbackThatWasStoppedKeepsIt() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let program = try replacer(lab, store, 1, end: 1)
            _ = try? lab.rollBack(files: program.files)
            let last = try #require(program.last)
            #expect(try lab.files.contents(of: store, limit: 1 << 30) != last)
            // Neither is it removed with the backup.
            _ = try PruneRun(
                RunSelection(state: lab.state, run: "r1"), environment: lab.environment()
            ).run(removes: true)
            #expect(try lab.rollBack().contains { $0.failure != nil })
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == last)
        }
    }

    /// The process ends between the exchange of names and the look at them, and another program
    /// writes to the result: both are kept.
    @Test func whatIsWrittenAfterAStopIsKeptToo() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let program = try replacer(lab, store, 1, end: 1)
            _ = try? lab.migrate([store], files: program.files)
            let last = try #require(program.last)
            let app = try Connection(path: store, mode: .readWrite)
            try app.execute("UPDATE ZNOTE SET ZTITLE = 'written since'")
            try app.close()
            for _ in 0..<2 { _ = try lab.migrate([store]) }
            #expect(try titles(in: store) == ["written since"])
            #expect(
                try kept(beside: store).map { try lab.files.contents(of: $0, limit: 1 << 30) } == [
                    last
                ])
        }
    }

    /// The process ends after its exchange, before that is recorded, and a program replaces it all.
    ///
    /// The run resumes with what is there, and the original stays.
    @Test func aRunGoesOnAfterAStopAndAReplacement() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let original = try lab.files.contents(of: store, limit: 1 << 30)
            let program = try replacer(lab, store, 0, end: 1)
            _ = try? lab.migrate([store], files: program.files)
            let other = try lab.forge("another.sqlite", notes: 5, seed: 9)
            #expect(rename(other.description, store.description) == 0)
            let told = try lab.migrate([store])
            #expect(told.counts == [.failed: 1])
            #expect(try lab.replay().ending.counts == [.done: 1])
            #expect(
                try kept(beside: store).map { try lab.files.contents(of: $0, limit: 1 << 30) } == [
                    original
                ])
        }
    }

    /// A store that is empty when a rollback begins, and is written before it looks.
    @Test func aRollbackKeepsAStoreThatIsMadeAnew() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            #expect(try lab.migrate([store]).counts == [.done: 1])
            #expect(unlink(store.description) == 0)
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let bytes = try lab.files.contents(of: other, limit: 1 << 30)
            let isMade = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    // The rollback has found no store, and locks its own stand-in.
                    guard point.operation == .lock, point.path == store else { return nil }
                    isMade.withLock { isMade in
                        if !isMade { #expect(rename(other.description, store.description) == 0) }
                        isMade = true
                    }
                    return nil
                })
            #expect(try lab.rollBack(files: files).contains { $0.failure != nil })
            #expect(isMade.withLock { $0 })
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == bytes)
        }
    }

    /// A program replaces a store and writes to a log of its own while files beside the store go.
    @Test(arguments: [false, true])
    func aLogOfItsOwnIsKept(inRollback: Bool) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLog)
            let log = FilePath("\(store)-wal")
            let bytes = try lab.files.contents(of: lab.forge("other.sqlite"), limit: 1 << 30)
            let isDone = Mutex(false)
            @Sendable func replace() {
                isDone.withLock { isDone in
                    guard !isDone else { return }
                    isDone = true
                    let new = FilePath("\(store)-new")
                    #expect(
                        FileManager.default.createFile(
                            atPath: "\(new)", contents: Data(bytes)))
                    #expect(rename("\(new)", "\(store)") == 0)
                    _ = unlink("\(log)")
                    #expect(
                        FileManager.default.createFile(
                            atPath: "\(log)", contents: Data("a log".utf8)))
                }
            }
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    let isAside = "\(point.path)".contains(".godwit-aside-") || point.path == log
                    if point.operation == .rename, isAside { replace() }
                    return nil
                })
            if inRollback {
                #expect(try lab.migrate([store]).counts == [.done: 1])
                // What a program with a log that it keeps leaves behind.
                #expect(
                    FileManager.default.createFile(atPath: "\(log)", contents: Data()))
                #expect(try lab.rollBack(files: files).contains { $0.failure != nil })
            } else {
                #expect(
                    FileManager.default.createFile(atPath: "\(log)", contents: Data()))
                #expect(try lab.migrate([store], files: files).counts == [.failed: 1])
            }
            #expect(isDone.withLock { $0 })
            #expect(try lab.files.contents(of: store, limit: 1 << 30) == bytes)
            #expect(try lab.files.contents(of: log, limit: 1 << 30) == Array("a log".utf8))
        }
    }

    /// What lies beside a program's store is not taken for what a rollback put there: neither an
    /// empty log, nor one that holds the same as the original's.
    @Test(arguments: [ForgeRecipe.Journal.writeAheadLog, .writeAheadLogWithContent])
    func aRefusedRollbackLeavesALog(journal: ForgeRecipe.Journal) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: journal)
            let log = FilePath("\(store)-wal")
            if journal == .writeAheadLog {
                #expect(FileManager.default.createFile(atPath: "\(log)", contents: Data()))
            }
            let held = try lab.files.contents(of: log, limit: 1 << 30)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let isDone = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == .rename, point.path == store else { return nil }
                    isDone.withLock { isDone in
                        guard !isDone else { return }
                        isDone = true
                        #expect(rename("\(other)", "\(store)") == 0)
                        #expect(
                            FileManager.default.createFile(
                                atPath: "\(log)-new", contents: Data(held)))
                        #expect(rename("\(log)-new", "\(log)") == 0)
                    }
                    return nil
                })
            #expect(try lab.rollBack(files: files).contains { $0.failure != nil })
            #expect(isDone.withLock { $0 })
            let identity = try FileStatus(of: log).identity
            #expect(try lab.rollBack().contains { $0.failure != nil })
            #expect(try FileStatus(of: log).identity == identity)
            #expect(try lab.files.contents(of: log, limit: 1 << 30) == held)
        }
    }

    /// The process ends when a log of a program has the name that ours get while they are removed.
    @Test func aLogComesBackAfterAStop() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLog)
            let log = FilePath("\(store)-wal")
            #expect(FileManager.default.createFile(atPath: "\(log)", contents: Data()))
            let other = try lab.forge("other.sqlite", notes: 5, seed: 9)
            let isDone = Mutex(false)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    isDone.withLock { isDone in
                        if isDone { return .error(EIO) }
                        guard point.operation == .rename,
                            "\(point.path)".contains(".godwit-aside-") || point.path == log
                        else { return nil }
                        isDone = true
                        #expect(rename("\(other)", "\(store)") == 0)
                        let text = Data("a log".utf8)
                        #expect(
                            FileManager.default.createFile(atPath: "\(log)-new", contents: text))
                        #expect(rename("\(log)-new", "\(log)") == 0)
                        return nil
                    }
                })
            _ = try? lab.migrate([store], files: files)
            #expect(isDone.withLock { $0 })
            #expect(try FileStatus.ifPresent(log) == nil)
            _ = try? lab.migrate([store])
            #expect(try lab.files.contents(of: log, limit: 1 << 30) == Array("a log".utf8))
        }
    }

    /// A program puts a link in the place of a store whose swap was stopped.
    @Test func aLinkInAStoresPlaceStopsNoOtherRollback() throws {
        try RunLab.run { lab in
            let stores = try ["a.sqlite", "b.sqlite"].map { try lab.forge($0) }
            let before = try lab.content(stores[0])
            let program = try replacer(lab, stores[1], 0, end: 1)
            _ = try? lab.migrate(stores, files: program.files) { $0.slots = 1 }
            #expect(try lab.content(stores[0]) != before)
            #expect(unlink(stores[1].description) == 0)
            #expect(symlink("other.sqlite", stores[1].description) == 0)
            let changes = try lab.rollBack()
            #expect(changes.contains { $0.path == stores[0] && $0.failure == nil })
            #expect(try lab.content(stores[0]) == before)
            #expect(try FileStatus(ofLink: stores[1]).isSymbolicLink)
        }
    }

    private func titles(in store: FilePath) throws -> Set<String> {
        let connection = try Connection(path: store, mode: .readWrite)
        var found: Set<String> = []
        let rows = try connection.prepare("SELECT DISTINCT ZTITLE FROM ZNOTE")
        while try rows.step() { found.insert(rows.text(0) ?? "") }
        return found
    }

    /// Files that were moved aside.
    private func kept(beside store: FilePath) throws -> [FilePath] {
        try DurableFileSystem().names(in: store.parent)
            .filter { $0.description.hasPrefix(".godwit-kept-") }
            .map { store.parent.appending($0) }
    }
}
