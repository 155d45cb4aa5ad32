import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import SafeSQLite
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// Rollbacks and swaps that meet an error, or another program, beside a log or a journal.
@Suite struct RollbackFailureTests {
    private struct Stop: Error {}

    private static let shapes = [StoreShape.fullLog, .hotJournal, .withoutLinks]

    private func prepared(
        _ lab: SwapLab, _ swap: SwapPlan, _ lock: StoreLock
    ) throws -> RollbackPlan {
        try Rollback(files: lab.files()).prepare(swap, discardsChanges: false, under: lock)
    }

    /// The original keeps its log where a later step fails; it may have come back as a copy.
    @Test(arguments: shapes) func anOriginalKeepsItsLog(shape: StoreShape) throws {
        try withSwapLab(shape) { lab, _ in
            let old = try lab.clientView()
            let swap = try lab.swap()
            let lock = try StoreLock(lab.store)
            let plan = try prepared(lab, swap, lock)
            #expect(throws: Stop.self) {
                try Rollback(files: lab.files()).run(plan, under: lock) { index, moment in
                    if case .restoreMain = plan.steps[index], moment == .done { throw Stop() }
                }
            }
            #expect(try lab.clientView() == old)
            try Rollback(files: lab.files()).run(plan, under: lock)
            #expect(try lab.clientView() == old)
        }
    }

    /// A program replaces the store between the log's return and the main file's.
    @Test(arguments: shapes) func aReplacementGetsNoLogOfTheOriginal(shape: StoreShape) throws {
        try withSwapLab(shape) { lab, _ in
            let swap = try lab.swap()
            let lock = try StoreLock(lab.store)
            let plan = try prepared(lab, swap, lock)
            let new = lab.folder.appending("data/new")
            try SwapLab.write("of a program", to: new)
            #expect(throws: SwapError.self) {
                try Rollback(files: lab.files()).run(plan, under: lock) { index, moment in
                    guard case .restoreMain = plan.steps[index], moment == .begun else { return }
                    #expect(rename("\(new)", "\(lab.store)") == 0)
                }
            }
            #expect(try lab.files.contents(of: lab.store, limit: 100) == Array("of a program".utf8))
            for kind in StoreCompanion.allCases where kind != .sharedMemory {
                #expect(try FileStatus.ifPresent(StoreLocation(lab.store).companion(kind)) == nil)
            }
        }
    }

    /// A program writes to the copy of the original that has its name for a moment, where the
    /// rollback was stopped then: it is ended with what that wrote.
    @Test(arguments: [StoreShape.fullLog, .hotJournal])
    func whatIsWrittenToACopyStays(shape: StoreShape) throws {
        try withSwapLab(shape) { lab, _ in
            let swap = try lab.swap()
            let lock = try StoreLock(lab.store)
            let plan = try prepared(lab, swap, lock)
            #expect(throws: Stop.self) {
                try Rollback(files: lab.files()).run(plan, under: lock) { index, moment in
                    guard case .restoreMain = plan.steps[index], moment == .begun else { return }
                    throw Stop()
                }
            }
            let app = try Connection(path: lab.store, mode: .readWrite)
            try app.execute("DELETE FROM t WHERE rowid = 1")
            try app.close()
            try Rollback(files: lab.files()).run(plan, under: lock)
            let reader = try Connection(path: lab.store, mode: .readWrite)
            #expect(try reader.integer("SELECT count(*) FROM t WHERE rowid = 1") == 0)
            try reader.close()
        }
    }

    /// The log stays where the backup's folder, in which it gets a name first, is gone.
    @Test(arguments: [StoreShape.fullLog, .hotJournal])
    func aLogStaysWithoutABackup(shape: StoreShape) throws {
        try withSwapLab(shape) { lab, _ in
            let old = try lab.clientView()
            let plan = try lab.plan()
            let lock = try StoreLock(lab.store)
            let error = #expect(throws: (any Error).self) {
                _ = try Swapper(files: lab.files()).run(
                    plan, under: lock,
                    journal: { index, moment in
                        guard case .removeCompanions = plan.steps[index], moment == .begun else {
                            return
                        }
                        try lab.files.removeTree(plan.backupFolder)
                    })
            }
            #expect(error != nil)
            #expect(try lab.clientView() == old)
        }
    }
}
