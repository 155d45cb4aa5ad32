import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

extension CoordinatorScenario {
    private static func held(_ order: JobOrder) -> HeldAttempt {
        HeldAttempt(
            run: order.job.run, store: order.job.store, work: order.job.work,
            attempt: order.attempt.id, epoch: order.attempt.epoch)
    }

    private static func history(_ epoch: Int, open: [String]) -> [Work: JobHistory] {
        [.copy(chunk: 0): JobHistory(epoch: epoch, attempts: 1, open: open)]
    }

    static let workerScenarios: [CoordinatorScenario] = [
        CoordinatorScenario("a worker of another protocol is refused with both versions") { bench in
            let theirs = ProtocolRange(lowest: 7, highest: 9)
            bench.connections["w"] = ConnectionID("w-1")
            bench.names[ConnectionID("w-1")] = "w"
            bench.say(.hello(CoordinatorBench.hello("w", protocols: theirs)), "w")
            guard case .refused(let refusal)? = bench.said(to: "w").first else {
                Issue.record("not refused")
                return
            }
            #expect(refusal.text.contains("7 to 9"))
            #expect(bench.machine.workerStatus.isEmpty)
        },
        CoordinatorScenario(
            "a worker of an engine that is not taken is refused",
            settings: { $0.engines = ["1"] }
        ) { bench in
            bench.join("w", engine: "2", isReady: false)
            #expect(bench.machine.workerStatus.isEmpty)
        },
        CoordinatorScenario("a worker that comes back keeps what it holds, and loses the rest") {
            bench in
            bench.join("w", slots: 2)
            bench.open()
            bench.large()
            bench.answer(.prepared(CoordinatorBench.chunks(2), .fresh(reason: nil)))
            let kept = try #require(bench.order(.copy(chunk: 0)))
            let lost = try #require(bench.order(.copy(chunk: 1)))
            bench.wait(20_000, beating: ["w"])
            bench.join("w", by: "w-2", slots: 2, held: [held(kept)], isReady: false)
            let welcome = try bench.welcome(to: "w")
            #expect(welcome.keep == [kept.attempt.id])
            #expect(bench.failures == [.leaseExpired])
            #expect(
                bench.records.contains(
                    .epochRaised(StoreKey(run: "r", number: 1), .copy(chunk: 1), to: 2)))
            // Its lease has its full term again.
            bench.wait(25_000, beating: ["w"])
            #expect(bench.failures == [.leaseExpired])
            // A late copy of the first hello takes nothing away.
            bench.handle(
                .message(
                    .hello(CoordinatorBench.hello("w", slots: 2)), from: ConnectionID("w-1"),
                    worker: "w"))
            #expect(bench.last.sends.isEmpty)
            // And neither does a repeated one.
            bench.say(.hello(CoordinatorBench.hello("w", slots: 2, held: [held(kept)])), "w")
            #expect(bench.failures == [.leaseExpired])
            bench.handle(
                .message(
                    .done(CoordinatorBench.receipt(lost)), from: ConnectionID("w-1"),
                    worker: "w"))
            bench.say(.ready(freeSlots: 1), "w")
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("after a restart open attempts get a full lease and are taken back") {
            bench in
            bench.open(stores: 3)
            for number in 1...3 {
                bench.large(
                    number, jobs: history(4, open: ["r-\(number)-copy-0-1"]), isRunning: true)
                bench.answer(
                    .prepared(CoordinatorBench.chunks(1), .kept(steps: 0)))
            }
            let claim = HeldAttempt(
                run: "r", store: 1, work: .copy(chunk: 0), attempt: "r-1-copy-0-1", epoch: 4)
            let odd = HeldAttempt(
                run: "r", store: 2, work: .copy(chunk: 0), attempt: "r-2-copy-0-9", epoch: 4)
            bench.join("w", slots: 3, held: [claim, odd])
            guard
                case .welcome(let welcome)? = bench.notes.isEmpty
                    ? nil : bench.last.sends.first?.message
            else {
                // The welcome was the answer to the hello, the last event was the readiness.
                #expect(bench.failures.isEmpty)
                bench.wait(29_000, beating: ["w"])
                #expect(bench.failures.isEmpty)
                bench.say(
                    .done(
                        Receipt(
                            run: "r", store: 1, work: .copy(chunk: 0), attempt: "r-1-copy-0-1",
                            epoch: 4, files: [], rows: 1, sums: [:], counts: [:])), "w")
                bench.answerAll()
                #expect(bench.state(1) == .done)
                bench.wait(2000, beating: ["w"])
                #expect(bench.failures == [.leaseExpired, .leaseExpired])
                bench.request(.cancel(run: "r"))
                return
            }
            Issue.record("unexpected \(welcome)")
        },
        CoordinatorScenario("a result of before the restart finds its store") { bench in
            bench.open()
            let attempt = HeldAttempt(
                run: "r", store: 1, work: .copy(chunk: 0), attempt: "r-1-copy-0-1", epoch: 1)
            bench.join("w", held: [attempt])
            #expect(bench.machine.wantedStores == ["r": 1])
            let receipt = Receipt(
                run: "r", store: 1, work: .copy(chunk: 0), attempt: "r-1-copy-0-1", epoch: 1,
                files: [], rows: 1, sums: [:], counts: [:])
            bench.say(.done(receipt), "w")
            bench.large(jobs: history(1, open: ["r-1-copy-0-1"]), isRunning: true)
            bench.answer(.prepared(CoordinatorBench.chunks(1), .kept(steps: 0)))
            bench.say(.done(receipt), "w")
            bench.answerAll()
            #expect(bench.state(1) == .done)
            #expect(bench.failures.isEmpty)
        },
        CoordinatorScenario("what is held of a store that has ended is denied") { bench in
            bench.open()
            let attempt = HeldAttempt(
                run: "r", store: 9, work: .whole, attempt: "r-9-whole-1", epoch: 1)
            bench.join("w", held: [attempt], isReady: false)
            #expect(bench.last.lookups == [.store(StoreKey(run: "r", number: 9))])
            bench.handle(.absent(StoreKey(run: "r", number: 9)))
            #expect(
                bench.said(to: "w") == [
                    .denied(attempt: "r-9-whole-1", reason: .unknownAttempt)
                ])
        },
        CoordinatorScenario(
            "where workers end with their coordinator nothing is waited for",
            settings: { $0.adoptsOpenAttempts = false }
        ) { bench in
            bench.join("w")
            bench.open()
            bench.large(jobs: history(1, open: ["r-1-copy-0-1"]), isRunning: true)
            bench.answer(.prepared(CoordinatorBench.chunks(1), .kept(steps: 0)))
            let order = try #require(bench.order(.copy(chunk: 0)))
            #expect(order.attempt.epoch == 2)
            #expect(order.attempt.id == "r-1-copy-0-2")
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a worker that is killed loses its leases at once") { bench in
            bench.join("w")
            bench.open()
            bench.small(1...1)
            bench.handle(.workerEnded(worker: "w"))
            #expect(bench.failures == [.leaseExpired])
            #expect(bench.machine.workerStatus.isEmpty)
            bench.join("v")
            bench.wait(2000)
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("who falls silent is missed, heard again, and forgotten in the end") {
            bench in
            bench.join("w")
            bench.join("idle", isReady: false)
            bench.open()
            bench.small(1...1)
            bench.wait(6000)
            #expect(bench.notes.contains(.worker("w", .silent)))
            bench.say(.heartbeat(scratchFree: 1, runningAttempts: []), "w")
            #expect(bench.machine.workerStatus.map(\.state) == [.active])
            bench.wait(6000)
            bench.join("w", by: "w-2", isReady: false)
            #expect(bench.failures == [.leaseExpired])
            bench.say(.ready(freeSlots: 1), "w")
            bench.say(.ready(freeSlots: 0), "w")
            bench.wait(1000)
            bench.say(.ready(freeSlots: 1), "w")
            bench.wait(6000)
            bench.wait(31_000)
            bench.wait(31_000)
            #expect(bench.machine.workerStatus.isEmpty)
            #expect(bench.machine.waitingReason(run: "r") != nil)
        },
        CoordinatorScenario("a worker without jobs says bye in every state") { bench in
            bench.join("a", isReady: false)
            bench.say(.bye(reason: "enough"), "a")
            bench.join("b")
            bench.say(.bye(reason: "enough"), "b")
            bench.join("c", isReady: false)
            bench.request(.drain(worker: "c"))
            #expect(bench.said(to: "c") == [.drain])
            bench.say(.bye(reason: "drained"), "c")
            bench.join("d")
            bench.request(.drain(worker: "d"))
            bench.join("d", by: "d-2")
            bench.wait(6000)
            #expect(bench.machine.workerStatus.isEmpty)
            bench.request(.drain(worker: "unknown"))
            #expect(bench.last.replies.count == 1)
        },
        CoordinatorScenario("a draining worker finishes what it has and gets nothing new") {
            bench in
            bench.join("w")
            bench.open(stores: 2)
            bench.small(1...2)
            bench.request(.drain(worker: "w"))
            bench.done(.whole, store: 1)
            #expect(bench.orders.isEmpty)
            bench.join("v")
            bench.finishAll()
            #expect(bench.state(2) == .done)
        },
        CoordinatorScenario("a silent worker may be drained") { bench in
            bench.join("w")
            bench.open()
            bench.small(1...1)
            bench.wait(6000)
            bench.request(.drain(worker: "w"))
            #expect(bench.machine.workerStatus.map(\.state) == [.draining])
        },
        CoordinatorScenario(
            "who fails what others can do is quarantined",
            settings: { $0.quarantine.strikes = 2 }
        ) { bench in
            bench.join("bad")
            bench.open(stores: 8)
            bench.small(1...2)
            bench.fail(.whole, store: 1, .inputOutput)
            bench.fail(.whole, store: 2, .inputOutput)
            bench.join("good")
            bench.request(.pause(run: "r"))
            bench.wait(2500, beating: ["bad", "good"])
            bench.request(.resume(run: "r"))
            var rounds = 0
            while rounds < 20,
                !bench.notes.contains(where: {
                    if case .worker("bad", .quarantined) = $0 { true } else { false }
                })
            {
                rounds += 1
                for (id, entry) in bench.orders where entry.worker == "bad" {
                    bench.orders[id] = nil
                    bench.say(
                        .failed(
                            AttemptFailure(
                                attempt: id, cause: .inputOutput, text: "disk", slotEnded: false)),
                        "bad")
                }
                for (id, entry) in bench.orders where entry.worker == "good" {
                    bench.orders[id] = nil
                    bench.say(.done(CoordinatorBench.receipt(entry.order)), "good")
                }
                bench.answerAll()
                bench.wait(5000, beating: ["bad", "good"])
            }
            #expect(bench.machine.workerStatus.first?.state == .quarantined)
            bench.wait(600_000, beating: ["bad", "good"])
            #expect(bench.machine.workerStatus.first?.state == .active)
        },
        CoordinatorScenario("a worker of another engine than it says is quarantined") { bench in
            bench.open(stores: 1)
            bench.small(1...1)
            for name in ["a", "b", "c"] {
                bench.join(name)
                bench.fail(.whole, .wrongEngine)
            }
            #expect(bench.machine.workerStatus.allSatisfy { $0.state == .quarantined })
            bench.join("a", by: "a-2", engine: "2")
            #expect(bench.machine.workerStatus.first?.state == .active)
            bench.say(.bye(reason: "enough"), "b")
            bench.request(.drain(worker: "c"))
            #expect(
                bench.machine.waitingReason(run: "r")
                    == .noReadyWorker(UnreadyWorkers(draining: 1)))
            bench.say(.bye(reason: "drained"), "c")
            #expect(bench.machine.waitingReason(run: "r") == .noWorkerWithEngine("1"))
            bench.join("d")
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("an unknown connection is told to say hello") { bench in
            bench.handle(
                .message(.ready(freeSlots: 2), from: ConnectionID("x"), worker: "w"))
            guard case .bye? = bench.last.sends.first?.message else {
                Issue.record("nothing was said")
                return
            }
        },
    ]
}
