import DurableFiles
import Glibc
import Jobs
import RunLedger
import SafeSQLite
import StateFolders
import Testing

@testable import RunService
@testable import StoreRuns

// Trust ends with the command that was given it.

extension LyingWorkerTests {
    /// A result whose move was recorded under trust is inspected by a command without trust.
    @Test(arguments: [true, false], [true, false])
    func trustEndsWithItsCommandAfterTheMoveIsRecorded(isPublished: Bool, isLying: Bool) throws {
        try SharingLab.run(trustsWorkers: true) { lab in
            var delivery = try ForgedDelivery(lab, isPublished: isPublished)
            if isLying {
                try delivery.edit("UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1")
                try delivery.relabel()
            }
            let admitted = try delivery.deliveries.admit(delivery.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: delivery.run.id, 1)).found
            let kept = try #require(try delivery.deliveries.keep([found]).first)
            _ = try kept.result.get()
            let before = try lab.content(delivery.store)
            try lab.reopen()
            lab.dependencies.validation = .coordinator
            let run = try lab.find(delivery.run.id)
            #expect(try run.hasUnfinishedMove(found))
            let deliveries = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
            let moved = try #require(try deliveries.move([found]).first).result
            let result = (found.output ?? found.location).database
            guard isLying else {
                let records = try moved.get()
                let report = records.contains { record in
                    if case .storeReport(_, _, _, let text) = record {
                        text.contains("validated by its worker only")
                    } else {
                        false
                    }
                }
                #expect(!report)
                #expect(try lab.content(result) == delivery.content)
                return
            }
            let error = #expect(throws: RunError.self) { _ = try moved.get() }
            #expect(error?.cause == .wrongPlan)
            #expect(try lab.content(delivery.store) == before)
            if isPublished { #expect(try FileStatus.ifPresent(result) == nil) }
        }
    }

    /// A backup that a killed swap began is older than the store that an app has written since.
    @Test func nothingIsLeftOfASwapThatBeganUnderTrust() throws {
        try SharingLab.run(trustsWorkers: true) { lab in
            let delivery = try ForgedDelivery(lab, isPublished: false, isAtRest: false)
            let admitted = try delivery.deliveries.admit(delivery.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: delivery.run.id, 1)).found
            lab.disk.fail(.rename, .before, EIO)
            let stopped = #expect(throws: RunError.self) {
                _ = try #require(try delivery.deliveries.move([found]).first).result.get()
            }
            #expect(stopped?.cause == .inputOutput)
            lab.disk.fail(nil)
            #expect(try logs(lab).count == 1)
            let app = try Connection(path: delivery.store, mode: .readWrite)
            try app.execute("UPDATE ZNOTE SET ZTITLE = 'the newest' WHERE Z_PK = 1")
            try app.close()
            try lab.reopen()
            lab.dependencies.validation = .coordinator
            let deliveries = ResultIntake(
                of: try lab.find(delivery.run.id), checked: ResultIntake.CheckedFiles())
            let error = #expect(throws: RunError.self) {
                _ = try #require(try deliveries.move([found]).first).result.get()
            }
            #expect(error?.cause.decision == .planAgain)
            #expect(try logs(lab).isEmpty)
            #expect(try lab.content(delivery.store).contains { $0.contains("the newest") })
        }
    }

    /// A result that was accepted under trust waits for its swap while a program has the store.
    @Test func aTrustedResultWaitsForItsStore() throws {
        try SharingLab.run(trustsWorkers: true) { lab in
            let delivery = try ForgedDelivery(lab, isPublished: false)
            let admitted = try delivery.deliveries.admit(delivery.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: delivery.run.id, 1)).found
            _ = try #require(try delivery.deliveries.keep([found]).first).result.get()
            try lab.ledger.append([
                .storeChanged(run: delivery.run.id, store: 1, .validated, reason: nil, at: 2)
            ])
            try lab.reopen()
            lab.dependencies.validation = .coordinator
            let deliveries = ResultIntake(
                of: try lab.find(delivery.run.id), checked: ResultIntake.CheckedFiles())
            let program = try lab.files.openForReading(delivery.store)
            let error = #expect(throws: RunError.self) {
                _ = try #require(try deliveries.move([found]).first).result.get()
            }
            #expect(error?.cause == .locked, "\(String(describing: error))")
            #expect(try lab.ledger.store(run: delivery.run.id, 1)?.state == .validated)
            try program.close()
            _ = try #require(try deliveries.move([found]).first).result.get()
            #expect(try lab.content(delivery.store) == delivery.content)
        }
    }

    /// The logs in backups of the lab's stores.
    private func logs(_ lab: SharingLab) throws -> [FilePath] {
        try lab.files.tree(at: lab.data).map(\.path).filter { path in
            path.description.contains(".godwit-backup") && path.description.hasSuffix("-wal")
        }
    }
}
