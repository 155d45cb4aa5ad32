internal import CLinux
import ClusterProtocol
import Jobs
import MigrationPlans
import Synchronization
import Threads

/// The life of a slot's process: it takes orders from its socket, runs one job at a time on a
/// thread of its own, and tells of progress beside it.
///
/// The calling thread reads the socket all the time, so that the process ends at once when its
/// worker does, whatever the job is at.
package final class SlotChild: Sendable {
    /// The descriptor that a slot's process is started with.
    package static let descriptor: Int32 = 3
    /// Address space that is left when memory counts as having run out.
    private static let memoryMargin: UInt64 = 32 << 20

    private struct State {
        var running: (attempt: String, meter: SlotMeter)?
        /// Whether the process ends with the running job.
        var isEnding = false
    }

    private let socket: Int32
    private let work: SlotWork
    /// Held while something is sent, so that a message is never inside another.
    private let state = Mutex(State())
    private let orders = BoundedMailbox<JobOrder>(capacity: 1)
    /// How often progress is looked at, in milliseconds.
    private let reportMilliseconds: Int

    private init(socket: Int32, work: SlotWork, reportMilliseconds: Int) {
        self.socket = socket
        self.work = work
        self.reportMilliseconds = reportMilliseconds
    }

    /// Serves until the worker closes the socket or asks for the end; then ends the process.
    ///
    /// - Parameters:
    ///   - work: what jobs do.
    ///   - reportMilliseconds: how often progress is looked at.
    ///   - socket: to the worker.
    package static func serve(
        _ work: SlotWork, reportMilliseconds: Int, socket: Int32 = SlotChild.descriptor
    ) -> Never {
        clinux_tell_exhausted_memory(SlotExitCode.outOfMemory, memoryMargin)
        let child = SlotChild(
            socket: socket, work: work, reportMilliseconds: reportMilliseconds)
        let thread: OwnedThread
        do throws(ThreadError) {
            thread = try OwnedThread(name: "job") { child.runJobs() }
        } catch {
            clinux_exit(SlotExitCode.unable)
        }
        child.tell(.ready(engine: MigrationPlan.engineVersion))
        let code = child.listen()
        // The job's thread is not waited for: the worker that wanted its result is gone.
        withExtendedLifetime(thread) { clinux_exit(code) }
    }

    // MARK: - The socket

    /// Takes orders until there is no worker to give any.
    ///
    /// - Returns: the exit code.
    private func listen() -> Int32 {
        var incoming = SlotCodec.Reader<SlotOrder>()
        var buffer = [UInt8](repeating: 0, count: 1 << 14)
        while true {
            let ready = clinux_wait_readable(socket, interval)
            if ready < 0 { return SlotExitCode.unable }
            if ready == 0 {
                tellProgress()
                continue
            }
            let count = clinux_socket_receive(socket, &buffer, buffer.count)
            guard count > 0 else { return SlotExitCode.ended }
            incoming.append(buffer[..<Int(count)])
            do throws(ProtocolError) {
                while let order = try incoming.next() {
                    if let code = take(order) { return code }
                }
            } catch {
                return SlotExitCode.nonsense
            }
        }
    }

    /// How long the socket is listened to before progress is looked at; -1 is without limit.
    private var interval: Int32 {
        guard state.withLock({ $0.running != nil }) else { return -1 }
        return Int32(clamping: reportMilliseconds)
    }

    /// Follows an order; an exit code where the process is to end.
    private func take(_ order: SlotOrder) -> Int32? {
        switch order {
        case .run(let order):
            let isFree = state.withLock { state in
                guard state.running == nil, !state.isEnding else { return false }
                state.running = (order.attempt.id, SlotMeter(traffic: SlotMeter.ofThisProcess))
                return true
            }
            return isFree && orders.sendIfRoom(order) ? nil : SlotExitCode.nonsense
        case .cancel:
            let attempt = state.withLock { $0.running?.attempt }
            guard let attempt else { return nil }
            tell(
                .failed(
                    AttemptFailure(
                        attempt: attempt, cause: .stopped, text: "stopped on request",
                        slotEnded: true)))
            return SlotExitCode.ended
        case .end:
            return state.withLock { state in
                state.isEnding = true
                return state.running == nil ? SlotExitCode.ended : nil
            }
        }
    }

    private func tell(_ report: SlotReport) { state.withLock { _ in send(report) } }

    private func tellProgress() {
        state.withLock { state in
            guard let attempt = state.running?.attempt,
                let progress = state.running?.meter.progress()
            else { return }
            send(.progress(attempt: attempt, rows: progress.rows, bytes: progress.bytes))
        }
    }

    /// Sends a whole message; where no worker receives it, the process has no purpose any more.
    private func send(_ report: SlotReport) {
        do throws(SlotError) {
            var bytes = try bytes(of: report)
            while !bytes.isEmpty {
                let sent = clinux_socket_send(socket, bytes, bytes.count)
                bytes.removeFirst(Int(try SlotError.check(sent, "sending to the worker")))
            }
        } catch {
            clinux_exit(SlotExitCode.ended)
        }
    }

    /// A receipt beyond the protocol's bounds becomes a failure of its attempt.
    private func bytes(of report: SlotReport) throws(SlotError) -> [UInt8] {
        try SlotError.coding { () throws(ProtocolError) in
            do throws(ProtocolError) {
                return try SlotCodec.encode(report)
            } catch {
                guard case .done(let receipt) = report else { throw error }
                return try SlotCodec.encode(
                    SlotReport.failed(
                        AttemptFailure(
                            attempt: receipt.attempt, cause: .bug, text: "\(error)",
                            slotEnded: false)))
            }
        }
    }

    // MARK: - Jobs

    /// The life of the job thread.
    private func runJobs() {
        var run: SlotWork.Run?
        while let order = orders.receive() {
            guard let counter = state.withLock({ $0.running?.meter.counter }) else { continue }
            let report: SlotReport
            do throws(SlotFailure) {
                let body: SlotWork.Run
                if let known = run { body = known } else { body = try work.prepare() }
                run = body
                report = .done(try body(order, counter))
            } catch {
                report = .failed(
                    AttemptFailure(
                        attempt: order.attempt.id, cause: error.cause, text: error.text,
                        slotEnded: false))
            }
            state.withLock { state in
                state.running = nil
                send(report)
                if state.isEnding { clinux_exit(SlotExitCode.ended) }
            }
        }
    }
}
