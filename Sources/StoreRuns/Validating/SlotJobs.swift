import MigrationPlans
import SafeSQLite
import Threads

/// Hands jobs to the slots of a run and takes their results in the order of submission.
///
/// Results wait until all earlier ones were taken, so that shards are merged in the order of the
/// plan, never of arrival.
final class SlotJobs<Output: Sendable> {
    private typealias Message = (number: Int, result: Result<Output, EngineError>)

    private let slots: SlotThreads<Void>
    private let mailbox: BoundedMailbox<Message>
    private var early: [Int: Result<Output, EngineError>] = [:]
    private var submitted = 0
    private var taken = 0

    /// - Parameters:
    ///   - count: of slots.
    ///   - jobs: the most jobs that are ever submitted.
    /// - Throws: `EngineError.internalError` where threads cannot be started.
    init(count: Int, jobs: Int) throws(EngineError) {
        do {
            slots = try SlotThreads(
                count: max(1, count), name: "slot", queueCapacity: max(1, jobs))
            mailbox = BoundedMailbox(capacity: max(1, jobs))
        } catch {
            throw .internalError("threads cannot be started: \(error)")
        }
    }

    /// Queues a job; its body runs on a slot.
    func submit(_ body: @escaping @Sendable () throws(EngineError) -> Output) {
        let (number, mailbox, stop) = (submitted, mailbox, StatementStop.current)
        submitted += 1
        slots.submit { _ in
            let result: Result<Output, EngineError>
            do throws(EngineError) {
                result = .success(try StatementStop.reaching(stop, body))
            } catch {
                result = .failure(error)
            }
            _ = mailbox.send((number, result))
        }
    }

    /// Waits for the next result in the order of submission.
    ///
    /// - Throws: the job's error.
    func next() throws(EngineError) -> Output {
        while early[taken] == nil {
            guard taken < submitted, let message = mailbox.receive() else {
                throw .internalError("a job's result is missing")
            }
            early[message.number] = message.result
        }
        let result = early.removeValue(forKey: taken)
        taken += 1
        switch result {
        case .success(let output): return output
        case .failure(let error): throw error
        case nil: throw .internalError("a job's result is missing")
        }
    }

    /// Ends the slots; jobs that were not begun are dropped.
    func end() {
        slots.cancellation.cancel()
        _ = slots.finish()
    }
}
