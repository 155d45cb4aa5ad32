package import ClusterVocabulary
package import Jobs

/// How far one store has come.
///
/// What concerns one job is O(1), what concerns a step O(shards of the step).
package struct StoreProgress: Sendable {
    package let key: StoreKey
    package let bytes: Int64
    /// Its run's index.
    package let run: Int
    package var phase = StorePhase.waiting
    /// Whether the ledger has it as running.
    package var isRunning: Bool
    /// The plan as one reference: what is looked at with every job must be cheap to copy.
    package private(set) var planned: PlannedWork?
    package private(set) var isWhole = false
    private var steps: [StorePlan.Step] = []
    /// What its workers must have, by its index among requirements.
    package var requirement = 0
    /// The engine of its first job, where the plan names none.
    package var engine: String?
    /// What the ledger knew of jobs when it was offered.
    package var history: [Work: JobHistory]
    /// Accepted receipts that the ledger knew.
    package var known: [Receipt]

    package var jobs: [Work: JobState] = [:]
    package var copies = StageJobs(count: 0)
    package var links = StageJobs(count: 0)
    /// The step that is next or at work, by its index in the plan.
    package var step = 0
    /// Shards of that step that are not there.
    package private(set) var missing = 0
    /// Whether a task for that step was asked for.
    package var isStepAsked = false
    /// Whether its result is only being kept for a later swap.
    package var isKeeping = false
    /// Whether its swap, which waited, was asked for: where the store changed since, the result
    /// that is built again does not wait.
    package let isSwapRequested: Bool
    /// The last step that reads many shards at one time; -1 without one.
    private var lastMerge = -1

    /// Attempts that have not ended.
    package var live: Set<String> = []
    /// Tasks that the loop has.
    package var tasks = 0
    /// Tries of the task at hand.
    package var taskTries = 0
    /// How often it was planned again; tasks of earlier plans are stale.
    package var generation = 0
    /// Why it is to end.
    package var end: StoreEnd?
    /// Its turn among the stores of its run.
    package var pass: Int64 = 0
    /// Whether it counts among its run's large stores at work.
    package var isLarge = false
    /// What its jobs took.
    package var spent = Durations()

    /// A store as it is offered.
    ///
    /// - Parameters:
    ///   - offer: what the ledger knows of it.
    ///   - run: its run's index.
    package init(_ offer: StoreOffer, run: Int) {
        key = offer.key
        bytes = max(0, offer.bytes)
        self.run = run
        isRunning = offer.isRunning
        history = offer.jobs
        known = offer.accepted
        var isRequested = false
        if case .swap(isRequested: true) = offer.entry { isRequested = !offer.isMoving }
        isSwapRequested = isRequested
        if case .whole(let plan) = offer.entry { setPlan(plan) }
    }

    private mutating func setPlan(_ plan: StorePlan) {
        planned = PlannedWork(plan)
        switch plan.shape {
        case .whole:
            isWhole = true
            steps = []
        case .partitioned(let steps):
            isWhole = false
            self.steps = steps
        }
        lastMerge = steps.lastIndex { if case .merge = $0 { true } else { false } } ?? -1
    }

    /// The step at hand; nil after the last one.
    package var current: StorePlan.Step? {
        step < steps.count ? steps[step] : nil
    }

    /// Bytes that one job reads, for sharing.
    package var jobBytes: Int64 { isWhole ? bytes : bytes / Int64(max(1, copies.count)) }

    /// Why a plan cannot be worked by; nil where it can.
    package static func fault(in plan: StorePlan) -> String? {
        guard case .partitioned(let steps) = plan.shape else { return nil }
        var (copy, link) = (0, 0)
        for step in steps {
            switch step {
            case .append(let chunk):
                guard chunk == copy, link == 0 else { return "copy steps are out of order" }
                copy += 1
            case .merge(let chunks):
                guard chunks.lowerBound == copy, !chunks.isEmpty, link == 0 else {
                    return "merge steps are out of order"
                }
                copy = chunks.upperBound
            case .link(let chunk):
                guard chunk == link else { return "link steps are out of order" }
                link += 1
            }
        }
        return nil
    }

    /// Begins to work by a plan, with so many steps done.
    package mutating func begin(_ plan: StorePlan, done: Int) {
        setPlan(plan)
        jobs = [:]
        var (copy, link) = (0, 0)
        for step in steps {
            switch step {
            case .append: copy += 1
            case .merge(let chunks): copy += chunks.count
            case .link: link += 1
            }
        }
        copies = StageJobs(count: isWhole ? 1 : copy)
        links = StageJobs(count: link)
        step = min(max(0, done), steps.count)
        isStepAsked = false
        let delivered = Dictionary(
            known.map { ($0.work, $0.attempt) }, uniquingKeysWith: { first, _ in first })
        for done in steps.prefix(step) {
            for work in Self.works(of: done) { enter(work, nil, by: delivered[work]) }
        }
        for receipt in known where jobs[receipt.work] == nil && isPlanned(receipt.work) {
            enter(receipt.work, receipt)
        }
        known = []
        for (work, earlier) in history {
            if let cause = earlier.quarantined, isPlanned(work), jobs[work] == nil {
                giveUp(work, cause)
            }
        }
        countMissing()
    }

    /// A job that an earlier start gave up.
    private mutating func giveUp(_ work: Work, _ reason: FailureReason) {
        var job = JobState(history[work])
        job.phase = .quarantined
        job.cause = reason
        jobs[work] = job
        let number = Self.number(of: work)
        withStage(of: work) { stage in
            stage.quarantined += 1
            stage.setKnown(number)
        }
        end = StoreEnd(state: .failed, cause: reason)
    }

    /// Whether an attempt is the accepted one of its job; O(jobs).
    package func accepts(_ attempt: String) -> Bool {
        jobs.values.contains { $0.accepted == attempt }
    }

    /// Whether the plan has such a job.
    package func isPlanned(_ work: Work) -> Bool {
        switch work {
        case .whole: isWhole
        case .copy(let chunk): !isWhole && chunk >= 0 && chunk < copies.count
        case .link(let chunk): chunk >= 0 && chunk < links.count
        }
    }

    private mutating func enter(_ work: Work, _ receipt: Receipt?, by attempt: String? = nil) {
        var job = JobState(history[work])
        if let known = history[work] { job.epoch = known.epoch }
        job.phase = .accepted
        job.receipt = receipt
        job.accepted = receipt?.attempt ?? attempt ?? ""
        jobs[work] = job
        let number = Self.number(of: work)
        withStage(of: work) { stage in
            stage.accepted += 1
            stage.setKnown(number)
        }
    }

    /// The jobs whose shards a step takes.
    package static func works(of step: StorePlan.Step) -> [Work] {
        switch step {
        case .append(let chunk): [.copy(chunk: chunk)]
        case .merge(let chunks): chunks.map { .copy(chunk: $0) }
        case .link(let chunk): [.link(chunk: chunk)]
        }
    }

    /// What is to be known of jobs under the next plan: numbers of attempts and fences.
    package var nextHistory: [Work: JobHistory] {
        let begun = jobs.mapValues { JobHistory(epoch: $0.epoch, attempts: $0.attempts) }
        return history.mapValues { JobHistory(epoch: $0.epoch, attempts: $0.attempts) }
            .merging(begun) { _, new in new }
    }

    /// Changes the counts of the stage that a job belongs to.
    package mutating func withStage(of work: Work, _ body: (inout StageJobs) -> Void) {
        if case .link = work { body(&links) } else { body(&copies) }
    }

    /// A job's number in its stage.
    package static func number(of work: Work) -> Int {
        switch work {
        case .whole: 0
        case .copy(let chunk), .link(let chunk): chunk
        }
    }
}

