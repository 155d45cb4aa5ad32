import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing
import WorkerRules

/// A worker's machine on a bench.
struct WorkerBench {
    var machine: WorkerMachine
    var now = Instant.zero
    var last = WorkerEffects()
    /// Everything that was said.
    var said: [WorkerMessage] = []
    var exit: WorkerExit?
    /// Attempts by the slot that runs them.
    var slots: [Int: JobOrder] = [:]
    /// Whether the test breaks invariants itself.
    var expectsBrokenInvariants = false

    init(slots: Int = 1, _ change: (inout WorkerSettings) -> Void = { _ in }) {
        var settings = WorkerSettings(
            worker: "w", protocols: .current, engine: "1", sqlite: "3", slots: slots,
            jitterSeed: 3)
        change(&settings)
        machine = WorkerMachine(settings: settings)
    }

    mutating func handle(
        _ event: WorkerEvent, _ location: SourceLocation = #_sourceLocation
    ) {
        last = machine.handle(event, now: now)
        said += last.sends
        exit = exit ?? last.exit
        for command in last.slots {
            if case .run(let order, let slot) = command {
                #expect(slots[slot] == nil, "slot \(slot) is busy", sourceLocation: location)
                slots[slot] = order
            }
        }
        if !expectsBrokenInvariants {
            #expect(machine.broken == nil, sourceLocation: location)
        }
    }

    mutating func wait(_ milliseconds: Int64) {
        now = now.adding(milliseconds)
        handle(.tick)
    }

    /// Waits until it asks for a connection.
    mutating func waitForConnect() {
        while !last.connects, let wake = machine.nextWake {
            now = max(now, wake)
            handle(.tick)
        }
    }

    mutating func attach(keep: [String] = [], drop: [String] = []) {
        waitForConnect()
        handle(.connected)
        handle(
            .message(
                .welcome(
                    Welcome(
                        coordinator: "c", protocolVersion: ProtocolRange.current.highest,
                        heartbeatMilliseconds: 1000,
                        livenessBeats: 5, keep: keep, drop: drop))))
    }

    static func order(_ number: Int) -> JobOrder {
        JobOrder(
            job: CoordinatorBench.plan(.whole).template.job(
                StoreKey(run: "r", number: number), .whole, engine: "1"),
            attempt: Attempt(
                id: "a\(number)", epoch: 1, folder: FileReference(root: "run", path: "a\(number)")),
            leaseMilliseconds: 30_000)
    }

    mutating func give(_ numbers: Int...) {
        handle(.message(.jobs(numbers.map(Self.order))))
    }

    /// The slot that has an attempt delivers it.
    mutating func deliver(_ number: Int, _ location: SourceLocation = #_sourceLocation) {
        guard let slot = slots.first(where: { $0.value.attempt.id == "a\(number)" }) else {
            Issue.record("no slot has a\(number)", sourceLocation: location)
            return
        }
        slots[slot.key] = nil
        handle(.slot(.delivered(CoordinatorBench.receipt(slot.value)), slot: slot.key), location)
    }

    mutating func die(
        _ number: Int, _ code: FailureCause = .crashed,
        _ location: SourceLocation = #_sourceLocation
    ) {
        guard let slot = slots.first(where: { $0.value.attempt.id == "a\(number)" }) else {
            Issue.record("no slot has a\(number)", sourceLocation: location)
            return
        }
        slots[slot.key] = nil
        handle(.slot(.died(attempt: "a\(number)", code, text: "signal 11"), slot: slot.key))
    }

    func says(_ message: WorkerMessage) -> Bool { last.sends.contains(message) }
}
