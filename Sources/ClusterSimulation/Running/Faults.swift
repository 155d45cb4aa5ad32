/// Something that goes wrong, or that a user does, at a moment of a simulation.
enum Fault: Sendable {
    case coordinatorCrash(downFor: Int64)
    case workerCrash(worker: Int, downFor: Int64)
    /// The same for a process that was asked to end and did not.
    case workerDies(worker: Int, downFor: Int64)
    /// The worker's process is stopped and goes on later, not knowing that time passed.
    case workerStop(worker: Int, duration: Int64)
    case partition(worker: Int, duration: Int64)
    /// The wall clock jumps; the monotonic one does not.
    case wallClockJump(milliseconds: Int64)
    /// Writes of the ledger become durable only so much later.
    case slowLedger(delay: Int64, duration: Int64)
    /// Everything that a worker does takes so many times as long.
    case slowWorker(worker: Int, factor: Int64, duration: Int64)
    /// No process can write to the shared folder.
    case fullDisk(duration: Int64)
    case slotCrash(worker: Int, slot: Int)
    /// A slot makes no progress any more.
    case slotHang(worker: Int, slot: Int)
    /// The worker is asked to end, and is started again later.
    case workerTerminate(worker: Int, downFor: Int64)
    /// A further worker joins.
    case workerJoins
    /// A bit of a result that is being built is flipped; validation must notice.
    case spoiledDestination(store: Int)
    case client(ClientAction)
}

/// What a person does through a client.
enum ClientAction: Sendable {
    case pause(duration: Int64)
    case cancel
    case drain(worker: Int, downFor: Int64)
    case replay
    case submit
    case throttle(jobs: Int, duration: Int64)
    case status
}

/// Which faults a simulation has, and when.
struct FaultPlan {
    var faults: [(time: Int64, fault: Fault)] = []
    /// From then on nothing goes wrong any more.
    var end: Int64 = 0

    static func random(
        workers: Int, using generator: inout SimulationGenerator
    ) -> FaultPlan {
        var plan = FaultPlan()
        plan.end = generator.span(20_000...120_000)
        // Some simulations concentrate on one kind, some have all, some have none.
        let kinds = generator.happens(perMille: 300) ? [generator.number(0...20)] : Array(0...20)
        let count = generator.happens(perMille: 50) ? 0 : generator.number(1...14)
        for _ in 0..<count {
            let kind = kinds[generator.number(0...kinds.count - 1)]
            let time = generator.span(0...Int(plan.end) - 1)
            plan.faults.append((time, fault(kind, workers: workers, using: &generator)))
        }
        return plan
    }

    private static func fault(
        _ kind: Int, workers: Int, using generator: inout SimulationGenerator
    ) -> Fault {
        let worker = generator.number(0...workers - 1)
        let short = generator.span(50...8_000)
        let long = generator.span(1_000...70_000)
        switch kind {
        case 0, 1:
            let isShort = generator.happens(perMille: 700)
            return .coordinatorCrash(downFor: isShort ? short : long)
        case 2: return .workerCrash(worker: worker, downFor: long)
        case 3, 4: return .workerStop(worker: worker, duration: long)
        case 5, 6: return .partition(worker: worker, duration: long)
        case 7:
            let jump = generator.span(10_000...7_200_000)
            return .wallClockJump(milliseconds: generator.happens(perMille: 500) ? jump : -jump)
        case 8: return .slowLedger(delay: generator.span(100...6_000), duration: long)
        case 9:
            let factor = generator.span(2...40)
            return .slowWorker(worker: worker, factor: factor, duration: long)
        case 10: return .fullDisk(duration: short)
        case 11: return .slotCrash(worker: worker, slot: generator.number(0...1))
        case 12: return .slotHang(worker: worker, slot: generator.number(0...1))
        case 13: return .workerTerminate(worker: worker, downFor: long)
        case 14: return .workerJoins
        case 15: return .spoiledDestination(store: generator.number(0...99))
        default: return .client(client(worker: worker, using: &generator))
        }
    }

    private static func client(
        worker: Int, using generator: inout SimulationGenerator
    ) -> ClientAction {
        let duration = generator.span(100...30_000)
        switch generator.number(0...25) {
        case 0...4: return .pause(duration: duration)
        case 5: return .cancel
        case 6...9: return .drain(worker: worker, downFor: duration)
        case 10...13: return .replay
        case 14...16: return .throttle(jobs: generator.number(1...3), duration: duration)
        case 20...25: return .submit
        default: return .status
        }
    }
}
