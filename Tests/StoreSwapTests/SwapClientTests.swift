import CoreDataStore
import DurableFiles
import Foundation
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// Programs that have a store open, with or without a lock, before and during its swap.
@Suite struct SwapClientTests {
    private static let shapes: [StoreShape] = [.none, .fullLog, .hotJournal, .externalData]
    private let impatient = ClientPolicy(patience: 0)

    private func withLab(
        _ shape: StoreShape, _ body: (SwapLab) throws -> Void
    ) throws {
        try withSwapLab(shape) { lab, _ in try body(lab) }
    }

    private func expectBusy(
        _ client: ShellClient, _ lab: SwapLab, _ body: () throws -> Void
    ) {
        let error = #expect(throws: SwapError.self) { try body() }
        guard case .storeBusy(let store, let holder) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(store == lab.store.description)
        #expect(holder == "sh (pid \(client.process))")
    }

    /// As a program that has called sqlite3_open and nothing else, or has lost its POSIX locks.
    @Test(arguments: shapes)
    func aClientWithoutALockKeepsTheSwapAway(shape: StoreShape) throws {
        try withLab(shape) { lab in
            let old = try lab.clientView()
            let plan = try lab.plan()
            let client = try ShellClient(
                "exec 3<>\"$1\"; echo open; read word", lab.store.description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(lab.store)
            expectBusy(client, lab) {
                _ = try Swapper(files: lab.files(), clients: impatient).run(plan, under: lock)
            }
            #expect(try lab.clientView() == old)
            #expect(try FileStatus.ifPresent(plan.backupFolder) == nil)
            try client.end()
            _ = try Swapper(files: lab.files()).run(plan, under: lock)
            lock.release()
            #expect(try lab.clientView().contains("generation new"))
        }
    }

    @Test(arguments: shapes)
    func aClientOfTheResultKeepsTheSwapAway(shape: StoreShape) throws {
        try withLab(shape) { lab in
            let old = try lab.clientView()
            let plan = try lab.plan()
            let client = try ShellClient(
                "exec 3<\"$1\"; echo open; read word", lab.newFile.description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(lab.store)
            expectBusy(client, lab) {
                _ = try Swapper(files: lab.files(), clients: impatient).run(plan, under: lock)
            }
            #expect(try lab.clientView() == old)
            try client.end()
            lock.release()
        }
    }

    /// Of the live store, or of the backup: a client that stayed from before the swap.
    @Test(arguments: shapes, [false, true])
    func aClientKeepsTheRollbackAway(shape: StoreShape, ofBackup: Bool) throws {
        try withLab(shape) { lab in
            let old = try lab.clientView()
            let swap = try lab.swap()
            let new = try lab.clientView()
            let client = try ShellClient(
                "exec 3<>\"$1\"; echo open; read word",
                (ofBackup ? swap.mainBackup : lab.store).description)
            #expect(try client.line() == "open")
            let lock = try StoreLock(lab.store)
            let rollback = Rollback(files: lab.files(), clients: impatient)
            expectBusy(client, lab) {
                _ = try rollback.prepare(swap, discardsChanges: false, under: lock)
            }
            #expect(try lab.clientView() == new)
            try client.end()
            let patient = Rollback(files: lab.files())
            let plan = try patient.prepare(swap, discardsChanges: false, under: lock)
            try patient.run(plan, under: lock)
            lock.release()
            #expect(try lab.clientView() == old)
        }
    }

    /// A program opens the store before a step: it waits, and gets the original or the result,
    /// never a file that has lost its name without being told so.
    @Test(arguments: shapes)
    func aClientThatComesBeforeAnyStepGetsAWholeStore(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            var step = 0
            var steps = 1
            while step < steps {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let plan = try lab.plan()
                steps = plan.steps.count
                try expectWholeStore(lab, plan, clientBefore: step)
                try DurableFileSystem().removeTree(place)
                step += 1
            }
        }
    }

    private func expectWholeStore(
        _ lab: SwapLab, _ plan: SwapPlan, clientBefore step: Int
    ) throws {
        let main = try lab.files.contents(of: lab.store, limit: 64 << 20)
        let lock = try StoreLock(lab.store)
        var client: ShellClient?
        // It ends by itself once it has the file, so that the swap may begin again.
        let script = "echo here; exec 3<>\"$1\"; head -c 16 <&3 | od -An -c | tr -d ' \\n'; echo"
        let receipt = try Swapper(
            files: lab.files(), clients: ClientPolicy(patience: 60_000)
        ).run(plan, under: lock) { index, moment in
            guard index == step, moment == .begun, client == nil else { return }
            let opener = try ShellClient(script, lab.store.description)
            #expect(try opener.line() == "here")
            #expect(becomesTrue { lock.isAwaited })
            client = opener
        }
        lock.release()
        let opener = try #require(client)
        var copies: [BackupRecord.Entry] = []
        for file in receipt.replaced where !file.isUnopened() {
            try BackupSeparation(files: lab.files).run(file, of: plan) { copies += $0 }
        }
        let read = try opener.line()
        let isDatabase = read.hasPrefix("SQLiteformat3")
        #expect(isDatabase || read.hasPrefix("replacedby"), "\(read)")
        try opener.end()
        // Before the first change there is no reason to turn it away.
        let changed = plan.steps.firstIndex { step in
            switch step {
            case .carryAttributes, .settle, .removeCompanions, .install: true
            case .backUp, .addExternalData: false
            }
        }
        if let changed { #expect(isDatabase == (step < changed)) }
        for file in receipt.replaced {
            #expect(becomesTrue { file.isUnopened() })
            file.release()
        }
        #expect(try lab.clientView().contains("generation new"))
        #expect(try lab.files.contents(of: plan.mainBackup, limit: 64 << 20) == main)
        // It became a copy exactly where a program had the original's file, and not the snapshot's.
        let settled = plan.steps.firstIndex { if case .settle = $0 { true } else { false } }
        let hadOriginal = !isDatabase && step <= settled ?? step
        #expect(copies.map(\.path) == (hadOriginal ? [plan.mainBackup] : []))
        try expectRollback(lab, plan.recording(copies))
    }

    /// Who made the new file may open it by a descriptor that no lease shows, as it waits for the
    /// lease, and write it while the swap begins again.
    @Test(arguments: shapes)
    func aNewFileThatIsWrittenMeanwhileIsNotSwappedIn(shape: StoreShape) throws {
        try withLab(shape) { lab in
            let old = try lab.clientView()
            let plan = try lab.plan()
            let script =
                "touch -r \"$1\" \"$1-time\"; echo here; exec 3<>\"$1\"; printf 'XX' >&3; "
                + "touch -r \"$1-time\" \"$1\""
            let lock = try StoreLock(lab.store)
            var writer: ShellClient?
            let error = #expect(throws: SwapError.self) {
                _ = try Swapper(
                    files: lab.files(), clients: ClientPolicy(patience: 60_000)
                ).run(plan, under: lock) { index, moment in
                    guard index == 0, moment == .begun, writer == nil else { return }
                    let client = try ShellClient(script, plan.newFile.path.description)
                    #expect(try client.line() == "here")
                    #expect(becomesTrue { lock.isAwaited })
                    writer = client
                }
            }
            lock.release()
            #expect(try #require(error).description.contains("is gone or changed"))
            try #require(writer).end()
            #expect(try lab.clientView() == old)
        }
    }

    private func expectRollback(_ lab: SwapLab, _ plan: SwapPlan) throws {
        let lock = try StoreLock(lab.store)
        let rollback = Rollback(files: lab.files())
        let back = try rollback.prepare(plan, discardsChanges: false, under: lock)
        try rollback.run(back, under: lock)
        lock.release()
        #expect(try !lab.clientView().contains("generation new"))
    }

    /// A backup that became a copy is whole after a stop at every call.
    @Test func aSeparationStoppedAnywhereLeavesAWholeBackup() throws {
        try withFolder { folder in
            let template = try SwapTemplate(.fullLog, in: folder)
            var stops = 0
            for actions in 0..<1000 {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let main = try lab.files.contents(of: lab.store, limit: 64 << 20)
                let plan = try lab.plan()
                let lock = try StoreLock(lab.store)
                let receipt = try Swapper(files: lab.files()).run(plan, under: lock)
                lock.release()
                let old = try #require(
                    receipt.replaced.first { plan.store.isFile($0.identity) })
                let process = DyingProcess(after: actions)
                var copies: [BackupRecord.Entry] = []
                do {
                    try BackupSeparation(files: lab.files(dying: process)).run(old, of: plan) {
                        copies += $0
                    }
                } catch {
                    #expect(process.isDead, "\(error)")
                }
                let files = DurableFileSystem().opening(old.held)
                #expect(try files.contents(of: plan.mainBackup, limit: 64 << 20) == main)
                for file in receipt.replaced { file.release() }
                try expectRollback(lab, plan.recording(copies))
                try DurableFileSystem().removeTree(place)
                if !process.isDead { break }
                stops += 1
            }
            #expect(stops > 4)
        }
    }
}
