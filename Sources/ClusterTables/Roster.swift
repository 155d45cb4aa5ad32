package import ClusterProtocol
package import ClusterVocabulary

/// What jobs of a store ask of a worker.
package struct Requirement: Hashable, Sendable {
    /// Nil for any.
    package let engine: String?
    package let roots: Set<String>
    package let policies: Set<String>

    package init(engine: String?, roots: Set<String>, policies: Set<String>) {
        self.engine = engine
        self.roots = roots
        self.policies = policies
    }
}

/// What workers have in common that can do the same jobs.
package struct WorkerClass: Hashable, Sendable {
    package let engine: String
    package let roots: Set<String>
    package let policies: Set<String>

    /// Whether a worker of the class can do what a requirement asks.
    package func fits(_ requirement: Requirement) -> Bool {
        if let engine = requirement.engine, engine != self.engine { return false }
        return requirement.roots.isSubset(of: roots)
            && requirement.policies.isSubset(of: policies)
    }
}

/// One worker as the coordinator knows it.
package struct WorkerState: Sendable {
    package let name: String
    package var host: String
    /// Of the process that said hello last; empty where it tells none.
    package var instance: String
    /// Of another process with the same key that was refused.
    package var refusedInstance: String?
    package var phase = WorkerPhase.greeted
    /// Its place among the classes.
    package var kind: Int
    package var engine: String
    package var slots: Int
    /// Nil once it is gone.
    package var connection: ConnectionID?
    /// Earlier connections, whose late messages change nothing.
    package var retired: [ConnectionID] = []
    /// Grants that it holds: batches in flight.
    package var grants: Set<Int> = []
    /// Attempts that it holds, those included whose results are being checked.
    package var attempts = 0
    package var lastHeard: Instant
    package var lastSent: Instant
    /// Whether it was silent for too long, or its connection is known to be gone.
    package var isLost = false
    package var accepted = 0
    /// Jobs that it failed and another worker could do.
    package var strikes = 0
    /// Why it was quarantined.
    package var reason: String?
    package var scratchFree: Int64?
}

/// How much a worker has to do: the least comes first, then who waited longest.
package struct Load: Comparable, Sendable {
    package let busy: Int
    package let turn: Int

    package static func < (left: Load, right: Load) -> Bool {
        (left.busy, left.turn) < (right.busy, right.turn)
    }
}

/// The workers, with those that have a free slot at hand.
package struct Roster: Sendable {
    package private(set) var workers: [Int: WorkerState] = [:]
    private var names: [String: Int] = [:]
    private var connections: [ConnectionID: Int] = [:]
    private var retired: [ConnectionID: Int] = [:]
    private var nextIndex = 0
    private var turn = 0

    package private(set) var classes: [WorkerClass] = []
    private var classIndexes: [WorkerClass: Int] = [:]
    package private(set) var requirements: [Requirement] = []
    private var requirementIndexes: [Requirement: Int] = [:]
    /// Whether a class can do what a requirement asks, by both indexes.
    private var fits: [[Bool]] = []
    /// Workers with room for another batch, by class.
    private var free: [PriorityTable<Int, Load>] = []
    /// Workers of each class that are ready, busy or not.
    private var active: [Int] = []
    /// Slots of all ready workers.
    package private(set) var slots = 0
    private let batchesAhead: Int
    /// Attempts that a worker holds at most.
    private let heldAttempts: Int

    package init(_ limits: SharingLimits) {
        batchesAhead = max(0, limits.batchesAhead)
        heldAttempts = max(1, limits.heldAttempts)
    }

    /// A worker.
    package subscript(index: Int) -> WorkerState? { workers[index] }

    /// The index of a worker by its name.
    package func index(named name: String) -> Int? { names[name] }

    /// The index of the worker that has a connection.
    package func index(of connection: ConnectionID) -> Int? { connections[connection] }

    /// The index of the worker that had a connection before.
    package func retiredIndex(of connection: ConnectionID) -> Int? { retired[connection] }

    package var isEmpty: Bool { workers.isEmpty }
}

// MARK: - Changes

extension Roster {
    /// Enters a worker.
    package mutating func enter(
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
    package mutating func reconnect(_ index: Int, _ hello: WorkerHello, _ connection: ConnectionID)
    {
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
    package mutating func update(_ index: Int, _ body: (inout WorkerState) -> Void) {
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
    package func mostAttempts(for index: Int) -> Int {
        guard let worker = workers[index] else { return 1 }
        let share = heldAttempts / max(1, worker.slots + batchesAhead)
        return max(1, min(share, heldAttempts - worker.attempts))
    }

    /// Whether the results of a worker that wait to be checked keep it from getting more.
    package func awaitsChecks(_ worker: WorkerState) -> Bool {
        Self.isActive(worker) && worker.attempts >= heldAttempts
    }

    /// Notes that a worker was heard of, which is cheap.
    package mutating func hear(_ index: Int, _ now: Instant) {
        workers[index]?.lastHeard = now
        workers[index]?.isLost = false
    }

    /// Notes that a worker is not heard of.
    package mutating func lose(_ index: Int) { workers[index]?.isLost = true }

    /// Notes that another process with a worker's key was refused.
    package mutating func refuse(_ instance: String, for index: Int) {
        workers[index]?.refusedInstance = instance
    }

    /// Notes that a worker was sent something.
    package mutating func send(_ index: Int, _ now: Instant) { workers[index]?.lastSent = now }

    /// Counts a job that a worker did.
    package mutating func countAccepted(_ index: Int) { workers[index]?.accepted += 1 }

    /// Forgets a worker.
    package mutating func remove(_ index: Int) {
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
    package mutating func index(of requirement: Requirement) -> Int {
        if let index = requirementIndexes[requirement] { return index }
        requirementIndexes[requirement] = requirements.count
        requirements.append(requirement)
        for kind in classes.indices { fits[kind].append(classes[kind].fits(requirement)) }
        return requirements.count - 1
    }

    /// Whether a class can do what a requirement asks, by their indexes.
    package func fits(_ kind: Int, _ requirement: Int) -> Bool { fits[kind][requirement] }

    /// The worker of a class with room that has the least to do.
    package func freest(_ kind: Int) -> Int? { free[kind].first?.key }

    /// Workers of a class with room, the freest first, a few of them.
    package func someFree(_ kind: Int) -> [Int] { free[kind].prefix(4) }

    /// Whether some ready worker can do what a requirement asks.
    package func hasActive(for requirement: Int) -> Bool {
        classes.indices.contains { active[$0] > 0 && fits[$0][requirement] }
    }

    /// Whether some ready worker has one of the engines; all count for nil.
    package func hasActive(engine: String?) -> Bool {
        classes.indices.contains { kind in
            active[kind] > 0 && (engine == nil || classes[kind].engine == engine)
        }
    }

    /// Whether a worker with room can do what a requirement asks.
    package func hasFree(for requirement: Int) -> Bool {
        classes.indices.contains { !free[$0].isEmpty && fits[$0][requirement] }
    }

    /// Whether a worker is ready and has room for another batch.
    package func hasRoom(_ index: Int) -> Bool {
        workers[index].map { free[$0.kind].contains(index) } ?? false
    }

    /// Ready workers.
    package var activeCount: Int { active.reduce(0, +) }
}
