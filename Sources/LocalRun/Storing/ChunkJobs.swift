import Jobs
import MigrationEngine
import RunLedger
import Threads

/// Hands the jobs of one store to the slots of its run and gives out their receipts in order.
///
/// Receipts wait until all earlier ones were taken, so that shards are merged in the order of
/// the plan, never of arrival; and only so many jobs run ahead of the merge that the shards which
/// wait for it stay few.
final class ChunkJobs {
    private typealias Message = (work: Work, result: Result<Receipt, RunError>)

    private let context: RunContext
    private let makers: JobMaker
    private let mailbox: BoundedMailbox<Message>
    /// Attempts that earlier processes began.
    private var begun: [Work: Int] = [:]
    private var epochs: [Work: Int] = [:]
    private var waiting: ArraySlice<Work> = []
    private var arrived: [Work: Result<Receipt, RunError>] = [:]
    private var running = 0
    /// Jobs that may run or have results that nobody took.
    private let window: Int

    /// How many jobs run ahead of the merge.
    static func window(slots: Int) -> Int { max(1, slots) * 2 + 1 }

    /// How often a job is tried whose failure may pass by itself.
    static let attemptLimit = 3

    /// Whether jobs run on the calling thread, which is a slot itself: waiting for other slots
    /// from a slot may last for ever.
    private let isInline: Bool

    init(context: RunContext, makers: JobMaker, attempts: [AttemptSummary], isInline: Bool) {
        self.isInline = isInline
        self.context = context
        self.makers = makers
        window = Self.window(slots: context.request.slots)
        mailbox = BoundedMailbox(capacity: window)
        for attempt in attempts {
            begun[attempt.work, default: 0] += 1
            epochs[attempt.work] = max(epochs[attempt.work] ?? 1, attempt.epoch)
        }
    }

    /// Adds jobs behind those that are there.
    func queue(_ works: [Work]) {
        waiting += works
        refill()
    }

    /// Waits for a job's receipt; jobs are asked for in the order in which they were queued.
    ///
    /// - Throws: the job's error. Where something outside the store is at fault, all other jobs
    ///   are done first, so that a replay has nothing to do but the ones that failed.
    func receipt(of work: Work) throws(RunError) -> Receipt {
        while arrived[work] == nil {
            guard running > 0, let message = mailbox.receive() else {
                throw .engine(.internalError("the result of job \(work.name) is missing"))
            }
            take(message)
        }
        let result = arrived.removeValue(forKey: work)
        refill()
        switch result {
        case .success(let receipt): return receipt
        case .failure(let error):
            if error.code.decision == .retry { finishOthers() }
            throw error
        case nil:
            throw .engine(.internalError("the result of job \(work.name) is missing"))
        }
    }

    /// Waits for jobs that are running; those that are not begun are dropped.
    func wait() {
        waiting = []
        while running > 0, let message = mailbox.receive() { take(message) }
    }

    private func finishOthers() {
        arrived = [:]
        while running > 0 || !waiting.isEmpty {
            refill()
            guard let message = mailbox.receive() else { return }
            running -= 1
            // Out of room, or a ledger that takes no more: nothing is to be gained.
            if case .failure(let error) = message.result, error.code.decision == .pause {
                waiting = []
            }
        }
    }

    private func take(_ message: Message) {
        running -= 1
        arrived[message.work] = message.result
    }

    private func refill() {
        while running + arrived.count < window, let work = waiting.popFirst() {
            running += 1
            let number = (begun[work] ?? 0) + 1
            begun[work] = number
            let attempts = AttemptRun(
                context: context, job: makers.job(work), epoch: epochs[work] ?? 1, first: number,
                makers: makers)
            let mailbox = mailbox
            if isInline {
                _ = mailbox.send((work, attempts.run(until: context.cancellation)))
                continue
            }
            let isTaken = context.slots?.submit(to: RunContext.Lane.large.rawValue) { slot in
                _ = mailbox.send((work, attempts.run(until: slot.cancellation)))
            }
            if isTaken != true { _ = mailbox.send((work, .failure(.stopped))) }
        }
    }
}

/// The attempts of one job on one slot: begun, ended and accepted in the ledger.
private struct AttemptRun: Sendable {
    let context: RunContext
    let job: Job
    let epoch: Int
    /// The number of the first attempt.
    let first: Int
    let makers: JobMaker

    func run(until cancellation: CancelFlag) -> Result<Receipt, RunError> {
        var number = first
        while true {
            if cancellation.isCancelled { return .failure(.stopped) }
            do throws(RunError) {
                return .success(try attempt(number))
            } catch {
                let isLast = number - first + 1 >= ChunkJobs.attemptLimit
                guard !isLast, error.code.decision == .retry else { return .failure(error) }
                number += 1
            }
        }
    }

    private func attempt(_ number: Int) throws(RunError) -> Receipt {
        let attempt = makers.attempt(job.work, number: number, epoch: epoch)
        try append(
            .attemptBegan(
                run: job.run, store: job.store, work: job.work, attempt: attempt.id,
                epoch: epoch, at: context.environment.wallTime()))
        let receipt: Receipt
        do throws(EngineError) {
            receipt = try makers.run(job, attempt)
        } catch {
            makers.discard(attempt)
            try append(
                .attemptFailed(
                    run: job.run, attempt: attempt.id,
                    FailureReason(code: error.code, text: "\(error)"),
                    at: context.environment.wallTime()))
            throw .engine(error)
        }
        try append(.accepted(receipt, at: context.environment.wallTime()))
        return receipt
    }

    private func append(_ record: LedgerRecord) throws(RunError) {
        try context.record([record])
    }
}