/// A plan by reference; it never changes.
package final class PlannedWork: Sendable {
    package let plan: StorePlan

    package init(_ plan: StorePlan) { self.plan = plan }
}

/// How a store ends.
package struct StoreEnd: Hashable, Sendable {
    package let state: StoreState
    package let cause: FailureReason?

    package init(state: StoreState, cause: FailureReason?) {
        self.state = state
        self.cause = cause
    }
}

// MARK: - Steps and jobs

extension StoreProgress {
    /// Counts the shards of the step at hand that are not there.
    package mutating func countMissing() {
        missing = current.map { Self.works(of: $0).count { jobs[$0]?.receipt == nil } } ?? 0
    }

    /// Whether the shards of the step at hand are all there and no task was requested for it.
    package var isStepDue: Bool {
        guard current != nil, missing == 0, !isStepAsked else { return false }
        guard gathersShards, case .merge = current else { return true }
        return copies.isSettled && live.isEmpty
    }

    /// Whether all copies are made before the first merge: snapshot, shards and result together
    /// would take three times the source, so the snapshot goes while shards are merged.
    private var gathersShards: Bool {
        planned?.plan.hasSnapshot == true && step <= lastMerge
    }

    /// The receipts of the step at hand, in the order of the plan.
    package var shards: [Receipt] {
        current.map { Self.works(of: $0).compactMap { jobs[$0]?.receipt } } ?? []
    }

