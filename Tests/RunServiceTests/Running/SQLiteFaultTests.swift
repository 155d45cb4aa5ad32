import CFaultVFS
import CommandSupport
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import RunLedger
import RunReports
import SafeSQLite
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import StoreRuns

/// The shim between SQLite and the system, which all connections of the process go through.
enum SQLiteFaults {
    /// Puts it there, once; SQLite is configured by the first connection, which must come before.
    static let isInstalled: Bool = {
        do {
            try Connection(path: FilePath(""), mode: .memory).close()
            return cfault_install() == 0
        } catch {
            return false
        }
    }()

    /// A way in which an action fails.
    struct Way: CustomTestStringConvertible, Sendable {
        let name: String
        let operation: cfault_operation
        /// An extended result code of SQLite.
        let code: Int32
        let number: Int32
        var writesHalf = false

        var testDescription: String { name }
        var isNoRoom: Bool { number == ENOSPC || number == EDQUOT }

        func fault(at place: Int) -> cfault_fault {
            cfault_fault(
                operations: Int32(operation.rawValue), place: place, code: code, number: number,
                writes_half: writesHalf ? 1 : 0)
        }
    }

    // Codes as in sqlite3.h: 10 is SQLITE_IOERR, 13 SQLITE_FULL, 14 SQLITE_CANTOPEN.
    static let ways = [
        Way(name: "write: EIO", operation: CFAULT_WRITE, code: 10 | 3 << 8, number: EIO),
        Way(name: "write: ENOSPC", operation: CFAULT_WRITE, code: 13, number: ENOSPC),
        Way(name: "write: EDQUOT", operation: CFAULT_WRITE, code: 10 | 3 << 8, number: EDQUOT),
        Way(
            name: "half a write: ENOSPC", operation: CFAULT_WRITE, code: 13, number: ENOSPC,
            writesHalf: true),
        Way(
            name: "half a write: EIO", operation: CFAULT_WRITE, code: 10 | 3 << 8, number: EIO,
            writesHalf: true),
        Way(name: "sync: EIO", operation: CFAULT_SYNC, code: 10 | 4 << 8, number: EIO),
        Way(name: "sync: ENOSPC", operation: CFAULT_SYNC, code: 10 | 4 << 8, number: ENOSPC),
        Way(name: "truncate: EIO", operation: CFAULT_TRUNCATE, code: 10 | 6 << 8, number: EIO),
        Way(name: "open: ENOSPC", operation: CFAULT_OPEN, code: 14, number: ENOSPC),
        Way(name: "open: EMFILE", operation: CFAULT_OPEN, code: 14, number: EMFILE),
        Way(name: "delete: EIO", operation: CFAULT_DELETE, code: 10 | 10 << 8, number: EIO),
        Way(name: "map: ENOSPC", operation: CFAULT_MAP, code: 10 | 19 << 8, number: ENOSPC),
    ]

    /// Runs a body while an action on a file in the folder fails.
    ///
    /// - Returns: what the body returns, and how many actions of that kind there were.
    static func with<Result>(
        _ fault: cfault_fault, in folder: FilePath, _ body: () throws -> Result
    ) throws -> (result: Result, count: Int) {
        try #require(isInstalled)
        cfault_begin(folder.description, fault)
        let result: Result
        do {
            result = try body()
        } catch {
            _ = cfault_end()
            throw error
        }
        return (result, cfault_end())
    }
}

extension DiskTests {
    /// Every kind of action of SQLite on the files of a run fails once, at sampled places.
    @Suite("SQLite's own actions that fail") struct SQLiteFaultTests {
        private static let isLong =
            ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] != nil
        private static let samples = isLong ? 400 : 8

