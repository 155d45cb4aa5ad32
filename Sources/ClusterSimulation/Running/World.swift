import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision

/// A simulated world: one thread, one queue of events, one seed.
///
/// It holds a coordinator, its ledger, workers, a network, a shared folder and stores.
final class World {
    let seed: UInt64
    let options: SimulationOptions
    var chance: SimulationGenerator
    var now: Int64 = 0
    /// What the wall clock shows beside the virtual time.
    var wallOffset: Int64 = 0
    var queue = EventQueue<WorldEvent>()
    var trace: SimulationTrace
    var statistics = SimulationStatistics()
    var violation: Violation?

    var network: SimulatedNetwork
    var files = SimulatedFiles()
    var ledger = SimulatedLedger()
    var stores: [StoreKey: SimulatedStore] = [:]
    var runs: [RunSpec] = []
    /// Nil while no coordinator is there.
    var coordinator: SimulatedCoordinator?
    var coordinatorLives = 0
    var workers: [SimulatedWorker] = []
    /// Connections that were ever made, by their worker.
    var connections: [ConnectionID: Int] = [:]

    var tuning: WorldTuning
    var hasFaults = true
    var isDiskFull = false
    var ledgerDelay: Int64 = 0
    /// Once faults stopped: 1 until every store ended, 2 until every store is done.
    var phase = 0
    var phaseBegan: Int64 = 0
    /// How often what failed was asked for again.
    var mendings = 0
    var isOver = false
    var checks = CheckerMemory()
    /// The engine of the last order of each store.
    var engines: [StoreKey: String] = [:]

    init(seed: UInt64, options: SimulationOptions) {
        self.seed = seed
        self.options = options
        statistics.runs = 1
        chance = SimulationGenerator(seed: SimulationGenerator.mix(seed ^ 0x676F_6477_6974))
        trace = SimulationTrace(keepsLines: options.keepsTrace)
        tuning = WorldTuning.random(using: &chance)
        let count = chance.number(1...4)
        let plan = FaultPlan.random(workers: count, using: &chance)
        let isStormy = chance.happens(perMille: 850)
        network = SimulatedNetwork(
            workers: count + 8, weather: isStormy ? .random(using: &chance) : .calm,
            generator: chance.fork())
        for _ in 0..<count { addWorker() }
        makeRuns()
        queue.schedule(.coordinatorStarts, at: 0)
        for worker in workers {
            queue.schedule(.workerStarts(worker: worker.number), at: chance.span(0...3_000))
        }
        for (time, fault) in plan.faults { queue.schedule(.fault(fault), at: time) }
        queue.schedule(.look, at: chance.span(1_000...5_000))
        queue.schedule(.faultsStop, at: plan.end)
        trace.note(0, "seed \(seed) workers \(count) faults \(plan.faults.count)")
    }

    /// A further worker, which is not started yet; its number.
    @discardableResult
    func addWorker() -> Int {
        let number = workers.count
        let engine =
            chance.happens(perMille: tuning.otherEngine) ? "2.0.0" : "1.0.0"
        workers.append(
            SimulatedWorker(
                number: number, name: "worker-\(number)", engine: engine,
                slotCount: chance.number(1...3), seed: chance.next()))
        return number
    }

    private func makeRuns() {
        let count = chance.happens(perMille: 200) ? 2 : 1
        for index in 0..<count {
            let run = "run\(index)"
            var keys: [StoreKey] = []
            for number in 0..<chance.number(1...tuning.mostStores) {
                let key = StoreKey(run: run, number: number)
                let isWhole = chance.happens(perMille: tuning.wholeStores)
                var store = SimulatedStore.random(
                    number: number, isWhole: isWhole, using: &chance)
                poison(&store)
                stores[key] = store
                keys.append(key)
            }
            runs.append(
                RunSpec(
                    run: run, stores: keys, defersSwap: chance.happens(perMille: 150),
                    limits: RunLimits(
                        stores: chance.happens(perMille: 200) ? chance.number(1...3) : nil,
                        jobs: chance.happens(perMille: 200) ? chance.number(1...4) : nil)))
        }
        ledger.change { facts in
            for spec in runs {
                facts.runs[spec.run] = LedgerFacts.RunFacts()
                for key in spec.stores { facts.stores[key] = LedgerFacts.StoreFacts() }
            }
        }
    }

