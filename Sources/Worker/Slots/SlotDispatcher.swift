internal import CLinux
package import ClusterProtocol
package import Jobs
import Synchronization
import Threads

/// A pool of slots for callers that wait: any number of threads hand it jobs, and each gets its
/// own job's result.
///
/// One thread of its own starts the processes and listens to them.
package final class SlotDispatcher: Sendable {
    /// Told the rows and bytes of a running attempt, on the dispatcher's thread.
    package typealias Progress = @Sendable (_ rows: Int64, _ bytes: Int64) -> Void

    private struct Request: Sendable {
        let order: JobOrder
        let progress: Progress
        let answer: BoundedMailbox<Result<Receipt, SlotFailure>>
    }

    private struct Waiting {
        var requests: [Request] = []
        var isEnding = false
    }

    /// What the dispatcher shares with its thread, which does not hold the dispatcher.
    private final class Desk: Sendable {
        let waiting = Mutex(Waiting())
        let bell: Int32

        init() throws(SlotError) {
            bell = try SlotError.check(clinux_event_create(), "making an event")
        }

        deinit { _ = clinux_close(bell) }

        func ring() { _ = clinux_event_signal(bell) }
    }

    private let desk: Desk
    private let thread: OwnedThread

    /// - Parameters:
    ///   - plan: how many slots, of which program.
    ///   - clock: milliseconds that never go back.
    /// - Throws: `SlotError` where no descriptor, and `ThreadError` where no thread is to be had.
    package init(_ plan: SlotPlan, clock: @escaping @Sendable () -> Int64) throws {
        let desk = try Desk()
        let started = BoundedMailbox<SlotError?>(capacity: 1)
        let thread = try OwnedThread(name: "slots") {
            do throws(SlotError) {
                let pool = try SlotPool(plan, now: clock())
                try Self.listen(pool, desk, clock, started)
            } catch {
                started.send(error)
            }
        }
        if let found = started.receive(), let error = found {
            thread.join()
            throw error
        }
        self.desk = desk
        self.thread = thread
    }

    /// Ends the processes; jobs that were not done end as `cancelled`.
    ///
    /// Called once, at the end.
    package func end() {
        desk.waiting.withLock { $0.isEnding = true }
        desk.ring()
        thread.join()
    }

    /// Runs an attempt on the next free slot and waits for its end.
    ///
    /// - Throws: `SlotFailure` with the code and why.
    package func run(
        _ order: JobOrder, progress: @escaping Progress = { _, _ in }
    ) throws(SlotFailure) -> Receipt {
        let request = Request(
            order: order, progress: progress, answer: BoundedMailbox(capacity: 1))
        let isTaken = desk.waiting.withLock { waiting in
            if !waiting.isEnding { waiting.requests.append(request) }
            return !waiting.isEnding
        }
        guard isTaken else { throw Self.cancelled }
        desk.ring()
        guard let answer = request.answer.receive() else { throw Self.cancelled }
        return try answer.get()
    }

    private static let cancelled = SlotFailure(code: .cancelled, text: "the slots have ended")

    private static func listen(
        _ pool: SlotPool, _ desk: Desk, _ clock: @Sendable () -> Int64,
        _ started: BoundedMailbox<SlotError?>
    ) throws(SlotError) {
        let set = try SlotError.check(clinux_poll_set_create(), "making a set of descriptors")
        defer { _ = clinux_close(set) }
        try SlotError.check(clinux_poll_set_add(set, pool.descriptor, 0), "watching slots")
        try SlotError.check(clinux_poll_set_add(set, desk.bell, 1), "watching an event")
        started.send(nil)
        var running: [Int: Request] = [:]
        while !desk.waiting.withLock({ $0.isEnding }) {
            _ = clinux_event_drain(desk.bell)
            for notice in pool.receive(now: clock()) { tell(notice, &running) }
            hand(pool, desk, clock(), &running)
            var numbers: [UInt64] = [0, 0]
            let wait = pool.nextWake.map { max(0, $0 - clock()) } ?? -1
            _ = clinux_poll_set_wait(set, &numbers, 2, Int32(clamping: wait))
        }
        let left = desk.waiting.withLock { $0.requests } + running.values
        for request in left { request.answer.send(.failure(cancelled)) }
    }

    private static func hand(
        _ pool: SlotPool, _ desk: Desk, _ now: Int64, _ running: inout [Int: Request]
    ) {
        for slot in pool.free {
            let next = desk.waiting.withLock { waiting in
                waiting.requests.isEmpty ? nil : waiting.requests.removeFirst()
            }
            guard let next else { return }
            do throws(SlotError) {
                try pool.run(next.order, on: slot, now: now)
                running[slot] = next
            } catch {
                // The slot ended while it was free: the job has not been seen by anybody.
                desk.waiting.withLock { $0.requests.insert(next, at: 0) }
            }
        }
    }

    private static func tell(_ notice: SlotNotice, _ running: inout [Int: Request]) {
        switch notice.event {
        case .started, .ended: return
        case .progress(_, let rows, let bytes): running[notice.slot]?.progress(rows, bytes)
        case .delivered(let receipt):
            running.removeValue(forKey: notice.slot)?.answer.send(.success(receipt))
        case .failed(let failure):
            running.removeValue(forKey: notice.slot)?.answer.send(
                .failure(SlotFailure(code: failure.code, text: failure.text)))
        }
    }
}
