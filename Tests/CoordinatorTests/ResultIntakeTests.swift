import ClusterVocabulary
@testable import Coordinator
import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import GRDB
import Glibc
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
import SafeSQLite
@testable import StoreRuns
import StateFolders
import Testing

/// What becomes of results that workers deliver.
@Suite struct ResultIntakeTests {
    private let key = StoreKey(run: "r1", number: 1)

    /// A small store that a worker has migrated.
    private struct Delivered {
        let lab: SharingLab
        let run: ClusterRun
        let store: FilePath
        let plan: StorePlan
        let receipt: Receipt
        let deliveries: ResultIntake

        var found: FoundStore {
            get throws { try #require(try lab.ledger.store(run: run.id, 1)).found }
        }

        func files(of receipt: Receipt) throws -> [FilePath] {
            try receipt.files.map { try lab.dependencies.roots.resolve($0.file) }
        }

        /// Does what the loop and the machine do with a checked receipt.
        func accept() throws -> Receipt {
            let admitted = try deliveries.admit(receipt)
            try lab.ledger.append([.accepted(admitted, at: 1)])
            return admitted
        }
    }

    private func deliver(
        _ lab: SharingLab, output: FilePath? = nil, defersSwap: Bool = false
    ) throws -> Delivered {
        let store = try lab.forge("a.sqlite")
        let run = try lab.begin([store], output: output, defersSwap: defersSwap)
        let (plan, job, attempt) = try lab.beginWhole(run)
        return Delivered(
            lab: lab, run: run, store: store, plan: plan, receipt: try lab.run(job, attempt),
            deliveries: ResultIntake(of: run, checked: ResultIntake.CheckedFiles()))
    }