    private func poison(_ store: inout SimulatedStore) {
        guard chance.happens(perMille: tuning.poison) else { return }
        let codes: [FailureCause] = [
            .damaged, .dataRefused, .crashed, .timedOut, .outOfMemory, .inputOutput,
            .validationFailed, .missing, .locked,
        ]
        let code = codes[chance.number(0...codes.count - 1)]
        let chunk = chance.number(0...store.chunks.count - 1)
        let isLink = chance.happens(perMille: 300)
        let work: Work =
            store.isWhole ? .whole : isLink ? .link(chunk: chunk) : .copy(chunk: chunk)
        store.poison.append(PoisonedChunk(work: work, code: code))
    }

    var checker: WorldChecker { WorldChecker(world: self) }
    var workerSimulation: WorkerSimulation { WorkerSimulation(world: self) }
    var workSimulation: WorkSimulation { WorkSimulation(world: self) }

    /// Runs until every store ended, a rule is broken, or it takes too long.
    func run() {
        while violation == nil, !isOver, let next = queue.take() {
            now = next.time
            statistics.events += 1
            handle(next.event)
            if statistics.events > tuning.mostEvents {
                break
            }
        }
        statistics.virtualMilliseconds = now
        if violation == nil, !isOver {
            fail(
                .fleetEnds,
                "after \(statistics.events) events it has not ended: \(unfinishedText)")
        }
    }

    private func handle(_ event: WorldEvent) {
        switch event {
        case .toCoordinator(let message, let connection, let worker):
            hear(message, from: connection, worker: worker)
        case .toWorker(let message, let connection, let worker):
            workerSimulation.deliver(message, on: connection, worker: worker)
        case .coordinatorStarts: startCoordinator()
        case .coordinatorTick(let life): tickCoordinator(life)
        case .coordinator(let event, let life):
            if coordinator?.life == life { tell(.machine(event)) }
        case .work(let work, let life): workSimulation.begin(work, life)
        case .answer(let answer, let run, let life): workSimulation.take(answer, run, life)
        case .opened(let opening, let life): take(opening, life)
        case .ledgerSynced(let life, let through): ledgerSynced(life, through: through)
        case .taskRuns(let task, let life): workSimulation.run(task, life: life)
        case .workerStarts(let worker): workerSimulation.startWorker(worker)
        case .workerTick(let worker, let life): workerSimulation.tickWorker(worker, life: life)
        case .worker(let event, let worker, let life):
            workerSimulation.tell(event, worker: worker, life: life)
        case .slotStarted(let worker, let life, let slot, let order):
            workerSimulation.slotStarted(worker: worker, life: life, slot: slot, order: order)
        case .slotProgress(let worker, let life, let slot, let order, let step):
            workerSimulation.slotProgress(
                worker: worker, life: life, slot: slot, order: order, step: step)
        case .fault(let fault): happen(fault)
        case .faultEnds(let fault): end(fault)
        case .request(let request): ask(request)
        case .look: look()
        case .faultsStop: stopFaults()
        }
    }

    /// Writes what happens now to the trace.
    func note(_ line: String) { trace.note(now, line) }

    /// What is read of a message on the other side; nil where it cannot be.
    func crossed<Message: ControlMessage>(_ message: Message) -> Message? {
        guard tuning.encodes else { return message }
        do {
            let codec = MessageCodec()
            return try codec.decode(try codec.encode(message), as: Message.self)
        } catch {
            fail(.messagesCross, "\(error)")
            return nil
        }
    }

    /// Remembers the first broken rule, which ends the simulation.
    func fail(_ rule: Violation.Rule, _ text: String) {
        guard violation == nil else { return }
        violation = Violation(rule: rule, text: text, time: now)
        note("VIOLATION \(rule.rawValue): \(text)")
    }

    /// The stores that have not ended, for people.
    var unfinishedText: String {
        var texts: [String] = []
        for spec in runs {
            let state = ledger.written.runs[spec.run]?.state.rawValue ?? "?"
            let open = spec.stores.filter { ledger.written.stores[$0]?.isUnfinished == true }
            texts.append("\(spec.run) \(state), \(open.count) unfinished")
            texts += open.prefix(3).map { "\($0)" }
        }
        return texts.joined(separator: ", ")
    }
}