    /// Whether receipts are all that a step needs, each of its job's accepted attempt.
    package func areAccepted(_ shards: [Receipt], for step: StorePlan.Step) -> Bool {
        shards.map(\.work) == Self.works(of: step)
            && shards.allSatisfy { jobs[$0.work]?.accepted == $0.attempt }
    }

    /// Whether the result may be swapped in: a partitioned one after its validation, a small one
    /// when its job was accepted, for the admission validates it; and one that an earlier start
    /// has validated.
    package var maySwap: Bool {
        switch phase {
        case .waiting, .validating, .swapping: true
        case .copying: isWhole && jobs[.whole]?.accepted != nil
        case .preparing, .linking, .indexing, .replanning, .ending, .ended: false
        }
    }

    /// The destination holds the step at hand; its shards are gone.
    package mutating func finishStep() {
        if let current { for work in Self.works(of: current) { jobs[work]?.receipt = nil } }
        step += 1
        isStepAsked = false
        countMissing()
    }

    /// Keeps an accepted receipt until its step.
    package mutating func keep(_ receipt: Receipt) {
        jobs[receipt.work]?.receipt = receipt
        jobs[receipt.work]?.accepted = receipt.attempt
        withStage(of: receipt.work) { $0.accepted += 1 }
        if isNeededNow(receipt.work) { missing -= 1 }
    }

    private func isNeededNow(_ work: Work) -> Bool {
        switch (current, work) {
        case (.append(let chunk), .copy(let other)): chunk == other
        case (.merge(let chunks), .copy(let other)): chunks.contains(other)
        case (.link(let chunk), .link(let other)): chunk == other
        default: false
        }
    }

    /// Whether jobs of it were given up.
    package var hasQuarantined: Bool { copies.quarantined + links.quarantined > 0 }

    /// Whether jobs may be handed out in this phase.
    package var isHandingOut: Bool { phase == .copying || phase == .linking }

    /// Jobs from this number on wait until earlier shards are merged.
    private func limit(_ window: Int) -> Int {
        // All others are to be done, so that a replay has only the failed ones left.
        if hasQuarantined || isWhole || gathersShards { return Int.max }
        switch current {
        case .append(let chunk), .link(let chunk): return chunk + 1 + window
        case .merge(let chunks): return chunks.upperBound + window
        case nil: return 0
        }
    }

    /// Whether a job may be begun now, for some worker.
    package mutating func hasNext(window: Int) -> Bool {
        guard isHandingOut else { return false }
        let limit = limit(window)
        return phase == .linking
            ? links.hasNext(below: limit) : copies.hasNext(below: limit)
    }

    /// Takes the next job for a worker and makes its state.
    package mutating func takeJob(for worker: String, window: Int) -> Work? {
        guard isHandingOut else { return nil }
        let limit = limit(window)
        let work: Work
        if phase == .linking {
            guard let number = links.take(below: limit, for: worker) else { return nil }
            work = .link(chunk: number)
        } else {
            guard let number = copies.take(below: limit, for: worker) else { return nil }
            work = isWhole ? .whole : .copy(chunk: number)
        }
        if jobs[work] == nil { jobs[work] = JobState(history[work]) }
        return work
    }
}
