import CLinux
import ClusterProtocol
import ClusterVocabulary
import DurableFiles
import FaultSupport
import Glibc
import Jobs
import MigrationEngine
import MigrationPlans
import RunService
import SafeSQLite
import Worker
import WorkerRules
import ZeroMQ

/// A worker whose slots misbehave at the jobs that the environment names.
enum FaultyWorker {
    /// Runs until it is asked to end, or the process that started it has ended.
    ///
    /// - Parameter arguments: those of `godwit work`; what is not needed here is passed over.
    /// - Throws: what makes a worker impossible.
    static func run(_ arguments: [String]) throws -> Never {
        let parent = Int64(getppid())
        func values(_ option: String) -> [String] {
            arguments.indices.dropLast().filter { arguments[$0] == option }
                .map { arguments[$0 + 1] }
        }
        let name = values("--name").first ?? "faulty"
        let setup = try SlotSetup(roots: values("--root"), reportMilliseconds: 50)
        let count = Int(values("--slots").first ?? "") ?? 1
        var settings = WorkerSettings(
            worker: name, protocols: .current, engine: MigrationPlan.engineVersion, sqlite: "3",
            slots: count, jitterSeed: 1)
        settings.grace = 0
        settings.reconnect = Backoff(first: 10, longest: 100)
        var limits = SlotLimits(addressSpaceBytes: nil, silenceMilliseconds: 3000)
        // Sanitizers reserve more address space than any limit leaves.
        if (Int64(0)..<Int64(64 << 30)).contains(clinux_address_space_size()) {
            limits.addressSpaceBytes = 2 << 30
        }
        var plan = WorkerPlan(
            endpoint: values("--connect").first ?? "", security: .none, settings: settings,
            slots: SlotPlan(
                count: count, program: SlotProgram(path: "/proc/self/exe", arguments: ["slot"]),
                limits: limits, setup: setup))
        if arguments.contains("--exit-when-orphaned") { plan.parent = parent }
        var ending = sigset_t()
        sigemptyset(&ending)
        sigaddset(&ending, SIGTERM)
        // Before any thread is made, so that all of them leave the signal to this one.
        pthread_sigmask(SIG_BLOCK, &ending, nil)
        let start = clinux_monotonic_nanoseconds()
        let worker = try RunningWorker(
            plan, context: Context(),
            dependencies: WorkerDependencies(
                clock: { (clinux_monotonic_nanoseconds() - start) / 1_000_000 },
                routingID: {
                    "\(name)-\(UInt64.random(in: 0 ... .max))-\(UInt64.random(in: 0 ... .max))"
                }, note: { _ in }))
        try SignalWaiter.start(ending) { worker.terminate() }
        _ = try worker.join()
        exit(0)
    }
}

/// A thread that waits for a signal.
private enum SignalWaiter {
    private final class WorkItem {
        let signals: sigset_t
        let body: () -> Void

        init(_ signals: sigset_t, _ body: @escaping () -> Void) {
            self.signals = signals
            self.body = body
        }
    }

    static func start(_ signals: sigset_t, _ body: @escaping () -> Void) throws {
        var thread = pthread_t()
        let workItem = Unmanaged.passRetained(WorkItem(signals, body)).toOpaque()
        pthread_create(
            &thread, nil,
            { workItem in
                guard let workItem else { return nil }
                let known = Unmanaged<WorkItem>.fromOpaque(workItem).takeRetainedValue()
                var (signals, number) = (known.signals, Int32(0))
                sigwait(&signals, &number)
                known.body()
                return nil
            }, workItem)
    }
}

/// A fault at chosen jobs, as the environment says it: `GODWIT_FAULTS` holds
/// `FAULT:STORE:WORK:ATTEMPT`, separated by commas; `*` stands for any.
struct ChosenFault {
    private let parts: [Substring]

    /// Those of this process.
    static let all: [ChosenFault] = (getenv("GODWIT_FAULTS").map { String(cString: $0) } ?? "")
        .split(separator: ",").map { ChosenFault(parts: $0.split(separator: ":")) }
        .filter { $0.parts.count == 4 }

    /// Whether the fault is meant for an order.
    func fits(_ order: JobOrder) -> Bool {
        let number = order.attempt.id.split(separator: "-").last ?? ""
        let found = ["\(order.job.store)", order.job.work.name, String(number)]
        return zip(parts.dropFirst(), found).allSatisfy { $0 == "*" || $0 == $1 }
    }

    /// Commits the fault; returns where it leaves the job as it is.
    func commit(
        _ order: JobOrder, _ counter: RowCounter, _ roots: [String: FilePath]
    ) throws(SlotFailure) {
        switch parts[0] {
        case "write": try write(order, roots)
        case "killAll":
            // The command first, which is coordinator and worker: no process learns of the rest.
            kill(getppid(), SIGKILL)
            kill(getpid(), SIGKILL)
        case "stop":
            // The test that watches continues both.
            kill(getppid(), SIGSTOP)
            kill(getpid(), SIGSTOP)
        default:
            guard let fault = Fault(rawValue: String(parts[0])) else { exit(64) }
            _ = try fault.commit(order, counter)
        }
    }

    /// Writes the source as an app would.
    private func write(
        _ order: JobOrder, _ roots: [String: FilePath]
    ) throws(SlotFailure) {
        do throws(EngineError) {
            try EngineError.translating {
                let root = roots[order.job.source.root]
                let connection = try Connection(
                    path: root?.appending(FilePath(order.job.source.path)) ?? "",
                    mode: .readWrite)
                try connection.execute("UPDATE ZNOTE SET ZTITLE = 'written meanwhile'")
                try connection.close()
            }
        } catch {
            throw SlotFailure(error)
        }
    }
}
