import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Glibc
import Jobs
import MigrationPlans
import RunLedger
import RunService
import StateFolders
import StoreRuns
import Testing

@Suite struct RecordMappingTests {
    private let key = StoreKey(run: "r1", number: 3)
    private let file = FileReference(root: "all", path: "plan.json")
    private let cause = FailureReason(.damaged, "page 3 is damaged")
    private var mapping = RecordMapping(bootIdentifier: "boot", wallTime: { 9 })

    private func plan(_ shape: StorePlan.Shape, engine: String? = "e1") -> StorePlan {
        StorePlan(
            shape: shape,
            template: JobTemplate(
                plan: file, planDigest: "digest", source: file, sourceFingerprint: "print",
                engine: engine), attempts: file, hasSnapshot: true)
    }

    @Test func attemptsAndJobsAreOneToOne() throws {
        var mapping = mapping
        let work = Work.copy(chunk: 4)
        let receipt = Receipt(
            run: "r1", store: 3, work: work, attempt: "a", epoch: 2, files: [], rows: 1,
            sums: [:], counts: [:])
        let reason = FailureReason(.damaged, "page 3 is damaged")
        let pairs: [(CoordinatorRecord, [LedgerRecord])] = [
            (
                .attemptBegan(key, work, attempt: "a", epoch: 2, worker: "w1"),
                [
                    .attemptBegan(
                        run: "r1", store: 3, work: work, attempt: "a", epoch: 2, at: 9,
                        worker: "w1")
                ]
            ),
            (.accepted(receipt), [.accepted(receipt, at: 9)]),
            (
                .attemptFailed(key, attempt: "a", cause),
                [.attemptFailed(run: "r1", attempt: "a", reason, at: 9)]
            ),
            (
                .epochRaised(key, work, to: 5),
                [.epochRaised(run: "r1", store: 3, work: work, to: 5)]
            ),
            (
                .jobQuarantined(key, work, cause),
                [.jobGivenUp(run: "r1", store: 3, work: work, reason)]
            ),
            (
                .progressReset(key, reason: "changed"),
                [.progressReset(run: "r1", store: 3, reason: "changed", at: 9)]
            ),
            // The names are written down by the task that moves the files.
            (.swapIntended(key), []),
        ]
        for (said, expected) in pairs { #expect(try mapping.records(of: said) == expected) }
    }

    @Test func aPlanIsKeptWhereItOutlivesAStart() throws {
        var mapping = mapping
        let steps: [StorePlan.Step] = [
            .append(chunk: 0), .merge(chunks: 1..<4), .link(chunk: 0), .link(chunk: 1),
        ]
        let expected = Preparation(
            sourceFingerprint: "print", planDigest: "digest", engine: "e1", hasSnapshot: true,
            bootIdentifier: "boot", chunks: 4, linkChunks: 2)
        #expect(
            try mapping.records(of: .storePrepared(key, plan(.partitioned(steps: steps))))
                == [.storePrepared(run: "r1", store: 3, expected)])
        // A store of one job is planned by its worker.
        #expect(try mapping.records(of: .storePrepared(key, plan(.whole, engine: nil))).isEmpty)
    }

    @Test func aRunIsToldEachStateOnce() throws {
        var mapping = mapping
        mapping.learn(.open, of: "r1")
        #expect(
            try mapping.records(of: .runChanged(run: "r1", .open, .restarted)).isEmpty)
        let paused = try mapping.records(of: .runChanged(run: "r1", .paused, .paused(.request)))
        #expect(paused == [.runChanged(run: "r1", .paused, .paused(.request), at: 9)])
        #expect(try mapping.records(of: .runChanged(run: "r1", .paused, .paused(.request))).isEmpty)
        for state in [RunState.open, .ended, .open, .cancelled] {
            #expect(
                try mapping.records(of: .runChanged(run: "r1", state, .resumed))
                    == [.runChanged(run: "r1", state, .resumed, at: 9)])
        }
        // The ledger refuses what leads nowhere, and the coordinator would end with that.
        for state in RunState.allCases {
            #expect(try mapping.records(of: .runChanged(run: "r1", state, .resumed)).isEmpty)
        }
    }

    @Test func aFailedSyncTravelsAsOne() {
        let task = CoordinatorTask(id: TaskID(1), store: key, kind: .index)
        let lost = DurableFileError.system(.sync, FilePath("/a"), number: EIO)
        for error in [RunError.file(lost), .engine(.file(lost))] {
            let report = TaskReport(task, failed: error)
            #expect(report.outcome == .failed(.syncFailed, text: "\(error)"))
        }
        let halfway = TaskReport(task, failed: .file(lost), hasMoved: true)
        guard case .interrupted(.syncFailed, let text) = halfway.outcome else {
            Issue.record("the move goes on")
            return
        }
        #expect(text.contains("godwit rollback"))
        // A full disk, too, may have lost what was written before.
        let full = RunError.file(.system(.sync, FilePath("/a"), number: ENOSPC))
        #expect(SharedFailure(full).cause == .syncFailed && full.isOutOfSpace)
        let broken = DurableFileError.system(.read, FilePath("/a"), number: EIO)
        #expect(SharedFailure(.file(broken)).cause == .inputOutput)
    }

    @Test func aFailureIsReportedWithItsCause() throws {
        var mapping = mapping
        for cause in FailureCause.allCases {
            let records = try mapping.records(
                of: .storeChanged(key, .failed, FailureReason(cause, "page 3 is damaged")))
            #expect(
                records == [
                    .storeChanged(
                        run: "r1", store: 3, .failed,
                        reason: FailureReason(cause, "page 3 is damaged"), at: 9),
                    try StoreRecord.failure(cause).record(run: "r1", store: 3),
                    .released(run: "r1", store: 3),
                ])
        }
    }

    @Test func otherStatesOfStores() throws {
        var mapping = mapping
        for state in [StoreState.running, .validated, .done] {
            #expect(
                try mapping.records(of: .storeChanged(key, state, nil))
                    == [.storeChanged(run: "r1", store: 3, state, reason: nil, at: 9)])
        }
        #expect(
            try mapping.records(of: .storeChanged(key, .cancelled, nil))
                == [
                    .storeChanged(run: "r1", store: 3, .cancelled, reason: nil, at: 9),
                    .released(run: "r1", store: 3),
                ])
    }

    @Test func aQuarantinedWorkerIsNotedWithEveryOpenRun() throws {
        var mapping = mapping
        for (run, state) in [("r2", RunState.open), ("r1", .open), ("r3", .ended)] {
            mapping.learn(state, of: run)
        }
        let records = try mapping.records(of: .workerQuarantined(worker: "w1", reason: "bad"))
        #expect(
            records
                == ["r1", "r2"].map {
                    .note(
                        run: $0, store: nil, kind: "worker-quarantined", text: "w1: bad", at: 9)
                })
    }
}