        private func reference(
            _ one: CrashTests.Case, _ way: SQLiteFaults.Way
        ) throws -> (old: [String], new: [String], count: Int) {
            var found: (old: [String], new: [String], count: Int)?
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: one.journal)
                let old = try lab.content(store)
                let (ending, count) = try SQLiteFaults.with(way.fault(at: -1), in: lab.folder) {
                    try lab.migrate([store], strategy: one.strategy)
                }
                #expect(ending.counts == [.done: 1])
                found = (old, try lab.content(store), count)
            }
            return try #require(found)
        }

        @Test(arguments: [CrashTests.cases[1], CrashTests.cases[3]], SQLiteFaults.ways)
        func migrationInPlace(_ one: CrashTests.Case, _ way: SQLiteFaults.Way) throws {
            let (old, new, count) = try reference(one, way)
            let step = max(1, count / Self.samples)
            for place in stride(from: count % step, to: count, by: step) {
                try RunLab.run { lab in
                    let store = try lab.forge("a.sqlite", journal: one.journal)
                    var failure: RunError?
                    let (counts, _) = try SQLiteFaults.with(way.fault(at: place), in: lab.folder) {
                        do throws(RunError) {
                            return try lab.migrate([store], strategy: one.strategy).counts
                        } catch {
                            failure = error
                            return [:]
                        }
                    }
                    let between = try lab.content(store)
                    #expect(between == old || between == new, "mixed at \(place)")
                    if let failure {
                        let text = "\(failure)"
                        #expect(text.count > 40 && !text.contains("bug in Godwit"), "\(text)")
                        #expect(CommandStatus(failure) != .bug, "\(text)")
                    }
                    if counts != [.done: 1] {
                        #expect(failure != nil || counts == [.failed: 1], "at \(place): \(counts)")
                        let ending = try goOn(lab, store, one, after: counts)
                        #expect(ending.counts == [.done: 1], "at \(place): \(ending.counts)")
                    }
                    #expect(try lab.content(store) == new, "at \(place)")
                    #expect(try lab.redone() == 0, "at \(place)")
                    let text = failure.map { "\($0)" } ?? "\(counts)"
                    #expect(try lab.strays().isEmpty, "at \(place): \(text)")
                }
            }
        }

        /// The same command; where the run had ended and its store can be gone on with, a replay.
        private func goOn(
            _ lab: RunLab, _ store: FilePath, _ one: CrashTests.Case,
            after counts: [StoreState: Int]
        ) throws -> RunEnding {
            guard counts == [.failed: 1], one.strategy == .partitioned else {
                return try lab.migrate([store], strategy: one.strategy)
            }
            return try lab.replay().ending
        }

        /// A ledger that is opened again holds what it received before a failure, and nothing but
        /// what it received.
        @Test(arguments: SQLiteFaults.ways)
        func ledger(_ way: SQLiteFaults.Way) throws {
            let count = try withTemporaryFolder { folder in
                let path = try DurableFileSystem().resolve(FilePath(folder.path))
                return try SQLiteFaults.with(way.fault(at: -1), in: path) {
                    let ledger = try open(path)
                    _ = try tell(ledger)
                    try ledger.close()
                }.count
            }
            for place in stride(from: 0, to: count, by: Self.isLong ? 1 : 3) {
                try withTemporaryFolder { folder in
                    let path = try DurableFileSystem().resolve(FilePath(folder.path))
                    try fail(way, at: place, path)
                }
            }
        }

        /// What a call returned for does not wait for a checkpoint to be on the disk.
        @Test func everyCommitOfTheLedgerIsSynced() throws {
            let syncs = { (notes: Int) in
                try withTemporaryFolder { folder in
                    let path = try DurableFileSystem().resolve(FilePath(folder.path))
                    let sync = try #require(SQLiteFaults.ways.first { $0.operation == CFAULT_SYNC })
                    return try SQLiteFaults.with(sync.fault(at: -1), in: path) {
                        let ledger = try open(path)
                        try ledger.append([beginning])
                        for number in 0..<notes { try ledger.append([note(number)]) }
                        try ledger.close()
                    }.count
                }
            }
            #expect(try syncs(5) >= syncs(0) + 5)
        }

        private func open(_ folder: FilePath) throws(LedgerError) -> Ledger {
            try Ledger(folder: folder, holder: LockHolder(text: "the tests"))
        }

        private func note(_ number: Int) -> LedgerRecord {
            .note(run: "r1", store: nil, kind: "k", text: "\(number)", at: 1)
        }

        private let beginning = LedgerRecord.runBegan(
            RunRecord(id: "r1", requestDigest: "d", request: "", engine: "1", begunAt: 1))

        /// Appends until something fails; returns how many calls succeeded, and the failure.
        private func tell(_ ledger: Ledger) throws -> (told: Int, failure: LedgerError?) {
            var told = 0
            do throws(LedgerError) {
                for number in 0..<8 {
                    try ledger.append(number == 0 ? [beginning] : [note(number)])
                    told += 1
                }
            } catch {
                return (told, error)
            }
            return (told, nil)
        }

        private func fail(_ way: SQLiteFaults.Way, at place: Int, _ folder: FilePath) throws {
            var told = 0
            var errors: [LedgerError] = []
            _ = try SQLiteFaults.with(way.fault(at: place), in: folder) {
                do {
                    let ledger = try open(folder)
                    let (count, failure) = try tell(ledger)
                    told = count
                    if let failure {
                        errors.append(failure)
                        try goOn(ledger, after: failure, way, told: &told)
                    }
                    try ledger.close()
                } catch let error as LedgerError {
                    errors.append(error)
                }
            }
            for error in errors {
                let text = "\(error)"
                #expect(text.contains("ledger.sqlite") && text.count > 60, "\(text)")
                #expect(error.cause != .bug, "\(text)")
                // Before there is a write-ahead log, a rollback may lose the number of a quota.
                if way.isNoRoom, way.operation == CFAULT_WRITE, !text.contains(" open: ") {
                    #expect(error.isOutOfSpace, "at \(place): \(text)")
                }
            }
            let ledger = try open(folder)
            let notes = try ledger.events(run: "r1").filter { $0.kind == "k" }.map(\.text)
            let all = (1..<8).map(String.init)
            // A call that failed may have been stored, as the last one.
            #expect(notes.count == max(0, told - 1) || notes.count == told, "at \(place)")
            #expect(notes == Array(all.prefix(notes.count)), "at \(place)")
            if told == 0, try ledger.newestRun() == nil { try ledger.append([beginning]) }
            try ledger.append([note(99)])
            try ledger.close()
        }

        /// After a sync that failed nothing is taken any more; where there was no room, the same
        /// call succeeds.
        private func goOn(
            _ ledger: Ledger, after failure: LedgerError, _ way: SQLiteFaults.Way,
            told: inout Int
        ) throws {
            let next = told == 0 ? beginning : note(told)
            if way.operation == CFAULT_SYNC {
                let error = #expect(throws: LedgerError.self) { try ledger.append([next]) }
                #expect("\(try #require(error))".contains("accepts no more records"))
            } else if failure.isOutOfSpace {
                try ledger.append([next])
                told += 1
            }
        }
    }
}
