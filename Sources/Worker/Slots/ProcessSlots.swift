internal import CLinux
package import ClusterProtocol
import DurableFiles
import Jobs
import MigrationEngine
import Threads

/// Slots that are processes.
///
/// A slot's process is started for its first job, the first one's with the worker where the plan
/// says so. One that ends is started again, at once the
/// first time and after growing pauses when it ends again and again; no other slot notices. The
/// kernel kills the processes when the thread that uses this object ends.
package final class ProcessSlots: Slots {
    private let plan: SlotPlan
    private let program: SlotProgram
    private let pollSet: Int32
    private var slots: [PooledSlot]
    private var notices: [SlotNotice] = []

    package var descriptor: Int32 { pollSet }

    /// - Parameters:
    ///   - plan: how many slots, of which program.
    ///   - program: the executable of their processes.
    /// - Throws: `SlotError.system` where no descriptor is to be had; a slot that cannot be
    ///   started reports `ended` and is tried again.
    package init(_ plan: SlotPlan, program: SlotProgram) throws(SlotError) {
        self.plan = plan
        self.program = program
        slots = (0..<max(1, plan.count)).map { _ in PooledSlot() }
        pollSet = try SlotError.check(clinux_poll_set_create(), "creating a poll set")
    }

    deinit {
        slots = []
        _ = clinux_close(pollSet)
    }

    package var free: [Int] { slots.indices.filter { slots[$0].isFree } }

    package var nextWake: Int64? { slots.compactMap(\.deadline).min() }

    /// As the protocol says.
    package func processID(of slot: Int) -> Int64? { slots[slot].process?.id }

    /// As the protocol says.
    package func want(_ slot: Int, now: Int64) {
        if slots.indices.contains(slot), slots[slot].state == .unused { start(slot, now) }
    }

    /// As the protocol says.
    package func run(_ order: JobOrder, on slot: Int, now: Int64) throws(SlotError) {
        guard slots.indices.contains(slot), slots[slot].isFree,
            let process = slots[slot].process
        else { throw .notFree(slot: slot) }
        // An order beyond the protocol's bounds is the fault of its maker alone.
        let bytes = try SlotError.coding { () throws(ProtocolError) in
            try SlotCodec.encode(SlotOrder.run(order))
        }
        do throws(SlotError) {
            try process.send(bytes)
        } catch {
            end(slot, .nonsense("\(error)"))
            throw error
        }
        slots[slot].state = .running(order.attempt.id, SlotWatchdog(plan.limits, now: now))
        slots[slot].attempt = order.attempt
        watchWriting(slot)
    }

    /// As the protocol says.
    package func cancel(_ slot: Int) { end(slot, .cancelled) }

    /// As the protocol says.
    package func end(_ slot: Int, exceeding text: String) { end(slot, .excess(text)) }

    /// As the protocol says.
    package func receive(now: Int64) -> [SlotNotice] {
        var numbers = [UInt64](repeating: 0, count: 64)
        let count = clinux_poll_set_wait(pollSet, &numbers, Int32(numbers.count), 0)
        var touched: Set<Int> = []
        for number in numbers.prefix(Int(max(0, count))) { touched.insert(Int(number / 2)) }
        for slot in touched.sorted() { look(slot, now) }
        for slot in slots.indices { look(at: slots[slot].state, of: slot, now) }
        defer { notices = [] }
        return notices
    }

    // MARK: - Processes

    private func start(_ slot: Int, _ now: Int64) {
        do throws(SlotError) {
            let process = try SlotProcess(
                program, setup: plan.setup, limits: plan.limits)
            let number = UInt64(slot) * 2
            try SlotError.check(
                clinux_poll_set_add(pollSet, process.socket, number), "watching a slot")
            try SlotError.check(
                clinux_poll_set_add(pollSet, process.ending, number + 1), "watching a slot")
            slots[slot].process = process
            let (deadline, overflow) = now.addingReportingOverflow(plan.limits.startMilliseconds)
            slots[slot].state = .starting(until: overflow ? .max : deadline)
        } catch {
            notices.append(SlotNotice(slot: slot, event: .ended("\(error)")))
            rest(slot, now)
        }
    }

    private func rest(_ slot: Int, _ now: Int64) {
        if let process = slots[slot].process {
            // Closing is not enough while a child that is being started shares the description.
            _ = clinux_poll_set_remove(pollSet, process.socket)
            _ = clinux_poll_set_remove(pollSet, process.ending)
        }
        slots[slot].process = nil
        slots[slot].cause = nil
        let (start, overflow) = now.addingReportingOverflow(slots[slot].backOff.ended())
        slots[slot].state = .down(until: overflow ? .max : start)
    }

    private func watchWriting(_ slot: Int) {
        guard let process = slots[slot].process else { return }
        _ = clinux_poll_set_change(
            pollSet, process.socket, UInt64(slot) * 2, process.hasUnsent ? 1 : 0)
    }

    private func end(_ slot: Int, _ cause: SlotStopCause) {
        guard slots.indices.contains(slot), let process = slots[slot].process else { return }
        slots[slot].cause = slots[slot].cause ?? cause
        process.kill()
    }

    // MARK: - What slots say

    /// Looks at a slot whose descriptors are ready.
    private func look(_ slot: Int, _ now: Int64) {
        guard let process = slots[slot].process else { return }
        // Asked first: what it said before it ended is there by the time it has ended.
        let exit = process.reap()
        do throws(SlotError) {
            if process.hasUnsent { try process.sendRest() }
            watchWriting(slot)
            let (reports, isClosed) = try process.receive()
            for report in reports where slots[slot].cause == nil {
                try take(report, slot, now)
            }
            // Nothing more can be heard of it. Its end shows by the other descriptor.
            if isClosed {
                _ = clinux_poll_set_remove(pollSet, process.socket)
                process.kill()
            }
        } catch {
            end(slot, error == .closed ? .closed : .nonsense("\(error)"))
        }
        if let exit { ended(slot, exit, now) }
    }

    private func take(_ report: SlotReport, _ slot: Int, _ now: Int64) throws(SlotError) {
        switch (report, slots[slot].state) {
        case (.ready, .starting):
            slots[slot].state = .idle
            notices.append(SlotNotice(slot: slot, event: .started))
        case (.progress(let attempt, let rows, let bytes), .running(let own, var watchdog))
        where attempt == own:
            watchdog.progressed(at: now)
            slots[slot].state = .running(attempt, watchdog)
            notices.append(
                SlotNotice(
                    slot: slot, event: .progress(attempt: attempt, rows: rows, bytes: bytes)))
        case (.done(let receipt), .running(let own, _)) where receipt.attempt == own:
            answered(slot, .delivered(receipt))
        case (.failed(let failure), .running(let own, _)) where failure.attempt == own:
            answered(
                slot,
                .failed(
                    AttemptFailure(
                        attempt: failure.attempt, cause: failure.cause, text: failure.text,
                        slotEnded: false)))
        default: throw .nonsense("it reported a job that it does not have")
        }
    }

    private func answered(_ slot: Int, _ event: SlotNotice.Event) {
        slots[slot].backOff.succeeded()
        slots[slot].state = .idle
        notices.append(SlotNotice(slot: slot, event: event))
    }

    private func ended(_ slot: Int, _ exit: ProcessExit, _ now: Int64) {
        var (code, text) = SlotExitDiagnosis.failure(exit, cause: slots[slot].cause, plan.limits)
        if code != .stopped, let note = note(slot) { text += "; \(note)" }
        switch slots[slot].state {
        case .running(let attempt, _):
            notices.append(
                SlotNotice(
                    slot: slot,
                    event: .failed(
                        AttemptFailure(attempt: attempt, cause: code, text: text, slotEnded: true)))
            )
        case .unused, .down, .starting, .idle:
            notices.append(SlotNotice(slot: slot, event: .ended(text)))
        }
        rest(slot, now)
        if case .down(let until) = slots[slot].state, until <= now { start(slot, now) }
    }

    /// Which policy had which object in hand when a slot's process ended; nil where none had.
    private func note(_ slot: Int) -> String? {
        guard case .running = slots[slot].state, let folder = slots[slot].attempt?.folder,
            let root = plan.setup.roots[folder.root]
        else { return nil }
        do {
            let place = try FileRoot(name: folder.root, folder: root)
                .resolve(try RootedPath(folder))
            return try PolicyNote.text(in: place, files: DurableFileSystem(links: .refused))
        } catch {
            // The worker reports the end of the process all the same.
            return nil
        }
    }

    /// What time alone brings about.
    private func look(at state: PooledSlot.State, of slot: Int, _ now: Int64) {
        switch state {
        case .down(let until): if now >= until { start(slot, now) }
        case .starting(let until):
            if now >= until { end(slot, .silent("it did not start in time")) }
        case .running(_, let watchdog):
            if let verdict = watchdog.verdict(at: now) { end(slot, .silent(verdict)) }
        case .unused, .idle: break
        }
    }
}

/// A slot as its pool knows it.
struct PooledSlot {
    enum State: Hashable {
        /// No order has needed it so far.
        case unused
        /// Without a process.
        case down(until: Int64)
        /// The process has not said that it waits for jobs.
        case starting(until: Int64)
        case idle
        case running(String, SlotWatchdog)
    }

    var state = State.unused
    var process: SlotProcess?
    var backOff = SlotBackOff()
    /// The attempt that was given to it last.
    var attempt: Attempt?
    /// Set once the process was killed: nothing that it says counts any more.
    var cause: SlotStopCause?

    /// Whether it waits for a job; one whose process was killed does not, before it has ended.
    var isFree: Bool { state == .idle && cause == nil }

    /// When time alone brings something about.
    var deadline: Int64? {
        // A process that was killed is waited for, however long that takes.
        guard cause == nil else { return nil }
        switch state {
        case .down(let until), .starting(let until): return until
        case .unused, .idle: return nil
        case .running(_, let watchdog): return watchdog.deadline
        }
    }
}
