import ClusterTables
import ClusterVocabulary
import Jobs
import TestSupport
import Testing

@testable import ClusterCore

@Suite struct SupportTests {
    @Test func priorityTableAgreesWithASortedList() {
        var random = SeededGenerator(seed: 11)
        var table = PriorityTable<Int, Int>()
        var list: [Int: Int] = [:]
        for _ in 0..<3000 {
            let key = Int.random(in: 0..<60, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                table.remove(key)
                list[key] = nil
            case 1:
                let least = list.values.min()
                #expect(table.first?.priority == least)
                if let popped = table.popFirst() {
                    #expect(list[popped] == least)
                    list[popped] = nil
                }
            default:
                let priority = Int.random(in: 0..<40, using: &random)
                table.set(key, priority)
                list[key] = priority
            }
            #expect(table.isSound)
            #expect(table.count == list.count)
            #expect(table.priority(of: key) == list[key])
        }
    }

    @Test func queueIsFirstInFirstOut() {
        var queue = Queue<Int>()
        var next = 0
        for number in 0..<1000 {
            queue.append(number)
            if number % 3 == 0 {
                let first = queue.popFirst()
                #expect(first == next)
                next += 1
            }
        }
        #expect(queue.all == Array(next..<1000))
        while let first = queue.popFirst() {
            #expect(first == next)
            next += 1
        }
        #expect(next == 1000 && queue.isEmpty)
    }

    @Test func jitterDoublesWithinBoundsAndIsTheSameEveryTime() {
        let jitter = Jitter(seed: 5)
        let backoff = Backoff(first: 100, longest: 10_000)
        for tries in 1...12 {
            let middle = min(Int64(100) << (tries - 1), 10_000)
            let wait = jitter.wait(backoff, tries: tries, for: "job")
            #expect(wait >= middle * 3 / 4 && wait <= middle * 5 / 4)
            #expect(wait == Jitter(seed: 5).wait(backoff, tries: tries, for: "job"))
        }
        let many = Set((0..<50).map { jitter.wait(backoff, tries: 7, for: "job \($0)") })
        #expect(many.count > 40)
        #expect(jitter.wait(Backoff(first: .max, longest: .max), tries: 99, for: "") > 0)
    }

    @Test func tokensComeBackWithTime() {
        var bucket = TokenBucket(bytesPerSecond: 1000, now: .zero)
        func isOpen(_ milliseconds: Int64) -> Bool {
            bucket.isOpen(Instant(milliseconds: milliseconds))
        }
        #expect(isOpen(0))
        bucket.take(3000)
        #expect(!isOpen(0))
        let opens = bucket.opens(after: .zero)
        #expect(opens.milliseconds > 1990 && opens.milliseconds < 2010)
        #expect(!isOpen(1900))
        #expect(isOpen(2010))
        // What is not used is not saved up beyond a second's worth.
        #expect(isOpen(1_000_000))
        bucket.take(1001)
        #expect(!isOpen(1_000_000))
        var open = TokenBucket(bytesPerSecond: nil)
        open.take(.max)
        let isOpenAlways = open.isOpen(.zero)
        #expect(isOpenAlways)
    }

    @Test func jobsComeInTheOrderOfThePlan() {
        var jobs = StageJobs(count: 6)
        func take(_ limit: Int, _ worker: String = "w") -> Int? {
            jobs.take(below: limit, for: worker)
        }
        jobs.setKnown(1)
        #expect(take(3) == 0)
        #expect(take(3) == 2)
        #expect(take(3) == nil)
        jobs.putBack(2, avoiding: ["w"])
        jobs.putBack(0)
        #expect(take(6) == 0)
        #expect(take(6) == 3)
        #expect(take(6, "v") == 2)
        jobs.putBack(2, avoiding: ["w"])
        jobs.openToAll(2)
        #expect(take(6) == 2)
        #expect(take(6) == 4)
        #expect(take(6) == 5)
        let hasNext = jobs.hasNext(below: 6)
        #expect(!hasNext)
        jobs.accepted = 5
        #expect(!jobs.isSettled)
        jobs.quarantined = 1
        #expect(jobs.isSettled)
    }

    @Test(arguments: FailureCause.allCases)
    func everyFailureHasAVerdict(_ code: FailureCause) {
        let policy = FailurePolicy(limits: QuarantineLimits())
        var job = JobState(nil)
        let verdict = policy.count(FailureReason(code, "x"), on: "w", &job)
        switch code {
        case .damaged, .dataRefused, .bug, .unsupported, .modelMissing,
            .externalDataMissing, .noMapping, .outputExists, .validationFailed, .swapRefused,
            .losses, .olderDestination, .policyFailed, .policyMissing, .programFailed:
            #expect(verdict == .quarantine)
        case .sourceChanged, .wrongPlan, .noSpace, .returned, .stopped, .wrongEngine,
            .syncFailed:
            #expect(verdict == .again)
        case .inputOutput, .crashed, .timedOut, .outOfMemory, .leaseExpired, .missing,
            .locked, .badDelivery:
            #expect(verdict == .later(tries: 1))
        }
    }

    @Test func failuresOnDistinctWorkersGiveAJobUp() {
        let policy = FailurePolicy(limits: QuarantineLimits())
        let cause = FailureReason(.crashed, "x")
        var job = JobState(nil)
        func fail(_ reason: FailureReason, _ worker: String) -> FailurePolicy.Verdict {
            policy.count(reason, on: worker, &job)
        }
        #expect(fail(cause, "a") == .later(tries: 1))
        #expect(fail(cause, "b") == .later(tries: 2))
        #expect(fail(cause, "c") == .quarantine)
        // One worker alone has more tries.
        job = JobState(nil)
        for tries in 1...5 { #expect(fail(cause, "a") == .later(tries: tries)) }
        #expect(fail(cause, "a") == .quarantine)
        // Lost leases say little.
        job = JobState(nil)
        let lost = FailureReason(.leaseExpired, "x")
        for _ in 1..<50 { #expect(fail(lost, "a") != .quarantine) }
        #expect(fail(lost, "a") == .quarantine)
    }

    @Test(arguments: [
        [StorePlan.Step.append(chunk: 1)], [.link(chunk: 0), .append(chunk: 0)],
        [.merge(chunks: 0..<0)], [.append(chunk: 0), .merge(chunks: 0..<2)], [.link(chunk: 3)],
    ])
    func plansOutOfOrderAreRefused(_ steps: [StorePlan.Step]) {
        #expect(
            StoreProgress.fault(in: CoordinatorBench.plan(.partitioned(steps: steps))) != nil)
    }

    @Test func tasksOfBothKindsGetTheirShare() {
        var table = TaskTable(limit: 3)
        let heavy = PendingTask(store: 1, generation: 0, kind: .validate)
        let light = PendingTask(store: 2, generation: 0, kind: .swap)
        for _ in 0..<5 {
            table.append(heavy)
            table.append(light)
        }
        var begun: [TaskID] = []
        while let task = table.next() { begun.append(table.begin(task)) }
        #expect(begun.count == 3)
        #expect(Set(table.running.values.map(\.isHeavy)) == [true, false])
        func end(_ id: TaskID) -> PendingTask? { table.end(id) }
        for id in begun { #expect(end(id) != nil) }
        #expect(end(TaskID(99)) == nil)
        var left = 0
        while let task = table.next() {
            left += 1
            _ = table.end(table.begin(task))
        }
        #expect(left == 7 && table.isIdle)
    }
}
