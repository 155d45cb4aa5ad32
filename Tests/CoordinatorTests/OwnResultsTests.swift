import DurableFiles
import Foundation
import Jobs
import RunLedger
import StateFolders
import TestSupport
import Testing

@testable import Coordinator
@testable import RunService
@testable import StoreRuns

/// Results of small stores that threads of the coordinator's own process made.
@Suite struct OwnResultsTests {
    /// A result that such a thread has delivered.
    private struct Delivery {
        let lab: SharingLab
        let run: ClusterRun
        let receipt: Receipt
        let store: FilePath
        let result: FilePath
        let content: [String]

        init(_ lab: SharingLab, isPublished: Bool) throws {
            lab.dependencies.validation = .ownThreads
            store = try lab.forge("a.sqlite", notes: 40)
            run = try lab.begin(
                [store], output: isPublished ? lab.folder.appending("out") : nil)
            let (_, job, attempt) = try lab.beginWhole(run)
            let jobs = WholeStoreJobs(ownResults: lab.dependencies.ownResults, clock: { 0 })
            receipt = try jobs.run(job, attempt: attempt, in: lab.dependencies.roots.environment)
            result = try lab.dependencies.roots.resolve(receipt.files[0].file)
            content = try lab.content(result)
            self.lab = lab
        }

        var intake: ResultIntake {
            ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
        }

        var found: FoundStore {
            get throws { try #require(try lab.ledger.store(run: run.id, 1)).found }
        }

        /// What another process makes of the run.
        func restarted(
            _ validation: ResultValidation = .ownThreads
        ) throws -> ResultIntake {
            try lab.reopen()
            lab.dependencies.validation = validation
            return ResultIntake(
                of: try lab.find(run.id), checked: ResultIntake.CheckedFiles())
        }
    }

    @Test(arguments: [false, true])
    func aThreadKeepsWhatItFoundInMemory(isPublished: Bool) throws {
        try SharingLab.run { lab in
            let delivery = try Delivery(lab, isPublished: isPublished)
            #expect(delivery.receipt.files.map(\.digest) == [DeliveredFile.ownDigest])
            let names = try lab.files.names(in: delivery.result.parent).map(\.description)
            #expect(!names.contains("outcome.json"))
            let intake = delivery.intake
            let admitted = try intake.admit(delivery.receipt)
            #expect(lab.dependencies.ownResults.result(of: delivery.receipt.attempt) == nil)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try delivery.found
            _ = try #require(try intake.move([found]).first).result.get()
            #expect(try lab.content((found.output ?? found.location).database) == delivery.content)
        }
    }

    /// Another process has nothing in memory, and inspects the result, also where it trusts the
    /// workers of its own run.
    @Test(arguments: [false, true], [ResultValidation.ownThreads, .coordinator, .workers])
    func aRestartedProcessInspectsTheResult(
        isChanged: Bool, validation: ResultValidation
    ) throws {
        try SharingLab.run { lab in
            let delivery = try Delivery(lab, isPublished: false)
            let admitted = try delivery.intake.admit(delivery.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let before = try lab.content(delivery.store)
            if isChanged {
                let path = try lab.dependencies.roots.resolve(admitted.files[0].file)
                try ForgedDelivery.edit(path, "UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1")
            }
            let ending = try #require(
                try delivery.restarted(validation).move([try delivery.found]).first)
            if isChanged {
                let error = #expect(throws: RunError.self) { _ = try ending.result.get() }
                #expect(error?.cause == .wrongPlan)
                #expect(try lab.content(delivery.store) == before)
            } else {
                _ = try ending.result.get()
                #expect(try lab.content(delivery.store) == delivery.content)
            }
        }
    }

    /// What the thread has read of the store is forgotten with its process.
    @Test func aStoreThatChangedBeforeTheRestartIsReportedAsChanged() throws {
        try SharingLab.run { lab in
            let delivery = try Delivery(lab, isPublished: false)
            let admitted = try delivery.intake.admit(delivery.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            try ForgedDelivery.edit(
                delivery.store, "UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1")
            // The file system's clock may not have moved on since the result was written.
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: 5)],
                ofItemAtPath: delivery.store.description)
            let before = try lab.content(delivery.store)
            let ending = try #require(
                try delivery.restarted().move([try delivery.found]).first)
            let error = #expect(throws: RunError.self) { _ = try ending.result.get() }
            #expect(error?.cause == .sourceChanged)
            #expect(try lab.content(delivery.store) == before)
        }
    }

    /// The folder beside the store may be another user's.
    @Test func anotherFileInItsPlaceIsRefused() throws {
        try SharingLab.run { lab in
            let delivery = try Delivery(lab, isPublished: false)
            let bytes = try lab.files.contents(of: delivery.result, limit: 1 << 26)
            try lab.files.publish(bytes, to: delivery.result)
            let error = #expect(throws: RunError.self) {
                _ = try delivery.intake.admit(delivery.receipt)
            }
            #expect(error?.cause == .badDelivery)
        }
    }

    /// What stands for the digest of an own file lets no worker's file pass.
    @Test(arguments: [ResultValidation.coordinator, .ownThreads, .workers])
    func aWorkerIsNoThreadOfThisProcess(validation: ResultValidation) throws {
        try SharingLab.run { lab in
            lab.dependencies.validation = validation
            var lying = try ForgedDelivery(lab, isPublished: false)
            lying.changeFile(0, digest: DeliveredFile.ownDigest)
            let error = #expect(throws: RunError.self) {
                _ = try lying.deliveries.admit(lying.receipt)
            }
            #expect(error?.cause == .badDelivery)
        }
    }

    /// Results of attempts that came too late go after a while.
    @Test func resultsThatNobodyTakesDoNotPileUp() throws {
        try SharingLab.run { lab in
            let delivery = try Delivery(lab, isPublished: false)
            let kept = lab.dependencies.ownResults
            let built = try #require(kept.result(of: delivery.receipt.attempt))
            for number in 0..<2048 { kept.keep(built, of: "late-\(number)") }
            #expect(kept.result(of: delivery.receipt.attempt) == nil)
            #expect(kept.result(of: "late-2047") != nil)
        }
    }
}
