import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import FaultSupport
import GRDB
import Glibc
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
@testable import RunService
import SafeSQLite
@testable import StoreRuns
import StateFolders
import Testing

/// A store in chunks, taken through its life by hand.
@Suite struct PartitionedStoreSessionTests {
    /// One process's work on the store.
    final class Life {
        let lab: SharingLab
        let run: ClusterRun
        let found: FoundStore
        let chunked: PartitionedStoreSession
        private(set) var plan: StorePlan?
        private(set) var chunks: PartitionedStoreSession.Chunks?
        private var mapping = RecordMapping(bootIdentifier: "boot", wallTime: { 1 })
        private var generation = 0
        var key: StoreKey { StoreKey(run: run.id, number: 1) }

        init(_ lab: SharingLab, _ run: ClusterRun) throws {
            self.lab = lab
            self.run = run
            found = try #require(try lab.ledger.store(run: run.id, 1)).found
            chunked = try PartitionedStoreSession(found, of: run)
        }

        /// Plans the store and writes that down.
        @discardableResult
        func prepare() throws -> PartitionedStoreSession.Chunks {
            guard case .chunks(let chunks) = try chunked.prepare() else {
                throw Missing(description: "chunks")
            }
            let plan = StorePlan(chunks, run.limits)
            var records: [LedgerRecord] = []
            if let reason = chunks.voided {
                records.append(.progressReset(run: run.id, store: 1, reason: reason, at: 1))
            }
            records += try mapping.records(of: .storePrepared(key, plan))
            try lab.ledger.append(records)
            self.plan = plan
            self.chunks = chunks
            return chunks
        }

        func deliver(_ work: Work, _ number: Int = 1) throws -> Receipt {
            let plan = try #require(plan)
            let plain = lab.attempt(plan, work, number)
            let attempt = Attempt(
                id: "\(generation)-\(plain.id)", epoch: plain.epoch, folder: plain.folder)
            try lab.ledger.append([
                .attemptBegan(
                    run: run.id, store: 1, work: work, attempt: attempt.id, epoch: 0, at: 1,
                    worker: "w1")
            ])
            return try lab.run(
                plan.template.job(key, work, engine: MigrationPlan.engineVersion), attempt)
        }

        /// A job from its beginning to its acceptance.
        func accept(_ work: Work, _ number: Int = 1) throws -> Receipt {
            let admitted = try ResultIntake(of: run, checked: .init())
                .admit(deliver(work, number))
            try lab.ledger.append([.accepted(admitted, at: 1)])
            return admitted
        }

        /// Attempts of a store that was planned again have other names.
        func beginAnew() { generation += 1 }

        func shards(_ step: AssemblyStep) throws -> [Receipt] {
            let receipts = try lab.ledger.acceptedReceipts(run: run.id, store: 1)
            return try step.works.map { work in
                try #require(receipts.first { $0.work == work })
            }
        }

        /// Does every job, and takes the steps from the one on that is due.
        func build(from done: Int = 0, number: Int = 1) throws {
            for step in try #require(chunks).steps.dropFirst(done) {
                let known = try lab.ledger.acceptedReceipts(run: run.id, store: 1).map(\.work)
                for work in step.works where !known.contains(work) {
                    _ = try accept(work, number)
                }
                try chunked.take(step, shards: try shards(step))
            }
        }

