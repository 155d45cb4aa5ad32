import ClusterProtocol
import ClusterVocabulary
import Jobs
import Testing

extension CoordinatorScenario {
    private static func prepared(
        _ bench: inout CoordinatorBench, _ copies: Int, links: Int = 0, workers: [String] = ["w"],
        slots: Int = 1
    ) {
        for worker in workers { bench.join(worker, slots: slots) }
        bench.open()
        bench.large()
        bench.answer(
            .prepared(CoordinatorBench.chunks(copies, links: links), .fresh(reason: nil)))
    }

    static let attemptScenarios: [CoordinatorScenario] = [
        CoordinatorScenario("a repeated delivery changes nothing") { bench in
            prepared(&bench, 2)
            let order = try #require(bench.order(.copy(chunk: 0)))
            let receipt = CoordinatorBench.receipt(order)
            bench.say(.done(receipt), "w")
            let tasks = bench.tasks.count
            bench.say(.done(receipt), "w")
            #expect(bench.tasks.count == tasks)
            bench.answer(.admitted(receipt))
            #expect(bench.said(to: "w").contains(.committed(attempt: order.attempt.id)))
            bench.say(.done(receipt), "w")
            #expect(bench.last.records.isEmpty)
            #expect(bench.said(to: "w") == [.committed(attempt: order.attempt.id)])
        },
        CoordinatorScenario("an expired lease raises the fence, and its late result is denied") {
            bench in
            prepared(&bench, 1, workers: ["w", "v"])
            let order = try #require(bench.order(.copy(chunk: 0)))
            let late = CoordinatorBench.receipt(order)
            let key = StoreKey(run: "r", number: 1)
            bench.wait(29_000, beating: ["w", "v"])
            #expect(bench.failures.isEmpty)
            bench.wait(2000, beating: ["w", "v"])
            #expect(bench.failures == [.leaseExpired])
            #expect(bench.records.contains(.epochRaised(key, .copy(chunk: 0), to: 2)))
            bench.wait(5000, beating: ["w", "v"])
            let second = try #require(bench.order(.copy(chunk: 0)))
            #expect(second.attempt.epoch == 2)
            bench.say(.done(late), "w")
            #expect(
                bench.said(to: "w").contains(
                    .denied(attempt: order.attempt.id, reason: .staleEpoch)))
            bench.done(.copy(chunk: 0))
            bench.say(.done(late), "w")
            #expect(
                bench.said(to: "w").contains(
                    .denied(attempt: order.attempt.id, reason: .alreadyAccepted)))
            bench.answerAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("progress renews a lease") { bench in
            prepared(&bench, 1)
            let order = try #require(bench.order(.copy(chunk: 0)))
            for rows in 1...20 {
                bench.wait(9000, beating: ["w"])
                bench.say(.progress(attempt: order.attempt.id, rows: Int64(rows), bytes: 0), "w")
            }
            #expect(bench.failures.isEmpty)
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a failure is tried again elsewhere, after a while") { bench in
            prepared(&bench, 1, workers: ["w", "v"])
            let first = bench.orders.values.first?.worker
            bench.fail(.copy(chunk: 0), .inputOutput)
            #expect(bench.order(.copy(chunk: 0)) == nil)
            bench.wait(700)
            #expect(bench.orders.values.first?.worker != first)
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a chunk that fails everywhere is given up, and only that") { bench in
            let workers = ["a", "b", "c", "d", "e", "f"]
            prepared(&bench, 4, workers: workers)
            for _ in 0..<3 {
                bench.fail(.copy(chunk: 1), .crashed)
                bench.wait(4000, beating: workers)
            }
            let key = StoreKey(run: "r", number: 1)
            #expect(
                bench.records.contains(
                    .jobQuarantined(
                        key, .copy(chunk: 1), FailureReason(.crashed, "crashed"))))
            #expect(bench.state(1) == .running)
            bench.finishAll()
            #expect(bench.state(1) == .failed)
            #expect(bench.accepted.count == 3)
            #expect(bench.runState() == .ended)
        },
        CoordinatorScenario("data that no worker can do are given up at once") { bench in
            prepared(&bench, 0, links: 2)
            bench.fail(.link(chunk: 0), .dataRefused)
            bench.done(.link(chunk: 1))
            #expect(bench.state(1) == .failed)
        },
        CoordinatorScenario("a small store that is given up fails alone") { bench in
            bench.join("w")
            bench.open(stores: 2)
            bench.small(1...2)
            bench.fail(.whole, store: 1, .damaged)
            bench.finishAll()
            #expect(bench.state(1) == .failed)
            #expect(bench.state(2) == .done)
        },
        CoordinatorScenario("what is given back is ready at once") { bench in
            prepared(&bench, 1)
            let order = try #require(bench.order(.copy(chunk: 0)))
            bench.say(.returned(attempt: order.attempt.id), "w")
            let next = try #require(bench.order(.copy(chunk: 0)))
            #expect(next.attempt.id != order.attempt.id)
            #expect(next.attempt.epoch == order.attempt.epoch)
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario(
            "a slow job gets a second attempt; the first accepted wins",
            settings: { $0.speculation.samples = 1 }
        ) { bench in
            prepared(&bench, 2, workers: ["w"])
            bench.done(.copy(chunk: 0))
            bench.join("v")
            let slow = try #require(bench.order(.copy(chunk: 1)))
            bench.wait(11_000, beating: ["w", "v"])
            let second = try #require(bench.order(.copy(chunk: 1)))
            #expect(second.attempt.id != slow.attempt.id)
            #expect(second.attempt.epoch == slow.attempt.epoch)
            bench.done(.copy(chunk: 1))
            #expect(
                bench.records.contains { record in
                    if case .attemptFailed(_, slow.attempt.id, let reason) = record {
                        reason.cause == .stopped
                    } else {
                        false
                    }
                })
            bench.say(.done(CoordinatorBench.receipt(slow)), "w")
            #expect(
                bench.said(to: "w").contains(
                    .denied(attempt: slow.attempt.id, reason: .alreadyAccepted)))
            bench.answerAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario(
            "of two attempts that are checked one wins, and one lease may end alone",
            settings: { $0.speculation.samples = 1 }
        ) { bench in
            prepared(&bench, 3, workers: ["w"])
            bench.done(.copy(chunk: 0))
            bench.join("v")
            // Both chunks are silent; v is given the second one, w keeps the first.
            bench.handle(.unreachable(ConnectionID("w-1")))
            bench.say(.heartbeat(scratchFree: 0, runningAttempts: []), "v")
            bench.done(.copy(chunk: 2))
            let second = try #require(bench.order(.copy(chunk: 1)))
            let first = try #require(
                bench.orders.values.first {
                    $0.order.job.work == .copy(chunk: 1) && $0.worker == "w"
                })
            #expect(bench.orders[second.attempt.id]?.worker == "v")
            let mine = CoordinatorBench.receipt(first.order)
            let other = CoordinatorBench.receipt(second)
            bench.say(.done(mine), "w")
            let check = try bench.admission(of: mine)
            bench.handle(.taskEnded(check.id, .failed(.inputOutput, text: "cut short")))
            #expect(
                bench.said(to: "w").contains(
                    .denied(attempt: mine.attempt, reason: .badReceipt)))
            bench.say(.done(other), "v")
            let last = try bench.admission(of: other)
            bench.handle(.taskEnded(last.id, .admitted(other)))
            bench.finishAll()
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a shard that cannot be taken is made again, or given up") { bench in
            prepared(&bench, 2, workers: ["a", "b", "c"])
            // After a full disk one job runs at a time.
            bench.done(.copy(chunk: 1))
            let codes: [FailureCause] = [.noSpace, .inputOutput, .damaged]
            for code in codes {
                let order = try #require(bench.order(.copy(chunk: 0)))
                let receipt = CoordinatorBench.receipt(order)
                bench.done(.copy(chunk: 0), admits: false)
                let check = try bench.admission(of: receipt)
                bench.handle(.taskEnded(check.id, .failed(code, text: "cut short")))
                bench.request(.resume(run: "r"))
                bench.wait(1000, beating: ["a", "b", "c"])
            }
            bench.finishAll()
            #expect(bench.state(1) == .failed)
        },
        CoordinatorScenario("while a late shard is checked nothing of its store is begun again") {
            bench in
            let changed = TaskOutcome.failed(.sourceChanged, text: "changed")
            let stories: [[TaskOutcome]] = [
                [changed], [.indexed, changed], [.indexed, .validated, changed],
                [.indexed, .validated, .swapped],
            ]
            for (place, outcomes) in stories.enumerated() {
                if place == 0 { prepared(&bench, 1, workers: ["w", "v"]) }
                bench.say(.heartbeat(scratchFree: 0, runningAttempts: []), "w")
                let first = try #require(bench.order(.copy(chunk: 0)))
                let slow = try #require(bench.orders[first.attempt.id]).worker
                bench.handle(.unreachable(ConnectionID("\(slow)-1")))
                let second = try #require(bench.order(.copy(chunk: 0)))
                try #require(second.attempt.id != first.attempt.id)
                let (early, late) = (
                    CoordinatorBench.receipt(first), CoordinatorBench.receipt(second)
                )
                bench.say(.done(early), slow)
                bench.say(.done(late), slow == "w" ? "v" : "w")
                let winner = try bench.admission(of: early)
                let loser = try bench.admission(of: late)
                bench.orders = [:]
                bench.handle(.taskEnded(winner.id, .admitted(early)))
                for outcome in [.stepped] + outcomes { bench.answer(outcome) }
                #expect(bench.tasks.isEmpty)
                #expect(bench.state(1) == .running)
                bench.handle(.taskEnded(loser.id, .admitted(late)))
                if outcomes.last == changed {
                    bench.answer(.prepared(CoordinatorBench.chunks(1), .fresh(reason: nil)))
                }
            }
            #expect(bench.state(1) == .done)
        },
        CoordinatorScenario("a source that changed is planned again, once its tasks have ended") {
            bench in
            prepared(&bench, 2, links: 2, workers: ["w", "v"])
            bench.done(.copy(chunk: 0))
            bench.fail(.copy(chunk: 1), .sourceChanged)
            #expect(bench.last.tasks.isEmpty)
            let key = StoreKey(run: "r", number: 1)
            #expect(bench.records.contains(.progressReset(key, reason: "sourceChanged")))
            bench.answer(.stepped)
            bench.answer(.prepared(CoordinatorBench.chunks(1, links: 2), .fresh(reason: nil)))
            let order = try #require(bench.order(.copy(chunk: 0)))
            #expect(order.attempt.id.hasSuffix("copy-0-2"))
            bench.fail(.copy(chunk: 0), .sourceChanged)
            bench.answer(.prepared(CoordinatorBench.chunks(0, links: 2), .fresh(reason: nil)))
            bench.done(.link(chunk: 0))
            bench.fail(.link(chunk: 1), .wrongPlan)
            bench.answer(.stepped)
            bench.answer(.prepared(CoordinatorBench.chunks(0, links: 1), .fresh(reason: nil)))
            bench.fail(.link(chunk: 0), .wrongPlan)
            bench.answer(.prepared(CoordinatorBench.chunks(0), .fresh(reason: nil)))
            bench.answerAll()
            #expect(bench.state(1) == .done)
        },
    ].map { scenario in
        var patient = scenario
        let before = scenario.settings
        patient.settings = { settings in
            before(&settings)
            settings.quarantine.plans = 10
        }
        return patient
    }
}
