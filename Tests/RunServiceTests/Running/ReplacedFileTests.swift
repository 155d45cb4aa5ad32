import DurableFiles
import Foundation
import MigrationEngine
import StateFolders
import StoreLocks
import StoreSwap
import Synchronization
import TestSupport
import Testing

@testable import StoreRuns

/// Programs that come too late for a store's old file.
@Suite struct ReplacedFileTests {
    /// A file that lost its name to another while a program waits to open it.
    private struct Lab {
        let store: FilePath
        let plan: SwapPlan
        let client: ShellClient
        let replaced: [ReplacedFile]
        let original: [UInt8]
    }

    private func withLab(
        _ run: RunLab, opensLate: Bool, _ body: (Lab) throws -> Void
    ) throws {
        let store = try run.forge("late.sqlite")
        let original = try run.files.contents(of: store, limit: 1 << 30)
        let new = store.parent.appending(".godwit-unpublished-new")
        _ = try run.files.clone(from: store, to: new)
        let plan = try SwapPlan(
            SwapFacts(
                reading: SwapRequest(
                    store: StoreLocation(store), run: "r1", expected: StoreFingerprint(of: store),
                    newFile: new),
                files: run.files))
        let client = try ShellClient(
            "read word; echo here; exec 3<>\"$1\"; head -c 8 <&3; echo; read word",
            store.description)
        let lock = try StoreLock(store)
        let last = plan.steps.count - 1
        let receipt = try Swapper(files: run.files).run(plan, under: lock) { index, moment in
            // After the last moment at which a program is let in first.
            guard opensLate, index == last, moment == .begun else { return }
            try client.write("go")
            #expect(try client.line() == "here")
            #expect(becomesTrue { lock.isAwaited })
        }
        lock.release()
        try body(
            Lab(
                store: store, plan: plan, client: client, replaced: receipt.replaced,
                original: original))
    }

    @Test func theBackupBecomesACopyAndTheProgramIsNamed() throws {
        try RunLab.run { run in
            try withLab(run, opensLate: true) { lab in
                let late = Mutex<[LateClient]>([])
                let copies = Mutex<[BackupRecord.Entry]>([])
                let watch = ReplacedFileWatch(report: { client in
                    late.withLock { $0.append(client) }
                })
                watch.keep(lab.replaced, of: lab.plan) { entries in
                    copies.withLock { $0 += entries }
                }
                #expect(try lab.client.line() == "replaced")
                #expect(becomesTrue { late.withLock { !$0.isEmpty } })
                try lab.client.end()
                watch.finish()
                let told = late.withLock { $0 }
                #expect(told.map(\.store) == [lab.store] && told.first?.failure == nil)
                // A program that the shell has started may have it, too.
                let users = told.first?.users.map(\.process) ?? []
                #expect(users.contains(Int64(lab.client.process)), "\(users)")
                #expect(copies.withLock { $0.map(\.path) } == [lab.plan.mainBackup])
                let backup = try run.files.contents(of: lab.plan.mainBackup, limit: 1 << 30)
                #expect(backup == lab.original)
                #expect(try run.content(lab.store).first == "ok")
            }
        }
    }

    /// Where the copy cannot be recorded, the program stays out for as long as the watch lives.
    @Test func aFailureLeavesTheBackupAndIsReported() throws {
        struct Refused: Error {}
        try RunLab.run { run in
            try withLab(run, opensLate: true) { lab in
                let late = Mutex<[LateClient]>([])
                let watch = ReplacedFileWatch(report: { client in
                    late.withLock { $0.append(client) }
                })
                watch.keep(lab.replaced, of: lab.plan) { _ in throw Refused() }
                #expect(becomesTrue { late.withLock { !$0.isEmpty } })
                #expect(late.withLock { $0.first?.failure } != nil)
                lab.client.stop()
                watch.finish()
                let backup = try run.files.contents(of: lab.plan.mainBackup, limit: 1 << 30)
                #expect(backup == lab.original)
            }
        }
    }

    /// Nothing keeps the file locked after the process, so the end waits for the program.
    @Test func theEndWaitsForAProgramThatNothingElseLocksOut() throws {
        try RunLab.run { run in
            try withLab(run, opensLate: true) { lab in
                let late = Mutex<[LateClient]>([])
                let client = lab.client
                let watch = ReplacedFileWatch(outlivesProcess: { false }) { told in
                    late.withLock { $0.append(told) }
                    // Only the report that it is waited for has it close the file.
                    if told.isWaitedFor { client.stop() }
                }
                watch.keep(lab.replaced, of: lab.plan)
                #expect(try client.line() == "replaced")
                watch.finish()
                let told = try #require(late.withLock { $0.last })
                #expect(told.isWaitedFor && told.store == lab.store)
                let users = told.users.map(\.process)
                #expect(users.contains(Int64(client.process)))
                #expect(told.description.contains("still has the old file"))
                let isUnopened = lab.replaced.map { $0.isUnopened() }
                #expect(!isUnopened.contains(false))
            }
        }
    }

    /// A guardian keeps the file locked, so the end does not wait for the program.
    @Test func theEndLeavesAProgramToTheGuardian() throws {
        try RunLab.run { run in
            try withLab(run, opensLate: true) { lab in
                let late = Mutex<[LateClient]>([])
                let watch = ReplacedFileWatch(outlivesProcess: { true }) { told in
                    late.withLock { $0.append(told) }
                }
                watch.keep(lab.replaced, of: lab.plan)
                let line = try lab.client.line()
                #expect(line == "replaced")
                watch.finish()
                let told = late.withLock { $0 }
                let isWaitedFor = told.map(\.isWaitedFor)
                #expect(!told.isEmpty && !isWaitedFor.contains(true))
                lab.client.stop()
            }
        }
    }

    @Test func aFileThatNobodyOpensIsLetGo() throws {
        try RunLab.run { run in
            try withLab(run, opensLate: false) { lab in
                let late = Mutex(0)
                let watch = ReplacedFileWatch(report: { _ in late.withLock { $0 += 1 } })
                watch.keep(lab.replaced, of: lab.plan)
                watch.finish()
                #expect(late.withLock { $0 } == 0)
                let status = try FileStatus(of: lab.plan.mainBackup)
                #expect(lab.plan.store.isFile(status.identity))
                // Everybody may open it again.
                _ = try run.files.contents(of: lab.plan.mainBackup, limit: 1 << 30)
                lab.client.stop()
            }
        }
    }
}
