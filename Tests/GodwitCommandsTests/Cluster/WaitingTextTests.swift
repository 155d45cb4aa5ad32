import ClusterProtocol
import Jobs
import Testing

@testable import CommandSupport

/// What people read of the reasons of runs and workers.
@Suite struct WaitingTextTests {
    private static let shortage = Shortage(
        roots: NameList(["run"]), policies: NameList(["p", "q"]),
        present: NameList(["a", "b", "c", "d", "e", "f", "g", "h"]))
    private static let cause = FailureReason(.inputOutput, "the disk is away")

    @Test(
        arguments: [
            (.noWorker, "no worker is connected"),
            (
                .noReadyWorker(UnreadyWorkers(quarantined: 1, notReady: 2)),
                "no suitable worker takes jobs: 1 quarantined, 2 not ready"
            ),
            (.noWorkerWithEngine("7"), "no worker with engine 7"),
            (
                .noSuitableWorker(shortage),
                "no worker has the root run and the policies p, q; the best match has the roots "
                    + "a, b, c, d, e, f and 2 more"
            ),
            (
                .noSuitableWorker(
                    Shortage(
                        roots: NameList(["a", "b"]), policies: NameList([]),
                        present: NameList([]))),
                "no worker has the roots a, b; the best match has no root"
            ),
            (
                .unclaimed(jobs: 1, seconds: 30),
                "1 job is leased to a silent worker; the lease ends in 30 s"
            ),
            (
                .unclaimed(jobs: 2, seconds: 24),
                "2 jobs are leased to silent workers; the leases end in 24 s"
            ),
            (.allWorkersBusy, "all workers are busy"),
            (.backOff(seconds: 9, nil), "waits before the next attempt"),
            (
                .backOff(seconds: 9, cause),
                "waits before the next attempt after: inputOutput: the disk is away"
            ),
            (.paused(.request), "paused on request"),
            (.paused(.space("x is full")), "paused: not enough space: x is full"),
            (.paused(.stopped("3 stores failed")), "paused: 3 stores failed"),
            (.behindOtherRuns, "other runs come first"),
            (.storeLimit(1), "the run's limit of 1 store at a time is reached"),
            (.jobLimit(3), "the run's limit of 3 jobs at a time is reached"),
            (
                .throttledJobs(run: nil, 1),
                "throttled to 1 job at a time, all runs together, until the throttle is lifted"
            ),
            (
                .throttledJobs(run: "r", 2),
                "throttled to 2 jobs at a time of run r, until its throttle is lifted"
            ),
            (
                .throttled(run: nil, bytesPerSecond: 900),
                "throttled to 900 bytes a second, all runs together, until the throttle is lifted"
            ),
            (.behindOtherStores, "other stores come first"),
            (.behindCoordinator, "the coordinator merges or checks other stores first"),
            (.stage(.replanning), "its store is replanning"),
            (.merge, "waits for the merge of earlier shards"),
            (.quarantined(nil), "quarantined until a replay"),
            (
                .quarantined(cause),
                "quarantined until a replay: inputOutput: the disk is away"
            ),
            (.offers, "the coordinator is reading the next stores"),
            (.behindOtherTasks, "merges, checks and swaps of other stores come first"),
            (.failedOnFreeWorkers, "the job just failed on the free workers"),
            (.noRoom("x is full"), "x is full"),
            (.ledgerFull, "the ledger's disk is full; it resumes when there is space"),
            (.ledgerUnreadable, "the coordinator could not read the ledger and is retrying"),
        ] as [(WaitingReason, String)])
    func runsSayWhyTheyWait(reason: WaitingReason, text: String) {
        #expect(reason.text == text)
    }

    @Test(
        arguments: [
            (10 << 20, "10.0 MiB"), (1, "1 byte"), ((1 << 20) - 1, "1.0 MiB"),
            (.max, "8388608.0 TiB"),
        ] as [(Int64, String)])
    func amountsAreWords(limit: Int64, words: String) {
        #expect(
            WaitingReason.throttled(run: "r", bytesPerSecond: limit).text
                == "throttled to \(words) a second of run r, until its throttle is lifted")
    }

    @Test(
        arguments: [
            (.notReady, "it has not reported that it is ready"),
            (.silent(seconds: nil), "no message from it"),
            (.silent(seconds: 24), "no message from it; its leases end in 24 s"),
            (.finishing, "it is finishing its jobs"),
            (.quarantined("failed 3 jobs"), "failed 3 jobs"),
            (.unchecked(jobs: 5), "5 of its jobs are done or under way and not checked yet"),
            (.waits(run: "r", .merge), "r: waits for the merge of earlier shards"),
            (
                .otherEngine("2", run: "r", needed: "1"),
                "engine 2; the jobs of r need engine 1"
            ),
            (
                .lacks(
                    run: "r",
                    Shortage(
                        roots: NameList(["run"]), policies: NameList([]),
                        present: NameList(["a", "rum"]))),
                "the jobs of r need the root run; it has the roots a, rum"
            ),
            (.noJob, "no job is waiting"),
        ] as [(IdleReason, String)])
    func workersSayWhyTheyGetNothing(reason: IdleReason, text: String) {
        #expect(reason.text == text)
    }

    @Test func aReasonThatSaysItWaitsIsNotToldTwice() {
        let merge = WaitingReason.merge
        #expect(merge.line(isRest: false) == merge.text)
        #expect(merge.line(isRest: true) == "the rest \(merge.text)")
        #expect(WaitingReason.backOff(seconds: 1, nil).line(isRest: false).hasPrefix("waits b"))
        let counted = WaitingReason.unclaimed(jobs: 2, seconds: 1)
        #expect(counted.line(isRest: true) == counted.text)
        // Texts decide nothing.
        #expect(WaitingReason.noRoom("2 bytes").line(isRest: false) == "waits: 2 bytes")
        #expect(WaitingReason.noWorker.line(isRest: true).hasPrefix("the rest waits: no worker"))
    }

    @Test func whatChangesByItselfIsLeftOut() {
        let same: [(WaitingReason, WaitingReason)] = [
            (.unclaimed(jobs: 1, seconds: 30), .unclaimed(jobs: 2, seconds: 9)),
            (
                .backOff(seconds: 3, Self.cause),
                .backOff(seconds: 2, FailureReason(.inputOutput, "b"))
            ),
            (.quarantined(Self.cause), .quarantined(FailureReason(.inputOutput, "b"))),
            (.paused(.space("1 byte is free")), .paused(.space("2 bytes are free"))),
            (.noRoom("1 byte is free"), .noRoom("2 bytes are free")),
            (
                .noReadyWorker(UnreadyWorkers(draining: 1)),
                .noReadyWorker(UnreadyWorkers(draining: 3))
            ),
        ]
        for (one, other) in same { #expect(one.lasting == other.lasting) }
        let different: [(WaitingReason, WaitingReason)] = [
            (.backOff(seconds: 3, Self.cause), .backOff(seconds: 3, nil)),
            (.backOff(seconds: 3, Self.cause), .backOff(seconds: 3, FailureReason(.noSpace, "b"))),
            (.paused(.stopped("a")), .paused(.stopped("b"))), (.jobLimit(1), .jobLimit(2)),
            (
                .noReadyWorker(UnreadyWorkers(draining: 1)),
                .noReadyWorker(UnreadyWorkers(notReady: 1))
            ),
        ]
        for (one, other) in different { #expect(one.lasting != other.lasting) }
    }
}
