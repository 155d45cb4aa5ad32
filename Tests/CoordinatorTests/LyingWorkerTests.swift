import ClusterCore
@testable import Coordinator
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
import SafeSQLite
@testable import StoreRuns
import StateFolders
import TestSupport
import Testing

/// A worker that has a valid key and lies: nothing wrong gets a store's name, and each lie is
/// refused.
@Suite struct LyingWorkerTests {
    /// 28 kinds of lies with twelve seeds each, some of which make the same delivery.
    @Test(arguments: Lie.allCases, 0..<12)
    func aLieIsRefused(_ lie: Lie, seed: Int) throws {
        try SharingLab.run { lab in
            var generator = SeededGenerator(seed: UInt64(seed) &* 7919 &+ 13)
            let honest = try ForgedDelivery(lab, isPublished: lie.needsOutput)
            let before = try lab.files.contents(of: honest.store, limit: 1 << 30)
            let outside = lab.folder.appending("outside")
            try lab.files.makeFolders(outside)
            try lab.files.publish(Array("canary".utf8), to: outside.appending("canary"))
            var forged = honest
            try lie.apply(to: &forged, outside: outside, &generator)
            do {
                let admitted = try forged.deliveries.admit(forged.receipt)
                // A byte that nothing reads may be any, and a result that was read whole needs no
                // hash: then the content must be the honest one.
                #expect([.flippedByte, .wrongDigest].contains(lie))
                #expect(try forged.acceptedContent(admitted) == honest.content)
            } catch let error as RunError {
                #expect(error.cause == .badDelivery, "\(error)")
                #expect(error.description.contains("The original is unchanged"))
                #expect(error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 })
            }
            #expect(try lab.files.contents(of: honest.store, limit: 1 << 30) == before)
            #expect(try lab.files.names(in: outside) == ["canary"])
            #expect(
                try lab.files.contents(of: outside.appending("canary"), limit: 100)
                    == Array("canary".utf8))
        }
    }

    /// Numbers as far apart as they can be end nothing but their own delivery.
    @Test func extremeKeysAreRefused() throws {
        try SharingLab.run { lab in
            var forged = try ForgedDelivery(lab, isPublished: false)
            let links = try forged.texts(
                "SELECT m.name || ' ' || c.name FROM sqlite_master m, pragma_table_info(m.name) c "
                    + "WHERE m.name GLOB 'Z[A-Y]*' AND c.name = 'ZNOTE'")
            let link = try #require(links.first).split(separator: " ")
            try forged.edit(
                "UPDATE ZNOTE SET Z_PK = -5 WHERE Z_PK = 1; "
                    + "UPDATE \(link[0]) SET \(link[1]) = 9223372036854775807")
            try forged.relabel()
            let error = #expect(throws: RunError.self) {
                _ = try forged.deliveries.admit(forged.receipt)
            }
            #expect(error?.cause == .badDelivery)
        }
    }

    /// The same delivery without a lie is taken: the test above can fail.
    @Test(arguments: [false, true])
    func anHonestDeliveryIsTaken(isPublished: Bool) throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: isPublished)
            let admitted = try honest.deliveries.admit(honest.receipt)
            #expect(try honest.acceptedContent(admitted) == honest.content)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
            _ = try #require(try honest.deliveries.move([found]).first).result.get()
            let result = (found.output ?? found.location).database
            #expect(try lab.content(result) == honest.content)
            let report = try #require(try lab.ledger.store(run: honest.run.id, 1))
            #expect(report.found.number == 1)
        }
    }

    /// A worker that keeps a descriptor of the file writes to it after the delivery.
    @Test(arguments: ["open", "linked"])
    func whoKeepsTheFileChangesNothingThatIsAccepted(way: String) throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false)
            let file = honest.folder.appending("store.sqlite")
            let kept = try lab.files.openForWriting(file)
            if way == "linked" {
                try lab.files.linkWithoutSync(from: file, to: lab.folder.appending("second"))
            }
            let admitted = try honest.deliveries.admit(honest.receipt)
            try Array("overwritten by the worker".utf8).withUnsafeBytes { bytes in
                try kept.write(bytes, at: 8192)
            }
            #expect(try honest.acceptedContent(admitted) == honest.content)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
            _ = try #require(try honest.deliveries.move([found]).first).result.get()
            #expect(try lab.content(honest.store) == honest.content)
            try kept.close()
        }
    }

    /// A file that changes in the accepted folder before the swap is found by its state, also by a
    /// process that has not seen it before.
    @Test(arguments: [false, true])
    func anAcceptedFileThatChangesIsNotSwappedIn(isRestarted: Bool) throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false)
            let admitted = try honest.deliveries.admit(honest.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let path = try lab.dependencies.roots.resolve(admitted.files[0].file)
            try ForgedDelivery.edit(path, "UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1")
            let before = try lab.content(honest.store)
            var deliveries = honest.deliveries
            if isRestarted {
                try lab.reopen()
                deliveries = ResultIntake(
                    of: try lab.find(honest.run.id), checked: ResultIntake.CheckedFiles())
            }
            let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
            let error = #expect(throws: RunError.self) {
                _ = try #require(try deliveries.move([found]).first).result.get()
            }
            #expect(error?.cause == .wrongPlan)
            #expect(try lab.content(honest.store) == before)
        }
    }

    /// The original that is kept is the coordinator's own snapshot, not what the worker calls one.
    @Test func aWorkersSnapshotIsNotKept() throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false, isAtRest: false)
            let before = try lab.content(honest.store)
            #expect(before.contains { $0.contains("in the log") })
            let snapshot = honest.folder.appending("store.sqlite_snapshot")
            #expect(try FileStatus.ifPresent(snapshot) == nil)
            try honest.write(Array("the worker's".utf8), to: snapshot)
            let admitted = try honest.deliveries.admit(honest.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
            _ = try #require(try honest.deliveries.move([found]).first).result.get()
            #expect(try lab.content(honest.store) == honest.content)
            let kept = try #require(
                try lab.files.names(in: lab.data).first {
                    $0.description.hasPrefix(".godwit-backup")
                })
            let backup = lab.data.appending(kept).appending("a.sqlite")
            #expect(try lab.content(backup) == before)
        }
    }

    /// The result that the coordinator has looked at is looked at again after a restart, and the
    /// report has its own figures.
    @Test func anotherProcessLooksAgain() throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: true)
            let admitted = try honest.deliveries.admit(honest.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            try lab.reopen()
            let deliveries = ResultIntake(
                of: try lab.find(honest.run.id), checked: ResultIntake.CheckedFiles())
            let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
            _ = try #require(try deliveries.move([found]).first).result.get()
            #expect(try lab.content(try #require(found.output).database) == honest.content)
        }
    }

    /// What a worker validated that was trusted is inspected by a process that trusts none.
    @Test(arguments: [ResultValidation.coordinator, .ownThreads])
    func trustEndsWithItsCommand(validation: ResultValidation) throws {
        try SharingLab.run(trustsWorkers: true) { lab in
            var lying = try ForgedDelivery(lab, isPublished: false)
            try lying.edit("UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1")
            try lying.relabel()
            let admitted = try lying.deliveries.admit(lying.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let before = try lab.content(lying.store)
            try lab.reopen()
            lab.dependencies.validation = validation
            let deliveries = ResultIntake(
                of: try lab.find(lying.run.id), checked: ResultIntake.CheckedFiles())
            let found = try #require(try lab.ledger.store(run: lying.run.id, 1)).found
            let error = #expect(throws: RunError.self) {
                _ = try #require(try deliveries.move([found]).first).result.get()
            }
            #expect(error?.cause == .wrongPlan)
            #expect(try lab.content(lying.store) == before)
        }
    }

    /// The check of a delivery ends where its run is cancelled or the command ends.
    @Test func aStopEndsTheCheckOfADelivery() throws {
        try SharingLab.run { lab in
            let honest = try ForgedDelivery(lab, isPublished: false)
            let stop = StatementStop()
            stop.set()
            let error = #expect(throws: RunError.self) {
                _ = try stop.reaching { try honest.deliveries.admit(honest.receipt) }
            }
            #expect(error?.cause == .stopped)
            // The same receipt is admitted later.
            _ = try honest.deliveries.admit(honest.receipt)
        }
    }

    /// A small store's result has no terabytes, which would be read for hours.
    @Test func aSparseFileIsRefusedUnread() throws {
        try SharingLab.run { lab in
            var lying = try ForgedDelivery(lab, isPublished: false)
            let bytes: Int64 = 1 << 42
            let file = try lab.files.openForWriting(lying.result)
            try file.setSize(bytes)
            try file.close()
            lying.changeFile(0, bytes: bytes)
            let error = #expect(throws: RunError.self) {
                _ = try lying.deliveries.admit(lying.receipt)
            }
            #expect(error?.cause == .badDelivery)
        }
    }

    /// With trusted workers the look is left out, and the report says so.
    @Test func trustIsToldInTheReport() throws {
        try SharingLab.run(trustsWorkers: true) { lab in
            let honest = try ForgedDelivery(lab, isPublished: false)
            let admitted = try honest.deliveries.admit(honest.receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            let found = try #require(try lab.ledger.store(run: honest.run.id, 1)).found
            let records = try #require(try honest.deliveries.move([found]).first).result.get()
            let texts = records.compactMap { record -> String? in
                if case .storeReport(_, _, _, let text) = record { text } else { nil }
            }
            guard case .result(let result) = try StoreRecord(reading: #require(texts.first)) else {
                throw Missing(description: "a result")
            }
            #expect(result.notes.contains(BuiltStore.noteOfTrust))
        }
    }
}
