package import ClusterProtocol
package import ClusterVocabulary
package import Jobs

/// What takes turns within a run: its small stores together, and each large store.
package enum Flow: Hashable, Sendable {
    /// Small stores whose workers must meet the same requirement.
    case small(Int)
    case large(Int)
}

/// How far one run has come.
package struct RunProgress: Sendable {
    package let name: String
    /// Whether an earlier start of the coordinator has begun it.
    package let isResumed: Bool
    package var phase = RunPhase.queued
    package var limits: RunLimits
    package var defersSwap: Bool
    package var hold: PauseReason?
    /// Stores that were not offered yet.
    package var toOffer: Int
    /// Questions to the ledger about stores of the run that may be worked on again: until they
    /// are answered, the run does not end.
    package var questions = 0
    /// Stores in the machine.
    package var inside = 0
    /// Stores begun and not ended.
    package var begun = 0
    /// Large stores at work.
    package var large = 0
    package var running = 0
    package var ended: [StoreState: Int] = [:]
    /// Failures that count towards the limit: all of the run.
    package var failures: Int
    package private(set) var rows: Int64 = 0
    package private(set) var bytes: Int64 = 0
    /// What its small stores took.
    package var spent = Durations()

    /// What a report about a run can hold; a receipt may say anything.
    private static let most: Int64 = 1 << 60

    /// Counts rows that were read.
    package mutating func count(rows more: Int64) { rows = Self.sum(rows, more) }

    /// Counts bytes that were read.
    package mutating func count(bytes more: Int64) { bytes = Self.sum(bytes, more) }

    private static func sum(_ one: Int64, _ other: Int64) -> Int64 {
        min(one &+ min(max(0, other), most), most)
    }

    /// Counts a store out that has ended.
    package mutating func leave(_ store: Int) {
        inside -= 1
        interrupted.remove(store)
    }

    /// Its turn among runs, and the turn up to which its flows have come.
    package var pass: Int64 = 0
    private var turn: Int64 = 0
    /// Flows that have something to hand out, by requirement.
    private var flows: [Int: PriorityTable<Flow, Int64>] = [:]
    private var smallPasses: [Int: Int64] = [:]
    /// Small stores that wait, by requirement.
    package var small: [Int: Queue<Int>] = [:]
    package private(set) var requirements: [Int] = []
    /// Large stores that wait.
    package var waitingLarge = Queue<Int>()
    /// Tasks that wait for the end of a pause.
    package var heldTasks: [PendingTask] = []
    /// Stores between two names, whose swap was tried often enough to stop the run.
    package var interrupted: Set<Int> = []
    package var waitingSmall = 0
    package var throttleJobs: Int?
    /// Whether a disk was full and no job has succeeded since: jobs run one at a time then, for
    /// two that each take half of the space would both fail each time.
    package var isShortOfSpace = false
    package var bucket = TokenBucket(bytesPerSecond: nil)

    /// A run as it is offered.
    package init(_ offer: RunOffer) {
        name = offer.run
        isResumed = offer.isResumed
        limits = offer.limits
        defersSwap = offer.defersSwap
        toOffer = max(0, offer.stores)
        failures = max(0, offer.failed)
        if offer.validated > 0 { ended[.validated] = offer.validated }
        hold = offer.pausedBy
    }

    /// Whether nothing is left to do but the swaps that a client has to request.
    package var awaitsSwap: Bool { phase == .ended && ended[.validated] ?? 0 > 0 }

    /// Whether anything of the run may be begun.
    package var isOpen: Bool { phase == .open }

    /// Whether it has as many jobs at work as it may.
    package var isFull: Bool {
        if isShortOfSpace, running > 0 { return true }
        if let limit = limits.jobs, running >= limit { return true }
        if let limit = throttleJobs, running >= limit { return true }
        return false
    }

    /// Whether another store may be begun.
    package var hasStorePlace: Bool { limits.stores.map { begun < $0 } ?? true }

    /// Lets a flow take part, or not.
    package mutating func set(_ flow: Flow, requirement: Int, pass: Int64, takesPart: Bool) {
        guard takesPart else {
            flows[requirement]?.remove(flow)
            return
        }
        if flows[requirement] == nil {
            flows[requirement] = PriorityTable()
            let place = requirements.firstIndex { $0 > requirement } ?? requirements.endIndex
            requirements.insert(requirement, at: place)
        }
        guard flows[requirement]?.contains(flow) == false else { return }
        // Who comes back does not make up for the turns it did not want.
        flows[requirement]?.set(flow, max(pass, turn))
    }

    /// Lets the small stores of a requirement take part while there are any.
    package mutating func setSmall(_ requirement: Int) {
        set(
            .small(requirement), requirement: requirement, pass: smallPasses[requirement] ?? 0,
            takesPart: small[requirement].map { !$0.isEmpty } ?? false)
    }

    /// The flow whose turn it is among those with a requirement.
    package func next(_ requirement: Int) -> (flow: Flow, pass: Int64)? {
        flows[requirement]?.first.map { ($0.key, $0.priority) }
    }

    /// Charges a flow for what it was given.
    ///
    /// - Parameters:
    ///   - flow: that was given it.
    ///   - requirement: of the flow.
    ///   - bytes: how much.
    /// - Returns: the flow's new turn.
    package mutating func charge(_ flow: Flow, requirement: Int, bytes: Int64) -> Int64 {
        // The small stores together count like the large ones together.
        let weight: Int64 = if case .small = flow { Int64(max(1, large)) } else { 1 }
        let cost = max(bytes, RunProgress.leastCost)
        let old = flows[requirement]?.priority(of: flow) ?? turn
        turn = max(turn, old)
        let new = old + cost / weight
        if flows[requirement]?.contains(flow) == true { flows[requirement]?.set(flow, new) }
        if case .small = flow { smallPasses[requirement] = new }
        pass += cost
        return new
    }

    /// What a job costs at least: opening a store has its price whatever its size.
    package static let leastCost: Int64 = 64 << 10
}
