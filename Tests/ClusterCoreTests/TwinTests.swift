import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

/// Two processes with the key of one worker.
@Suite struct TwinTests {
    /// A bench with a worker `w` of the process `a`, which has a job of a small store.
    private static func bench() -> CoordinatorBench {
        var bench = CoordinatorBench()
        hello("a", by: "w-a", &bench)
        bench.say(.ready(freeSlots: 1), "w")
        bench.open()
        bench.small(1...1)
        #expect(bench.order(.whole)?.attempt.id == "r-1-whole-1")
        return bench
    }

    @discardableResult
    private static func hello(
        _ instance: String, by connection: String, held: [HeldAttempt] = [],
        _ bench: inout CoordinatorBench
    ) -> [CoordinatorMessage] {
        let id = ConnectionID(connection)
        bench.names[id] = "w"
        bench.connections["w"] = id
        bench.handle(
            .message(
                .hello(
                    CoordinatorBench.hello(
                        "w", held: held, host: "host-\(instance)", instance: instance)),
                from: id, worker: "w"))
        return bench.said(to: "w")
    }

    private static func refusal(_ messages: [CoordinatorMessage]) -> Refusal? {
        if case .refused(let refusal)? = messages.first { refusal } else { nil }
    }

    private static func isWelcome(_ messages: [CoordinatorMessage]) -> Bool {
        if case .welcome? = messages.first { true } else { false }
    }

    @Test func theSecondIsRefusedWhileTheFirstIsHeardOf() throws {
        var bench = Self.bench()
        let first = try #require(bench.connections["w"])
        var told = 0
        for attempt in 0..<10 {
            let refusal = try #require(
                Self.refusal(Self.hello("b", by: "w-b\(attempt)", &bench)))
            #expect(refusal.code == .nameTaken)
            #expect(refusal.text.contains("on host-a, this one is on host-b"), "\(refusal.text)")
            told += bench.last.notes.count {
                if case .worker(_, .refused) = $0 { true } else { false }
            }
            bench.connections["w"] = first
            bench.wait(2000, beating: ["w"])
        }
        #expect(told == 1)
        #expect(bench.failures.isEmpty)
        bench.done(.whole)
        #expect(bench.accepted == ["1-whole": 1])
    }

    @Test func aThirdOneIsToldOf() throws {
        var bench = Self.bench()
        for instance in ["b", "c"] {
            #expect(Self.refusal(Self.hello(instance, by: "w-\(instance)", &bench)) != nil)
            let refused = bench.last.notes.contains {
                if case .worker(_, .refused) = $0 { true } else { false }
            }
            #expect(refused)
        }
    }

    @Test func theSameProcessComesBackAtOnce() {
        var bench = Self.bench()
        let held = HeldAttempt(
            run: "r", store: 1, work: .whole, attempt: "r-1-whole-1", epoch: 1)
        #expect(Self.isWelcome(Self.hello("a", by: "w-a2", held: [held], &bench)))
        #expect(bench.failures.isEmpty)
        #expect(Self.refusal(Self.hello("b", by: "w-b", &bench)) != nil)
    }

    @Test func aNewProcessComesInWhenTheFormerConnectionIsGone() throws {
        var bench = Self.bench()
        bench.handle(.unreachable(try #require(bench.connections["w"])))
        #expect(Self.isWelcome(Self.hello("b", by: "w-b", &bench)))
        // What the former one had is given out again.
        #expect(bench.failures == [.leaseExpired])
    }

    @Test func aNewProcessComesInAfterTheLivenessTime() {
        var bench = Self.bench()
        bench.wait(4000)
        #expect(Self.refusal(Self.hello("b", by: "w-b", &bench)) != nil)
        bench.wait(1000)
        #expect(Self.isWelcome(Self.hello("b", by: "w-b2", &bench)))
    }

    @Test func whoTellsNoProcessIsTakenAsBefore() {
        var bench = Self.bench()
        #expect(Self.isWelcome(Self.hello("", by: "w-b", &bench)))
        #expect(Self.isWelcome(Self.hello("a", by: "w-c", &bench)))
    }

    @Test func drainingASilentWorkerDoesNotHideItsSilence() throws {
        var bench = Self.bench()
        bench.wait(6000)
        let before = try #require(bench.machine.workerStatus.first)
        #expect(before.state == .silent)
        #expect(before.reason == .silent(seconds: 24))
        bench.request(.drain(worker: "w"))
        let after = try #require(bench.machine.workerStatus.first)
        #expect(after.state == .draining)
        #expect(after.reason == before.reason)
        // Back again, it finishes what it has.
        bench.say(.heartbeat(scratchFree: 0, runningAttempts: ["r-1-whole-1"]), "w")
        #expect(bench.machine.workerStatus.first?.reason == .finishing)
        bench.wait(6000)
        #expect(bench.machine.workerStatus.first?.reason == .silent(seconds: 18))
    }
}
