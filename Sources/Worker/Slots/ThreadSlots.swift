internal import CLinux
package import ClusterProtocol
import Jobs
internal import SafeSQLite
import Synchronization
import Threads

/// Slots that are threads of this process: for debuggers, sanitizers, and machines where no
/// process can be started.
///
/// A job that crashes ends the process, and no limit of memory holds for one job. A job is stopped
/// by interrupting its SQLite statements; it ends when the statement does.
package final class ThreadSlots: Slots {
    private struct Order: Sendable {
        let order: JobOrder
        let counter: RowCounter
        let stop: StatementStop
    }

    private struct End: Sendable {
        let slot: Int
        let attempt: String
        let result: Result<Receipt, SlotFailure>
    }

    private struct Running {
        let attempt: String
        var meter: SlotMeter
        let stop: StatementStop
        var watchdog: SlotWatchdog
        var nextReport: Int64
        /// Why it was stopped; nil while it is wanted.
        var cause: SlotStopCause?
    }

    private struct Slot {
        let orders: BoundedMailbox<Order>
        let thread: OwnedThread
        var running: Running?
    }

    private let limits: SlotLimits
    private let reportMilliseconds: Int64
    private let traffic: @Sendable () -> SlotMeter.Reading
    private let ends: BoundedMailbox<End>
    private var slots: [Slot] = []

    package let descriptor: Int32

    /// Starts the threads.
    ///
    /// - Parameters:
    ///   - count: of slots, at least 1.
    ///   - work: what jobs do.
    ///   - limits: of which the times hold.
    ///   - reportMilliseconds: how often progress is looked at.
    /// - Throws: `SlotError.system` where no descriptor or thread is to be had.
    package convenience init(
        count: Int, work: SlotWork, limits: SlotLimits, reportMilliseconds: Int
    ) throws(SlotError) {
        try self.init(
            count: count, work: work, limits: limits, reportMilliseconds: reportMilliseconds,
            traffic: SlotMeter.ofThisProcess)
    }

    /// As above, with a count of the bytes that jobs move in place of the kernel's.
    init(
        count: Int, work: SlotWork, limits: SlotLimits, reportMilliseconds: Int,
        traffic: @escaping @Sendable () -> SlotMeter.Reading
    ) throws(SlotError) {
        self.limits = limits
        self.traffic = traffic
        self.reportMilliseconds = Int64(max(1, reportMilliseconds))
        let count = max(1, count)
        // Each slot reports one end before it takes the next job.
        ends = BoundedMailbox(capacity: count)
        descriptor = try SlotError.check(clinux_event_create(), "creating an event descriptor")
        for number in 0..<count {
            let orders = BoundedMailbox<Order>(capacity: 1)
            let (ends, event) = (ends, descriptor)
            do throws(ThreadError) {
                let thread = try OwnedThread(name: "slot \(number)") {
                    Self.serve(work, orders) { attempt, result in
                        _ = ends.send(End(slot: number, attempt: attempt, result: result))
                        _ = clinux_event_signal(event)
                    }
                }
                slots.append(Slot(orders: orders, thread: thread))
            } catch {
                // What was started ends with this object.
                throw .system(action: "starting the thread of a slot", number: error.number)
            }
        }
    }

    deinit { finish() }

    private func finish() {
        for slot in slots {
            slot.running?.stop.set()
            slot.orders.close()
        }
        for slot in slots { slot.thread.join() }
        slots = []
        _ = clinux_close(descriptor)
    }

    /// The life of a slot's thread.
    private static func serve(
        _ work: SlotWork, _ orders: BoundedMailbox<Order>,
        _ report: (String, Result<Receipt, SlotFailure>) -> Void
    ) {
        var run: SlotWork.Run?
        while let next = orders.receive() {
            let result: Result<Receipt, SlotFailure>
            do throws(SlotFailure) {
                let body: SlotWork.Run
                if let known = run { body = known } else { body = try work.prepare() }
                run = body
                result = .success(
                    try next.stop.reaching { () throws(SlotFailure) in
                        try body(next.order, next.counter)
                    })
            } catch {
                result = .failure(error)
            }
            report(next.order.attempt.id, result)
        }
    }

    // MARK: - Slots

    package var free: [Int] { slots.indices.filter { slots[$0].running == nil } }

    package var nextWake: Int64? {
        slots.compactMap { slot in
            slot.running.map { running in
                running.cause == nil
                    ? min(running.nextReport, running.watchdog.deadline) : running.nextReport
            }
        }.min()
    }

    /// As the protocol says.
    package func processID(of slot: Int) -> Int64? { nil }

    /// As the protocol says.
    package func want(_ slot: Int, now: Int64) {}

    /// As the protocol says.
    package func run(_ order: JobOrder, on slot: Int, now: Int64) throws(SlotError) {
        guard slots.indices.contains(slot), slots[slot].running == nil else {
            throw .notFree(slot: slot)
        }
        let meter = SlotMeter(traffic: traffic)
        let stop = StatementStop()
        guard
            slots[slot].orders.sendIfRoom(Order(order: order, counter: meter.counter, stop: stop))
        else { throw .notFree(slot: slot) }
        slots[slot].running = Running(
            attempt: order.attempt.id, meter: meter, stop: stop,
            watchdog: SlotWatchdog(limits, now: now), nextReport: now + reportMilliseconds)
    }

    /// As the protocol says.
    package func cancel(_ slot: Int) { stop(slot, .cancelled) }

    /// As the protocol says.
    package func end(_ slot: Int, exceeding text: String) { stop(slot, .excess(text)) }

    private func stop(_ slot: Int, _ cause: SlotStopCause) {
        guard slots.indices.contains(slot), let running = slots[slot].running else { return }
        slots[slot].running?.cause = running.cause ?? cause
        running.stop.set()
    }

    /// As the protocol says.
    package func receive(now: Int64) -> [SlotNotice] {
        _ = clinux_event_drain(descriptor)
        var notices: [SlotNotice] = []
        for end in ends.receiveNow(upTo: slots.count) {
            notices.append(SlotNotice(slot: end.slot, event: event(of: end)))
            slots[end.slot].running = nil
        }
        for slot in slots.indices { look(slot, now, &notices) }
        return notices
    }

    private func event(of end: End) -> SlotNotice.Event {
        switch (slots[end.slot].running?.cause, end.result) {
        case (let cause?, _):
            let (code, text) = SlotExitDiagnosis.failure(
                .code(SlotExitCode.ended), cause: cause, limits)
            return .failed(
                AttemptFailure(attempt: end.attempt, cause: code, text: text, slotEnded: true))
        case (nil, .success(let receipt)): return .delivered(receipt)
        case (nil, .failure(let failure)):
            return .failed(
                AttemptFailure(
                    attempt: end.attempt, cause: failure.cause, text: failure.text,
                    slotEnded: false))
        }
    }

    private func look(_ slot: Int, _ now: Int64, _ notices: inout [SlotNotice]) {
        guard var running = slots[slot].running, now >= running.nextReport else { return }
        if let progress = running.meter.progress() {
            running.watchdog.progressed(at: now)
            notices.append(
                SlotNotice(
                    slot: slot,
                    event: .progress(
                        attempt: running.attempt, rows: progress.rows, bytes: progress.bytes)))
        }
        running.nextReport = now + reportMilliseconds
        slots[slot].running = running
        if running.cause == nil, let verdict = running.watchdog.verdict(at: now) {
            stop(slot, .silent(verdict))
        }
    }
}
