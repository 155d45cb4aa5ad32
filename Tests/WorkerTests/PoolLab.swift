import CLinux
import ClusterProtocol
import DurableFiles
import Foundation
import Jobs
import Testing

@testable import Worker

/// A pool of real processes and the clock that its test moves.
final class PoolLab {
    let pool: ProcessSlots
    var now: Int64 = 0
    /// All that was told, in its order.
    private(set) var notices: [SlotNotice] = []
    private var attempts = 0

    /// The program lies beside the tests.
    static let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().appendingPathComponent("faulty-slot")
    /// Sanitizers reserve more address space than any limit leaves.
    static let canLimitMemory = (Int64(0)..<Int64(64 << 30)).contains(clinux_address_space_size())

    static func plan(
        _ count: Int, memory: UInt64? = nil, silence: Int64 = 1000, job: Int64? = nil,
        roots: [String: FilePath] = [:]
    ) throws -> SlotPlan {
        SlotPlan(
            count: count, program: try slotProgram(),
            limits: SlotLimits(
                addressSpaceBytes: memory, silenceMilliseconds: silence, jobMilliseconds: job),
            setup: SlotSetup(roots: roots, reportMilliseconds: 5))
    }

    static func slotProgram() throws -> SlotProgram {
        SlotProgram(path: try #require(FilePath(program)), arguments: ["slot"])
    }

    init(_ plan: SlotPlan) throws {
        pool = try ProcessSlots(plan, program: try Self.slotProgram())
        for slot in 0..<plan.count { pool.want(slot, now: 0) }
        try wait { _ in self.pool.free.count == plan.count }
    }

    /// Listens until the condition holds.
    @discardableResult func wait(
        _ condition: ([SlotNotice]) -> Bool, _ location: SourceLocation = #_sourceLocation
    ) throws -> [SlotNotice] {
        var new: [SlotNotice] = []
        repeat {
            let heard = pool.receive(now: now)
            new += heard
            notices += heard
            if condition(new) { return new }
        } while clinux_wait_readable(pool.descriptor, 60_000) > 0
        Issue.record("nothing came: \(notices)", sourceLocation: location)
        throw SlotError.closed
    }

    /// Waits until the attempt that runs on a slot fails.
    func failure(on slot: Int, _ location: SourceLocation = #_sourceLocation) throws
        -> AttemptFailure
    {
        let heard = try wait(
            { notices in notices.contains { Self.failure($0, slot) != nil } }, location)
        return try #require(heard.compactMap { Self.failure($0, slot) }.first)
    }

    private static func failure(_ notice: SlotNotice, _ slot: Int) -> AttemptFailure? {
        guard notice.slot == slot, case .failed(let failure) = notice.event else { return nil }
        return failure
    }

    /// Gives a slot a job that misbehaves, or does nothing.
    func run(_ fault: String, on slot: Int) throws {
        attempts += 1
        let file = FileReference(root: "run", path: "plan.json")
        let job = Job(
            run: fault, store: 1, work: .copy(chunk: attempts), plan: file,
            planDigest: String(repeating: "0", count: 64), source: file, sourceSupport: nil,
            destination: nil, sourceFingerprint: "state", engine: "1", limits: .local)
        let attempt = Attempt(
            id: "1-copy-\(attempts)", epoch: 1,
            folder: FileReference(root: "run", path: "attempts/\(attempts)"))
        try pool.run(
            JobOrder(job: job, attempt: attempt, leaseMilliseconds: 60_000), on: slot, now: now)
    }

    /// Runs a job without fault on a slot, to show that it works.
    func expectWorks(_ slot: Int, _ location: SourceLocation = #_sourceLocation) throws {
        try wait({ _ in pool.free.contains(slot) }, location)
        try run("none", on: slot)
        try wait(
            { notices in
                notices.contains { notice in
                    if case .delivered = notice.event { notice.slot == slot } else { false }
                }
            }, location)
    }

    /// What became of attempts, in their order; each runs on the next slot that is free.
    func receipts(
        of orders: [JobOrder], _ location: SourceLocation = #_sourceLocation
    ) throws -> [Result<Receipt, FailureCause>] {
        var outcomes: [String: Result<Receipt, FailureCause>] = [:]
        var waiting = orders[...]
        while outcomes.count < orders.count {
            for slot in pool.free {
                guard let order = waiting.popFirst() else { break }
                try pool.run(order, on: slot, now: now)
            }
            let notices = try wait({ !$0.isEmpty }, location)
            for notice in notices {
                switch notice.event {
                case .delivered(let receipt): outcomes[receipt.attempt] = .success(receipt)
                case .failed(let failure): outcomes[failure.attempt] = .failure(failure.cause)
                case .started, .ended, .progress: continue
                }
            }
        }
        return try orders.map { try #require(outcomes[$0.attempt.id]) }
    }
}
