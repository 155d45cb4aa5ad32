internal import Synchronization

/// How one piece of work on a slot ended.
package enum SlotOutcome<Output: Sendable>: Sendable {
    case done(Output)
    case failed(any Error)
    /// Cancelled before it was begun.
    case notBegun

    /// The output.
    ///
    /// - Throws: the work's error, or `CancellationError` where it was not begun.
    package func get() throws -> Output {
        switch self {
        case .done(let output): return output
        case .failed(let error): throw error
        case .notBegun: throw CancellationError()
        }
    }
}

/// What a piece of work knows about where it runs.
package struct Slot: Sendable {
    /// 0 up to the number of slots: the index of scratch that is reused between pieces.
    package let index: Int
    /// Asked by long work now and then.
    package let cancellation: CancelFlag
}

/// A fixed number of threads that run synchronous work from a bounded queue.
///
/// `submit` waits while the queue is full, so that the producer never runs far ahead. Outcomes
/// come back in the order of submission, whichever slot was faster. One piece's error does not
/// stop the others; work that shall stop them cancels.
package final class SlotThreads<Output: Sendable>: Sendable {
    /// One piece of work.
    package typealias Work = @Sendable (Slot) throws -> Output

    private struct Piece: Sendable {
        let index: Int
        let work: Work
    }

    /// Outcomes by submission, nil while open; shared with the threads, which do not hold us.
    private final class Outcomes: Sendable {
        let all = Mutex<[SlotOutcome<Output>?]>([])
    }

    /// Asks running work to stop and keeps queued work from being begun.
    package let cancellation: CancelFlag
    private let queue: BoundedMailbox<Piece>
    private let outcomes: Outcomes
    private let threads: [OwnedThread]
    /// Keeps indexes and the queue in one order when several threads submit.
    private let submission = Mutex(())

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - count: of threads, at least 1.
    ///   - name: of the threads, followed by their number; 15 bytes are shown.
    ///   - queueCapacity: pieces that wait for a slot, at least 1.
    ///   - stackBytes: of each thread.
    ///   - cancellation: a flag that the caller shares with other work.
    /// - Throws: `ThreadError` where a thread cannot be started; none is left then.
    package init(
        count: Int, name: String, queueCapacity: Int = 2,
        stackBytes: Int = OwnedThread.standardStackBytes, cancellation: CancelFlag = CancelFlag()
    ) throws(ThreadError) {
        precondition(count > 0, "slots are needed to run work")
        let queue = BoundedMailbox<Piece>(capacity: queueCapacity)
        let outcomes = Outcomes()
        var started: [OwnedThread] = []
        do {
            for index in 0..<count {
                let slot = Slot(index: index, cancellation: cancellation)
                started.append(
                    try OwnedThread(name: "\(name) \(index)", stackBytes: stackBytes) {
                        Self.serve(slot, queue, outcomes)
                    })
            }
        } catch {
            queue.close()
            for thread in started { thread.join() }
            throw error
        }
        self.cancellation = cancellation
        self.queue = queue
        self.outcomes = outcomes
        threads = started
    }

    /// Slots that are let go without `finish()`, on the way out of an error, are cancelled.
    deinit {
        guard !queue.isClosed else { return }
        cancellation.cancel()
        queue.close()
        for thread in threads { thread.join() }
    }

    /// Queues a piece of work, waiting for room; false, and it is dropped, after `finish()`.
    ///
    /// Not to be called from work: slots that all wait for room would never get any.
    @discardableResult
    package func submit(_ work: @escaping Work) -> Bool {
        submission.withLock { _ in
            let index = outcomes.all.withLock { all in
                all.append(nil)
                return all.count - 1
            }
            let isSent = queue.send(Piece(index: index, work: work))
            if !isSent { outcomes.all.withLock { all in _ = all.removeLast() } }
            return isSent
        }
    }

    /// Waits for all work and returns the outcomes in the order of submission.
    ///
    /// The threads end; nothing can be submitted afterwards. Called once: a second call returns
    /// the same outcomes.
    package func finish() -> [SlotOutcome<Output>] {
        queue.close()
        for thread in threads { thread.join() }
        return outcomes.all.withLock { all in all.map { $0 ?? .notBegun } }
    }

    /// Runs one piece of work per input and returns the outcomes in the inputs' order.
    ///
    /// Inputs are drawn only as fast as slots take them. After cancellation the rest is drawn
    /// too and not begun, so that every input has its outcome.
    ///
    /// - Throws: `ThreadError` where the threads cannot be started.
    package static func map<Input: Sendable>(
        _ inputs: some Sequence<Input>, count: Int, name: String,
        cancellation: CancelFlag = CancelFlag(),
        work: @escaping @Sendable (Input, Slot) throws -> Output
    ) throws(ThreadError) -> [SlotOutcome<Output>] {
        let slots = try SlotThreads(
            count: count, name: name, queueCapacity: count, cancellation: cancellation)
        for input in inputs {
            slots.submit { slot in try work(input, slot) }
        }
        return slots.finish()
    }

    private static func serve(
        _ slot: Slot, _ queue: BoundedMailbox<Piece>, _ outcomes: Outcomes
    ) {
        while let piece = queue.receive() {
            let outcome: SlotOutcome<Output>
            if slot.cancellation.isCancelled {
                outcome = .notBegun
            } else {
                do {
                    outcome = .done(try piece.work(slot))
                } catch {
                    outcome = .failed(error)
                }
            }
            outcomes.all.withLock { $0[piece.index] = outcome }
        }
    }
}