        func finish() throws {
            #expect(try chunked.index())
            #expect(try chunked.validate() == nil)
            _ = try chunked.move()
        }
    }

    func begin(
        _ lab: SharingLab, notes: Int = 120, defersSwap: Bool = false
    ) throws -> (ClusterRun, FilePath) {
        let store = try lab.forge("a.sqlite", notes: notes)
        let run = try lab.begin([store], strategy: .partitioned, defersSwap: defersSwap)
        try lab.ledger.append([
            .storeChanged(run: run.id, store: 1, .running, reason: nil, at: 1)
        ])
        return (run, store)
    }

    private func ownResult(_ lab: SharingLab) throws -> [UInt8] {
        let bytes = try lab.ownResult(of: lab.forge("a.sqlite", notes: 120), strategy: .partitioned)
        try lab.files.removeTree(lab.data)
        try lab.files.makeFolders(lab.data)
        return bytes
    }

    @Test func aStoreIsBuiltAndMoved() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab)
            let life = try Life(lab, run)
            let chunks = try life.prepare()
            #expect(chunks.steps.count > 3 && chunks.done == nil && chunks.voided == nil)
            #expect(chunks.engine == MigrationPlan.engineVersion && chunks.roots == ["all"])
            try life.build()
            try life.finish()
            #expect(try SharingLab.bytes(of: store) == own)
            try life.chunked.removeAll()
            #expect(try lab.strays().allSatisfy { $0.contains("backup") })
        }
    }

    @Test func anotherProcessGoesOnWhereOneDied() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab)
            let first = try Life(lab, run)
            let steps = try first.prepare().steps
            // Two steps are taken, a third one's shards are accepted, and one is renamed alone.
            for step in steps.prefix(2) {
                for work in step.works { _ = try first.accept(work) }
                try first.chunked.take(step, shards: first.shards(step))
            }
            for work in steps[2].works { _ = try first.accept(work) }
            let renamed = try first.deliver(try #require(steps[3].works.first))
            let named = try ResultIntake(of: run, checked: .init()).admit(renamed)
            first.chunked.close()

            try lab.reopen()
            let second = try Life(lab, try lab.find(run.id))
            let chunks = try second.prepare()
            #expect(chunks.done == 2 && chunks.voided == nil)
            #expect(chunks.planDigest == first.chunks?.planDigest)
            // Its worker says once more what it delivered.
            let again = try ResultIntake(of: second.run, checked: .init()).admit(renamed)
            #expect(again == named)
            try lab.ledger.append([.accepted(again, at: 1)])
            try second.build(from: 2, number: 2)
            try second.finish()
            #expect(try SharingLab.bytes(of: store) == own)
            #expect(try lab.ledger.attemptsAfterAcceptance(run: run.id) == 0)
        }
    }

    @Test func aStepThatWasDoneIsNotDoneAgain() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab)
            let life = try Life(lab, run)
            for step in try life.prepare().steps {
                for work in step.works { _ = try life.accept(work) }
                let shards = try life.shards(step)
                try life.chunked.take(step, shards: shards)
                // Its end was never told; the shards are gone by now.
                try life.chunked.take(step, shards: shards)
            }
            try life.finish()
            #expect(try SharingLab.bytes(of: store) == own)
        }
    }

    @Test func aStepThatFailedCanBeTakenAgain() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab)
            let life = try Life(lab, run)
            let steps = try life.prepare().steps
            for step in steps { for work in step.works { _ = try life.accept(work) } }
            for step in steps {
                let shards = try life.shards(step)
                let path = try lab.dependencies.roots.resolve(shards[0].files[0].file)
                let away = path.adding(suffix: "-away")
                try lab.files.rename(path, to: away, existing: .refuse)
                #expect(throws: RunError.self) {
                    try life.chunked.take(step, shards: shards)
                }
                try lab.files.rename(away, to: path, existing: .refuse)
                try life.chunked.take(step, shards: shards)
            }
            try life.finish()
            #expect(try SharingLab.bytes(of: store) == own)
        }
    }

    @Test func anAcceptedShardThatVanishedVoidsProgress() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab)
            let first = try Life(lab, run)
            let steps = try first.prepare().steps
            for work in steps[0].works { _ = try first.accept(work) }
            try first.chunked.take(steps[0], shards: first.shards(steps[0]))
            let lost = try first.accept(try #require(steps[1].works.first))
            first.chunked.close()
            let path = try lab.dependencies.roots.resolve(lost.files[0].file)
            try lab.files.removeTree(path.parent)

            try lab.reopen()
            let second = try Life(lab, try lab.find(run.id))
            second.beginAnew()
            let chunks = try second.prepare()
            #expect(chunks.done == nil)
            #expect(chunks.voided?.contains("missing or changed") == true)
            #expect(try lab.ledger.acceptedReceipts(run: run.id, store: 1).isEmpty)
            try second.build()
            try second.finish()
            #expect(try SharingLab.bytes(of: store) == own)
            // What was void may be done again.
            #expect(try lab.ledger.attemptsAfterAcceptance(run: run.id) == 0)
        }
    }

    @Test func aSourceThatChangedVoidsProgress() throws {
        try SharingLab.run { lab in
            let (run, store) = try begin(lab)
            let first = try Life(lab, run)
            let steps = try first.prepare().steps
            for work in steps[0].works { _ = try first.accept(work) }
            first.chunked.close()
            try write(to: store)
            try lab.reopen()
            let second = try Life(lab, try lab.find(run.id))
            second.beginAnew()
            let chunks = try second.prepare()
            #expect(chunks.done == nil && chunks.voided != nil)
            #expect(chunks.fingerprint != first.chunks?.fingerprint)
            try second.build()
            try second.finish()
            #expect(try lab.content(store).first == "ok")
        }
    }

    private func write(to store: FilePath) throws {
        let connection = try Connection(path: store, mode: .readWrite)
        try connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = Z_MAX + 1")
        try connection.close()
    }

    @Test func aSourceThatChangedBeforeItsSwapStaysAsItIs() throws {
        try SharingLab.run { lab in
            let (run, store) = try begin(lab)
            let life = try Life(lab, run)
            try life.prepare()
            try life.build()
            #expect(try life.chunked.index())
            #expect(try life.chunked.validate() == nil)
            // No other program can write while the store's lock is held: as after a restart.
            try write(to: store)
            let after = try lab.content(store)
            let error = #expect(throws: RunError.self) { _ = try life.chunked.move() }
            #expect(error?.cause == .sourceChanged)
            #expect(try lab.content(store) == after)
        }
    }

    @Test func aMoveThatWasWrittenDownIsMadeByTheNextProcess() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab)
            let first = try Life(lab, run)
            try first.prepare()
            try first.build()
            #expect(try first.chunked.index())
            #expect(try first.chunked.validate() == nil)
            lab.disk.fail { $0.operation == .rename || $0.operation == .link ? .error(EIO) : nil }
            #expect(throws: RunError.self) { _ = try first.chunked.move() }
            lab.disk.fail(nil)
            first.chunked.close()
            try lab.reopen()
            let again = try lab.find(run.id)
            let offer = try #require(try lab.reader(again).one(1).offer).offer
            #expect(offer.entry == .swap(isRequested: true))
            let found = try #require(try lab.ledger.store(run: run.id, 1)).found
            let endings = try ResultIntake(of: again, checked: .init()).move([found])
            _ = try #require(endings.first).result.get()
            #expect(try SharingLab.bytes(of: store) == own)
        }
    }

    @Test func aResultWhoseSwapIsPutOffIsKept() throws {
        try SharingLab.run { lab in
            let own = try ownResult(lab)
            let (run, store) = try begin(lab, defersSwap: true)
            let life = try Life(lab, run)
            try life.prepare()
            try life.build()
            #expect(try life.chunked.index())
            #expect(try life.chunked.validate() == nil)
            let before = try lab.content(store)
            try life.chunked.keep()
            life.chunked.close()
            try lab.ledger.append([
                .storeChanged(run: run.id, store: 1, .validated, reason: nil, at: 1)
            ])
            #expect(try lab.content(store) == before)
            try lab.reopen()
            let again = try lab.find(run.id)
            let found = try #require(try lab.ledger.store(run: run.id, 1)).found
            let endings = try ResultIntake(of: again, checked: .init()).move([found])
            _ = try #require(endings.first).result.get()
            #expect(try SharingLab.bytes(of: store) == own)
        }
    }
}
