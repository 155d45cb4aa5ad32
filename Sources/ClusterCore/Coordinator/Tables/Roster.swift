import ClusterProtocol

/// What jobs of a store ask of a worker.
struct Requirement: Hashable, Sendable {
    /// Nil for any.
    let engine: String?
    let roots: Set<String>
    let policies: Set<String>
}

/// What workers have in common that can do the same jobs.
struct WorkerClass: Hashable, Sendable {
    let engine: String
    let roots: Set<String>
    let policies: Set<String>

    /// Whether a worker of the class can do what a requirement asks.
    func fits(_ requirement: Requirement) -> Bool {
        if let engine = requirement.engine, engine != self.engine { return false }
        return requirement.roots.isSubset(of: roots)
            && requirement.policies.isSubset(of: policies)
    }
}

/// One worker as the coordinator knows it.
struct WorkerState: Sendable {
    let name: String
    var host: String
    /// Of the process that said hello last; empty where it tells none.
    var instance: String
    /// Of another process with the same key that was refused.
    var refusedInstance: String?
    var phase = WorkerPhase.greeted
    /// Its place among the classes.
    var kind: Int
    var engine: String
    var slots: Int
    /// Nil once it is gone.
    var connection: ConnectionID?
    /// Earlier connections, whose late messages change nothing.
    var retired: [ConnectionID] = []
    /// Grants that it holds: batches in flight.
    var grants: Set<Int> = []
    /// Attempts that it holds, those included whose results are being checked.
    var attempts = 0
    var lastHeard: Instant
    var lastSent: Instant
    /// Whether it was silent for too long, or its connection is known to be gone.
    var isLost = false
    var accepted = 0
    /// Jobs that it failed and another worker could do.
    var strikes = 0
    /// Why it was quarantined.
    var reason: String?
    var scratchFree: Int64?
}

/// How much a worker has to do: the least comes first, then who waited longest.
struct Load: Comparable, Sendable {
    let busy: Int
    let turn: Int

    static func < (left: Load, right: Load) -> Bool {
        (left.busy, left.turn) < (right.busy, right.turn)
    }
}

/// The workers, with those that have a free slot at hand.
struct Roster: Sendable {
    private(set) var workers: [Int: WorkerState] = [:]
    private var names: [String: Int] = [:]
    private var connections: [ConnectionID: Int] = [:]
    private var retired: [ConnectionID: Int] = [:]
    private var nextIndex = 0
    private var turn = 0

    private(set) var classes: [WorkerClass] = []
    private var classIndexes: [WorkerClass: Int] = [:]
    private(set) var requirements: [Requirement] = []
    private var requirementIndexes: [Requirement: Int] = [:]
    /// Whether a class can do what a requirement asks, by both indexes.
    private var fits: [[Bool]] = []
    /// Workers with room for another batch, by class.
    private var free: [PriorityTable<Int, Load>] = []
    /// Workers of each class that are ready, busy or not.
    private var active: [Int] = []
    /// Slots of all ready workers.
    private(set) var slots = 0
    private let batchesAhead: Int
    /// Attempts that a worker holds at most.
    private let heldAttempts: Int

    init(_ limits: SharingLimits) {
        batchesAhead = max(0, limits.batchesAhead)
        heldAttempts = max(1, limits.heldAttempts)
    }

    /// A worker.
    subscript(index: Int) -> WorkerState? { workers[index] }

    /// The index of a worker by its name.
    func index(named name: String) -> Int? { names[name] }

    /// The index of the worker that has a connection.
    func index(of connection: ConnectionID) -> Int? { connections[connection] }

    /// The index of the worker that had a connection before.
    func retiredIndex(of connection: ConnectionID) -> Int? { retired[connection] }

    var isEmpty: Bool { workers.isEmpty }
}

// MARK: - Changes

extension Roster {
    /// Enters a worker.
    mutating func enter(
        _ name: String, _ hello: WorkerHello, _ connection: ConnectionID, now: Instant
    ) -> Int {
        let index = nextIndex
        nextIndex += 1
        workers[index] = WorkerState(
            name: name, host: hello.host, instance: hello.instance, kind: kind(of: hello),
            engine: hello.engine, slots: max(0, hello.slots), connection: connection,
            lastHeard: now, lastSent: now)
        names[name] = index
        connections[connection] = index
        return index
    }

    /// Gives a worker another connection.
    mutating func reconnect(_ index: Int, _ hello: WorkerHello, _ connection: ConnectionID) {
        let kind = kind(of: hello)
        update(index) { worker in
            worker.kind = kind
            worker.engine = hello.engine
            worker.host = hello.host
            worker.instance = hello.instance
            worker.refusedInstance = nil
            worker.slots = max(0, hello.slots)
        }
        retire(index)
        workers[index]?.connection = connection
        connections[connection] = index
    }

    /// Forgets the connection of a worker but for late messages.
    private mutating func retire(_ index: Int) {
        guard let old = workers[index]?.connection else { return }
        connections[old] = nil
        retired[old] = index
        workers[index]?.retired.append(old)
        workers[index]?.connection = nil
        // Messages that are older than eight connections do not arrive any more.
        if let count = workers[index]?.retired.count, count > 8,
            let oldest = workers[index]?.retired.removeFirst()
        {
            retired[oldest] = nil
        }
    }

