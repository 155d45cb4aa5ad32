import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing
import WorkerRules

/// A story told to a worker's machine.
struct WorkerScenario: CustomTestStringConvertible, Sendable {
    let name: String
    let run: @Sendable () -> WorkerBench

    init(_ name: String, _ run: @escaping @Sendable () -> WorkerBench) {
        self.name = name
        self.run = run
    }

    var testDescription: String { name }

    static let all: [WorkerScenario] = [
        WorkerScenario("a job is run, delivered until it is decided on, and forgotten") {
            var bench = WorkerBench()
            bench.attach()
            #expect(bench.said.last == .ready(freeSlots: 1))
            bench.give(1)
            bench.give(1)
            #expect(bench.slots.count == 1)
            bench.deliver(1)
            let done = WorkerMessage.done(CoordinatorBench.receipt(WorkerBench.order(1)))
            #expect(bench.says(done))
            bench.wait(5000)
            #expect(bench.says(done))
            bench.handle(.message(.committed(attempt: "a1")))
            #expect(bench.machine.held.isEmpty)
            bench.handle(.message(.committed(attempt: "a1")))
            #expect(bench.last.isEmpty)
            return bench
        },
        WorkerScenario("a batch takes one slot, two messages two") {
            var bench = WorkerBench(slots: 2)
            bench.attach()
            bench.give(1, 2, 3)
            #expect(bench.slots.count == 1)
            bench.give(4)
            #expect(bench.slots.count == 2)
            bench.deliver(1)
            #expect(bench.slots.values.map(\.attempt.id).sorted() == ["a2", "a4"])
            return bench
        },
        WorkerScenario("progress is told at most so often, and the last word is told") {
            var bench = WorkerBench()
            bench.attach()
            bench.give(1)
            for rows in 1...5 {
                bench.handle(
                    .slot(.progress(attempt: "a1", rows: Int64(rows), bytes: 0), slot: 0))
            }
            let told = bench.said.filter { if case .progress = $0 { true } else { false } }
            #expect(told == [.progress(attempt: "a1", rows: 1, bytes: 0)])
            bench.wait(1000)
            #expect(bench.says(.progress(attempt: "a1", rows: 5, bytes: 0)))
            return bench
        },
        WorkerScenario("a crash costs its slot only") {
            var bench = WorkerBench(slots: 2)
            bench.attach()
            bench.give(1)
            bench.give(2)
            bench.die(1)
            #expect(
                bench.says(
                    .failed(
                        AttemptFailure(
                            attempt: "a1", cause: .crashed, text: "signal 11",
                            slotEnded: true))))
            #expect(bench.machine.held == ["a2"])
            bench.give(3)
            #expect(bench.slots[0]?.attempt.id == "a3")
            return bench
        },
        WorkerScenario("the coordinator is lost: jobs continue and are reported afterwards") {
            var bench = WorkerBench(slots: 2)
            bench.attach()
            bench.give(1)
            bench.give(2)
            bench.give(3)
            bench.handle(.disconnected)
            bench.deliver(1)
            bench.die(2)
            #expect(bench.last.sends.isEmpty)
            bench.waitForConnect()
            bench.handle(.connected)
            guard case .hello(let hello)? = bench.last.sends.first else {
                Issue.record("no hello")
                return bench
            }
            #expect(hello.held.map(\.attempt) == ["a1", "a2", "a3"])
            bench.attach(drop: ["a3"])
            #expect(bench.last.discards.isEmpty)
            bench.handle(.slot(.died(attempt: "a3", .stopped, text: "killed"), slot: 0))
            #expect(bench.machine.held == ["a1"])
            return bench
        },
        WorkerScenario("a worker without an answer keeps trying, later each time") {
            var bench = WorkerBench()
            var waits: [Int64] = []
            for _ in 0..<30 {
                bench.waitForConnect()
                let start = bench.now
                bench.handle(.connected)
                bench.wait(5000)
                bench.waitForConnect()
                waits.append(bench.now.since(start))
                bench.last = WorkerEffects()
                bench.handle(.disconnected)
            }
            #expect(waits.max() ?? 0 <= 5000 + 12_500)
            #expect(waits.last ?? 0 > 5000 + 7000)
            bench.attach()
            #expect(bench.machine.isAttached)
            return bench
        },
        WorkerScenario("silence, a refusal and a bye lead to another connection") {
            var bench = WorkerBench()
            bench.attach()
            bench.wait(4000)
            bench.handle(.message(.heartbeat))
            bench.wait(4000)
            #expect(bench.machine.isAttached)
            bench.wait(4000)
            #expect(!bench.machine.isAttached)
            bench.waitForConnect()
            bench.handle(.connected)
            bench.handle(
                .message(.refused(Refusal(code: .protocolVersion, text: "too old"))))
            bench.attach()
            bench.handle(.message(.bye(reason: "unknown connection")))
            #expect(!bench.machine.isAttached)
            bench.attach()
            return bench
        },
        WorkerScenario("what is revoked or denied is stopped and removed") {
            var bench = WorkerBench()
            bench.attach()
            bench.give(1)
            bench.give(2)
            bench.handle(.message(.revoke(attempt: "a2")))
            #expect(bench.last.discards.map(\.attempt.id) == ["a2"])
            bench.handle(.message(.revoke(attempt: "a1")))
            guard case .kill(slot: 0)? = bench.last.slots.first else {
                Issue.record("not killed")
                return bench
            }
            bench.handle(.message(.revoke(attempt: "a1")))
            bench.deliver(1)
            #expect(!bench.last.sends.contains { if case .done = $0 { true } else { false } })
            // What was killed is free for the next job only once its process has ended.
            bench.handle(.slot(.died(attempt: "a1", .stopped, text: "killed"), slot: 0))
            bench.give(3)
            bench.deliver(3)
            bench.handle(.message(.denied(attempt: "a3", reason: .staleEpoch)))
            #expect(bench.last.discards.map(\.attempt.id) == ["a3"])
            return bench
        },
        WorkerScenario("a drained worker gives back what waits and ends with what runs") {
            var bench = WorkerBench()
            bench.attach()
            bench.give(1, 2)
            bench.handle(.message(.drain))
            #expect(bench.says(.returned(attempt: "a2")))
            bench.give(3)
            #expect(bench.says(.returned(attempt: "a3")))
            bench.deliver(1)
            #expect(bench.exit == nil)
            bench.handle(.message(.committed(attempt: "a1")))
            #expect(bench.exit == .finished)
            #expect(bench.said.last == .bye(reason: "finished"))
            return bench
        },
        WorkerScenario("a terminated worker finishes within its grace") {
            var bench = WorkerBench()
            bench.attach()
            bench.give(1)
            bench.handle(.message(.drain))
            bench.handle(.terminate)
            bench.deliver(1)
            bench.handle(.message(.committed(attempt: "a1")))
            #expect(bench.exit == .finished)
            return bench
        },
        WorkerScenario("after the grace what runs is killed and given back") {
            var bench = WorkerBench()
            bench.attach()
            bench.give(1)
            bench.handle(.terminate)
            for _ in 0..<20 {
                bench.wait(1000)
                bench.handle(.message(.heartbeat))
            }
            bench.die(1, .stopped)
            #expect(bench.said.contains(.returned(attempt: "a1")))
            #expect(bench.exit == .finished)
            return bench
        },
        WorkerScenario("a result without a decision does not keep it alive") {
            var bench = WorkerBench()
            bench.attach()
            bench.give(1)
            bench.deliver(1)
            bench.handle(.terminate)
            bench.wait(20_000)
            #expect(bench.exit == .finished)
            return bench
        },
        WorkerScenario("an orphan ends only if it is told to") {
            var faithful = WorkerBench()
            faithful.attach()
            faithful.handle(.orphaned)
            #expect(faithful.exit == nil)
            var bench = WorkerBench { $0.exitsWhenOrphaned = true }
            bench.attach()
            bench.handle(.orphaned)
            #expect(bench.exit == .orphaned)
            #expect(bench.machine.nextWake == nil)
            return bench
        },
        WorkerScenario("a refused worker ends where it is meant to") {
            var bench = WorkerBench { $0.exitsWhenRefused = true }
            bench.waitForConnect()
            bench.handle(.connected)
            bench.handle(.message(.refused(Refusal(code: .badMessage, text: "who are you"))))
            #expect(bench.exit == .refused("who are you"))
            return bench
        },
        WorkerScenario("a connection that never comes is asked for again") {
            var bench = WorkerBench()
            bench.waitForConnect()
            bench.last = WorkerEffects()
            bench.waitForConnect()
            bench.attach()
            return bench
        },
    ]
}

@Suite struct WorkerMachineTests {
    @Test(arguments: WorkerScenario.all)
    func storyEndsWell(_ scenario: WorkerScenario) {
        let bench = scenario.run()
        #expect(bench.machine.broken == nil)
    }
}
