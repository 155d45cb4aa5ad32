import CLinux
import ClusterProtocol
import DurableFiles
import Glibc
import Jobs
import Worker

/// Parents of slots, to be run as processes of their own.
enum SlotParent {
    private static let program = SlotProgram(path: "/proc/self/exe", arguments: ["slot"])

    private static func plan(_ count: Int) -> SlotPlan {
        SlotPlan(
            count: count, program: program,
            limits: SlotLimits(addressSpaceBytes: nil, silenceMilliseconds: 1000),
            setup: SlotSetup(roots: [:]))
    }

    /// Two slots whose processes have been started.
    private static func slots() throws -> ProcessSlots {
        let slots = try ProcessSlots(plan(2), program: program)
        for slot in 0..<2 { slots.want(slot, now: 0) }
        return slots
    }

    private static func waitUntilFree(_ pool: ProcessSlots, _ count: Int) {
        while pool.free.count < count {
            _ = clinux_wait_readable(pool.descriptor, -1)
            _ = pool.receive(now: 0)
        }
    }

    static func run() throws {
        let pool = try slots()
        waitUntilFree(pool, 2)
        try pool.run(order("loop"), on: 0, now: 0)
        print(pool.processID(of: 0) ?? 0, pool.processID(of: 1) ?? 0)
        fflush(nil)
        _ = readLine()
        withExtendedLifetime(pool) {}
    }

    static func cycle(_ times: Int) throws {
        let before = descriptors()
        for _ in 0..<times {
            let pool = try slots()
            waitUntilFree(pool, 2)
            pool.cancel(0)
            while pool.receive(now: 0).isEmpty { _ = clinux_wait_readable(pool.descriptor, -1) }
            waitUntilFree(pool, 2)
        }
        // No child is left, dead or alive.
        let isChildless = waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD
        print(descriptors() - before, isChildless ? 0 : 1)
    }

    private static func descriptors() -> Int {
        (0..<1024).filter { fcntl(Int32($0), F_GETFD) >= 0 }.count
    }

    private static func order(_ fault: String) -> JobOrder {
        let file = FileReference(root: "run", path: "plan.json")
        let job = Job(
            run: fault, store: 1, work: .copy(chunk: 0), plan: file,
            planDigest: String(repeating: "0", count: 64), source: file, sourceSupport: nil,
            destination: nil, sourceFingerprint: "state", engine: "1", limits: .local)
        let attempt = Attempt(id: "1-copy-0-1", epoch: 1, folder: file)
        return JobOrder(job: job, attempt: attempt, leaseMilliseconds: 1000)
    }
}