    @Test func anAdmittedResultHasANameThatNoWorkerWrites() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            let before = try delivered.files(of: delivered.receipt)
            let admitted = try delivered.deliveries.admit(delivered.receipt)
            let after = try delivered.files(of: admitted)
            #expect(!before.isEmpty && before.count == after.count)
            for (old, new) in zip(before, after) {
                #expect(try FileStatus.ifPresent(old) == nil)
                #expect(try FileStatus.ifPresent(new) != nil)
                #expect(old.lastComponent == new.lastComponent)
                #expect(new.parent.parent == old.parent.parent)
                #expect(new.parent.description.contains(delivered.receipt.attempt))
            }
            #expect(admitted.attempt == delivered.receipt.attempt)
            #expect(admitted.files.map(\.digest) == delivered.receipt.files.map(\.digest))
            // A restart may have come between the rename and its record.
            #expect(try delivered.deliveries.admit(delivered.receipt) == admitted)
            try lab.reopen()
            let again = ResultIntake(
                of: try lab.find(delivered.run.id), checked: ResultIntake.CheckedFiles())
            #expect(try again.admit(delivered.receipt) == admitted)
        }
    }

    @Test func aResultThatDiffersFromItsReceiptIsRefused() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            let file = try #require(try delivered.files(of: delivered.receipt).first)
            let whole = try lab.files.contents(of: file, limit: 1 << 30)
            var flipped = whole
            flipped[whole.count / 2] ^= 1
            for bytes in [flipped, Array(whole.dropLast()), []] {
                try lab.files.makeFolders(file.parent)
                try lab.files.publish(bytes, to: file)
                let error = #expect(throws: RunError.self) {
                    _ = try delivered.deliveries.admit(delivered.receipt)
                }
                // Another worker may do it right.
                #expect(error?.cause == .badDelivery)
            }
            try lab.files.publish(whole, to: file)
            _ = try delivered.deliveries.admit(delivered.receipt)
        }
    }

    /// A late attempt's receipt is not taken for the accepted one.
    @Test func onlyTheFirstReceiptIsTakenFromMemory() throws {
        try SharingLab.run { lab in
            let receipt = try deliver(lab).receipt
            let checked = ResultIntake.CheckedFiles()
            #expect(checked.takeReceipt(receipt.run, receipt.store) == nil)
            checked.forget(receipt.run, receipt.store)
            checked.note(receipt)
            #expect(checked.takeReceipt(receipt.run, receipt.store) == receipt)
            checked.note(receipt)
            #expect(checked.takeReceipt(receipt.run, receipt.store) == nil)
            checked.forget(receipt.run, receipt.store)
            checked.note(receipt)
            checked.note(receipt)
            #expect(checked.takeReceipt(receipt.run, receipt.store) == nil)
        }
    }

    @Test func aFolderThatIsNotTheStoresIsRefused() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            let receipt = delivered.receipt
            func told(_ files: [DeliveredFile]) -> Receipt {
                Receipt(
                    run: receipt.run, store: receipt.store, work: receipt.work,
                    attempt: receipt.attempt, epoch: receipt.epoch, files: files,
                    rows: receipt.rows, sums: [:], counts: [:])
            }
            func at(_ path: String, _ root: String = "all") -> DeliveredFile {
                DeliveredFile(
                    file: FileReference(root: root, path: path), bytes: receipt.files[0].bytes,
                    digest: receipt.files[0].digest)
            }
            let folder = receipt.files[0].file.path.split(separator: "/").dropLast()
                .joined(separator: "/")
            let cases = [
                // The stores' own folder, and one that belongs to no store.
                [at("data/a.sqlite")], [at("elsewhere/whole-1/store.sqlite")],
                // Beside the attempts, and below one.
                [at("\(folder)/deeper/store.sqlite")],
                [receipt.files[0], at("data/a.sqlite")], [],
            ]
            for files in cases {
                let error = #expect(throws: RunError.self) {
                    _ = try delivered.deliveries.admit(told(files))
                }
                #expect(error?.cause == .badDelivery, "\(files.map(\.file.path))")
            }
            #expect(throws: RunError.self) {
                _ = try delivered.deliveries.admit(told([at("a.sqlite", "unknown")]))
            }
            // What it did deliver is still there.
            _ = try delivered.deliveries.admit(receipt)
            #expect(try lab.content(delivered.store).first == "ok")
        }
    }

    @Test func anAttemptDeliversItsOwnFolderAlone() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            let own = try delivered.deliveries.admit(delivered.receipt)
            // A worker that names what was accepted of another attempt gets nothing by it.
            let liar = Receipt(
                run: own.run, store: own.store, work: own.work, attempt: "whole-2",
                epoch: own.epoch, files: own.files, rows: own.rows, sums: [:], counts: [:])
            #expect(throws: RunError.self) { _ = try delivered.deliveries.admit(liar) }
            for file in try delivered.files(of: own) {
                #expect(try FileStatus.ifPresent(file) != nil)
            }
        }
    }

    @Test func acceptedResultsTakeTheStoresPlace() throws {
        try SharingLab.run { lab in
            let own = try lab.ownResult(of: lab.forge("a.sqlite"))
            try lab.files.removeTree(lab.data)
            try lab.files.makeFolders(lab.data)
            let delivered = try deliver(lab)
            _ = try delivered.accept()
            let endings = try delivered.deliveries.move([try delivered.found])
            let records = try #require(endings.first).result.get()
            try lab.ledger.append(
                records + [
                    .storeChanged(run: delivered.run.id, store: 1, .done, reason: nil, at: 1)
                ])
            #expect(try SharingLab.bytes(of: delivered.store) == own)
            try delivered.deliveries.removeAll(of: try delivered.found)
            let strays = try lab.strays().filter { !$0.contains("backup") }
            // The request's file is the run's, not the store's.
            #expect(strays.allSatisfy { $0.hasSuffix("-request.json") })
            try delivered.run.clean()
            #expect(try lab.strays().allSatisfy { $0.contains("backup") })
        }
    }

    @Test func aMoveThatWasWrittenDownAndNotMadeIsMade() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            _ = try delivered.accept()
            let before = try lab.content(delivered.store)
            // The process dies after the names are durable, before anything has moved.
            lab.disk.fail { $0.operation == .rename || $0.operation == .link ? .error(EIO) : nil }
            let endings = try delivered.deliveries.move([try delivered.found])
            #expect(throws: RunError.self) { try #require(endings.first).result.get() }
            lab.disk.fail(nil)
            #expect(try lab.content(delivered.store) == before)
            try lab.reopen()
            let run = try lab.find(delivered.run.id)
            let found = try delivered.found
            #expect(try run.hasUnfinishedMove(found))
            let offer = try #require(try lab.reader(run).one(1).offer).offer
            #expect(offer.entry == .swap(isRequested: true))
            let again = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
            _ = try #require(try again.move([found]).first).result.get()
            #expect(try lab.content(delivered.store) != before)
            #expect(try lab.content(delivered.store).first == "ok")
        }
    }

    /// A store that is not at rest is locked for its snapshot when its result is inspected.
    @Test(arguments: [false, true])
    func aRestartedProcessInspectsTheResultOfAStoreWithALog(hasLog: Bool) throws {
        try SharingLab.run { lab in
            let store = try lab.forge("a.sqlite")
            if hasLog { try leaveLog(store) }
            let run = try lab.begin([store])
            let (_, job, attempt) = try lab.beginWhole(run)
            let first = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
            try lab.ledger.append([
                .accepted(try first.admit(try lab.run(job, attempt)), at: 1)
            ])
            let before = try lab.content(store)
            try lab.reopen()
            let again = ResultIntake(of: try lab.find(run.id), checked: ResultIntake.CheckedFiles())
            let found = try #require(try lab.ledger.store(run: run.id, 1)).found
            _ = try #require(try again.move([found]).first).result.get()
            #expect(try lab.content(store) != before)
            #expect(try lab.content(store).first == "ok")
        }
    }

    /// What an app leaves that did not close its store: a log with a commit.
    private func leaveLog(_ store: FilePath) throws {
        let queue = try DatabaseQueue(path: store.description)
        try queue.writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA wal_autocheckpoint = 0")
            try database.execute(sql: "UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
        }
        let names = [store, StoreLocation(store).companion(.writeAheadLog)]
        let copies = names.map { $0.adding(suffix: "-copy") }
        for (name, copy) in zip(names, copies) {
            try FileManager.default.copyItem(atPath: name.description, toPath: copy.description)
        }
        try queue.close()
        for (name, copy) in zip(names, copies) {
            #expect(rename(copy.description, name.description) == 0)
        }
        #expect(try FileStatus(of: names[1]).size > 0)
    }

    /// What had begun comes to its end also where swaps wait from now on: built again, the result
    /// would take the backup for an original.
    @Test func aMoveThatHadBegunIsMadeAlsoWhereSwapsWaitFromNowOn() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            _ = try delivered.accept()
            let before = try lab.content(delivered.store)
            lab.disk.fail { $0.operation == .rename ? .error(EIO) : nil }
            let endings = try delivered.deliveries.move([try delivered.found])
            #expect(throws: RunError.self) { try #require(endings.first).result.get() }
            lab.disk.fail(nil)
            #expect(try lab.content(delivered.store) == before)
            try lab.reopen()
            let runs = ClusterRuns(lab.dependencies)
            let waiting = try lab.request([delivered.store], defersSwap: true)
            let changed = try runs.adoptSwaps(of: waiting, in: try runs.find(delivered.run.id))
            let run = try ClusterRun(try #require(changed), lab.dependencies)
            #expect(run.defersSwap)
            let offer = try #require(try lab.reader(run).one(1).offer).offer
            #expect(offer.entry == .swap(isRequested: true) && offer.isMoving)
            let again = ResultIntake(of: run, checked: ResultIntake.CheckedFiles())
            _ = try #require(try again.move([try delivered.found]).first).result.get()
            #expect(try lab.content(delivered.store) != before)
            #expect(try lab.content(delivered.store).first == "ok")
        }
    }

    @Test func aStoreThatChangedIsNotOverwritten() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            _ = try delivered.accept()
            let connection = try Connection(path: delivered.store, mode: .readWrite)
            try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
            try connection.close()
            let after = try lab.content(delivered.store)
            let endings = try delivered.deliveries.move([try delivered.found])
            let error = #expect(throws: RunError.self) {
                try #require(endings.first).result.get()
            }
            #expect(error?.cause == .sourceChanged)
            #expect(try lab.content(delivered.store) == after)
        }
    }

    @Test func anAcceptedResultThatChangedIsNotMoved() throws {
        try SharingLab.run { lab in
            let delivered = try deliver(lab)
            let admitted = try delivered.accept()
            let before = try lab.content(delivered.store)
            let file = try #require(try delivered.files(of: admitted).first)
            var bytes = try lab.files.contents(of: file, limit: 1 << 30)
            bytes[bytes.count - 1] ^= 1
            try lab.files.publish(bytes, to: file)
            // The process that has read it, and one that has not.
            for checked in [
                delivered.deliveries, ResultIntake(of: delivered.run, checked: .init()),
            ] {
                let endings = try checked.move([try delivered.found])
                #expect(throws: RunError.self) { try #require(endings.first).result.get() }
            }
            // A replay makes again what a failed store's end removed.
            try lab.files.remove(file)
            let gone = try delivered.deliveries.move([try delivered.found])
            let error = #expect(throws: RunError.self) { try #require(gone.first).result.get() }
            #expect(error?.cause.decision == .planAgain)
            try lab.files.remove(file)
            let endings = try delivered.deliveries.move([try delivered.found])
            #expect(throws: RunError.self) { try #require(endings.first).result.get() }
            #expect(try lab.content(delivered.store) == before)
        }
    }

    @Test func aNameThatWasNotSyncedIsToldLoudlyAndNotTriedAgain() throws {
        try SharingLab.run { lab in
            let output = lab.folder.appending("out")
            try lab.files.makeFolders(output)
            let delivered = try deliver(lab, output: output)
            _ = try delivered.accept()
            let before = try lab.content(delivered.store)
            lab.disk.fail { $0.operation == .syncFolder && $0.path == output ? .error(EIO) : nil }
            let endings = try delivered.deliveries.move([try delivered.found])
            lab.disk.fail(nil)
            guard case .failure(let error)? = endings.first?.result else {
                throw Missing(description: "a failed sync")
            }
            let store = TaskStore(found: try delivered.found, run: delivered.run)
            #expect(store.hasMoved)
            let task = CoordinatorTask(id: TaskID(1), store: key, kind: .swap)
            let report = TaskReport(task, failed: error, hasMoved: store.hasMoved)
            guard case .interrupted(let code, let text) = report.outcome else {
                throw Missing(description: "an interruption")
            }
            #expect(code.decision == .planAgain && report.records.isEmpty)
            #expect(text.contains("The original is untouched") && text.contains("Check the disk"))
            // And so it is.
            #expect(try lab.content(delivered.store) == before)
            #expect(try lab.content(output.appending("a.sqlite")).first == "ok")
        }
    }

    @Test func oneOfSeveralThatCannotMoveStopsNoOther() throws {
        try SharingLab.run { lab in
            let output = lab.folder.appending("out")
            try lab.files.makeFolders(output)
            let delivered = try deliver(lab, output: output)
            _ = try delivered.accept()
            let missing = FoundStore(
                number: 2, location: StoreLocation(lab.path("b.sqlite")),
                output: StoreLocation(output.appending("b.sqlite")),
                bytes: 1)
            let endings = try delivered.deliveries.move([missing, try delivered.found])
            let byStore = Dictionary(uniqueKeysWithValues: endings.map { ($0.store, $0.result) })
            #expect(throws: RunError.self) { try byStore[2]?.get() }
            #expect(try byStore[1]?.get().isEmpty == false)
            let result = output.appending("a.sqlite")
            #expect(try lab.content(result).first == "ok")
        }
    }
}