    /// Changes a worker and what follows from it: whether it has room, and the sums.
    mutating func update(_ index: Int, _ body: (inout WorkerState) -> Void) {
        guard let before = workers[index] else { return }
        if Self.isActive(before) {
            active[before.kind] -= 1
            slots -= before.slots
        }
        let oldKind = before.kind
        var worker = before
        body(&worker)
        if Self.isActive(worker) {
            active[worker.kind] += 1
            slots += worker.slots
        }
        let hasRoom =
            Self.isActive(worker) && worker.grants.count < worker.slots + batchesAhead
            && worker.attempts < heldAttempts
        if oldKind != worker.kind { free[oldKind].remove(index) }
        if hasRoom {
            let load = Load(busy: worker.grants.count * 1024 / max(1, worker.slots), turn: turn)
            if free[worker.kind].priority(of: index)?.busy != load.busy {
                turn += 1
                free[worker.kind].set(index, load)
            }
        } else {
            free[worker.kind].remove(index)
        }
        workers[index] = worker
    }

    /// The most attempts that a worker with room is given at a time: each of its slots gets its
    /// share of what it may hold.
    func mostAttempts(for index: Int) -> Int {
        guard let worker = workers[index] else { return 1 }
        let share = heldAttempts / max(1, worker.slots + batchesAhead)
        return max(1, min(share, heldAttempts - worker.attempts))
    }

    /// Whether the results of a worker that wait to be checked keep it from getting more.
    func awaitsChecks(_ worker: WorkerState) -> Bool {
        Self.isActive(worker) && worker.attempts >= heldAttempts
    }

    /// Notes that a worker was heard of, which is cheap.
    mutating func hear(_ index: Int, _ now: Instant) {
        workers[index]?.lastHeard = now
        workers[index]?.isLost = false
    }

    /// Notes that a worker is not heard of.
    mutating func lose(_ index: Int) { workers[index]?.isLost = true }

    /// Notes that another process with a worker's key was refused.
    mutating func refuse(_ instance: String, for index: Int) {
        workers[index]?.refusedInstance = instance
    }

    /// Notes that a worker was sent something.
    mutating func send(_ index: Int, _ now: Instant) { workers[index]?.lastSent = now }

    /// Counts a job that a worker did.
    mutating func countAccepted(_ index: Int) { workers[index]?.accepted += 1 }

    /// Forgets a worker.
    mutating func remove(_ index: Int) {
        update(index) { $0.phase = .gone }
        retire(index)
        guard let worker = workers.removeValue(forKey: index) else { return }
        for connection in worker.retired { retired[connection] = nil }
        if names[worker.name] == index { names[worker.name] = nil }
    }

    private static func isActive(_ worker: WorkerState) -> Bool { worker.phase == .ready }
}

// MARK: - Classes

extension Roster {
    private mutating func kind(of hello: WorkerHello) -> Int {
        let kind = WorkerClass(
            engine: hello.engine, roots: Set(hello.roots), policies: Set(hello.policies))
        if let index = classIndexes[kind] { return index }
        classIndexes[kind] = classes.count
        classes.append(kind)
        fits.append(requirements.map { kind.fits($0) })
        free.append(PriorityTable())
        active.append(0)
        return classes.count - 1
    }

    /// The index of a requirement.
    mutating func index(of requirement: Requirement) -> Int {
        if let index = requirementIndexes[requirement] { return index }
        requirementIndexes[requirement] = requirements.count
        requirements.append(requirement)
        for kind in classes.indices { fits[kind].append(classes[kind].fits(requirement)) }
        return requirements.count - 1
    }

    /// Whether a class can do what a requirement asks, by their indexes.
    func fits(_ kind: Int, _ requirement: Int) -> Bool { fits[kind][requirement] }

    /// The worker of a class with room that has the least to do.
    func freest(_ kind: Int) -> Int? { free[kind].first?.key }

    /// Workers of a class with room, the freest first, a few of them.
    func someFree(_ kind: Int) -> [Int] { free[kind].prefix(4) }

    /// Whether some ready worker can do what a requirement asks.
    func hasActive(for requirement: Int) -> Bool {
        classes.indices.contains { active[$0] > 0 && fits[$0][requirement] }
    }

    /// Whether some ready worker has one of the engines; all count for nil.
    func hasActive(engine: String?) -> Bool {
        classes.indices.contains { kind in
            active[kind] > 0 && (engine == nil || classes[kind].engine == engine)
        }
    }

    /// Whether a worker with room can do what a requirement asks.
    func hasFree(for requirement: Int) -> Bool {
        classes.indices.contains { !free[$0].isEmpty && fits[$0][requirement] }
    }

    /// Whether a worker is ready and has room for another batch.
    func hasRoom(_ index: Int) -> Bool {
        workers[index].map { free[$0.kind].contains(index) } ?? false
    }

    /// Ready workers.
    var activeCount: Int { active.reduce(0, +) }
}
