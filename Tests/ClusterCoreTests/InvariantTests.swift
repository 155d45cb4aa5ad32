import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs
import Testing

@testable import ClusterCore
@testable import WorkerRules

/// What a broken invariant does: it ends a debug build, and stops one run of a release build.
@Suite struct InvariantTests {
    /// The store of the bench.
    private static let key = StoreKey(run: "r", number: 1)

    /// A bench whose machine answers as a release build does.
    private func bench(_ copies: Int = 2) -> CoordinatorBench {
        var bench = CoordinatorBench { $0.endsAtBrokenInvariant = false }
        bench.expectsBrokenInvariants = true
        bench.join("w")
        bench.open()
        bench.large()
        bench.answer(.prepared(CoordinatorBench.chunks(copies), .fresh(reason: nil)))
        return bench
    }

    /// The run stops, and says that a bug did it.
    private func expectStopped(
        _ bench: CoordinatorBench, _ invariant: Invariant,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let isReported = bench.notes.contains { note in
            if case .broken(let text) = note { text.contains(invariant.rawValue) } else { false }
        }
        #expect(isReported, sourceLocation: location)
        #expect(bench.machine.state.faults.broken.map(\.invariant).contains(invariant))
        #expect(bench.runState() == .paused, sourceLocation: location)
        let isExplained = bench.notes.contains { note in
            if case .run("r", .stopped(let reason)) = note {
                reason.contains(invariant.rawValue) && reason.contains("restart the coordinator")
            } else {
                false
            }
        }
        #expect(isExplained, sourceLocation: location)
    }

    @Test func aReceiptOfAnotherEpochIsNotAccepted() throws {
        var bench = bench()
        let order = try #require(bench.order(.copy(chunk: 0)))
        let receipt = CoordinatorBench.receipt(order)
        bench.say(.done(receipt), "w")
        let check = try bench.admission(of: receipt)
        let store = try #require(bench.machine.state.stores.index(of: Self.key))
        bench.machine.state.stores[store]?.jobs[.copy(chunk: 0)]?.epoch += 1
        bench.handle(.taskEnded(check.id, .admitted(receipt)))
        #expect(bench.accepted.isEmpty)
        #expect(bench.said(to: "w").contains { $0.denies(order.attempt.id) })
        expectStopped(bench, .acceptedOnce)
    }

    @Test func aStoreIsNotSwappedInBeforeItsValidation() throws {
        var bench = bench(1)
        let store = try #require(bench.machine.state.stores.index(of: Self.key))
        bench.machine.state.beginSwap(store)
        bench.wait(1)
        #expect(!bench.records.contains(.swapIntended(StoreKey(run: "r", number: 1))))
        #expect(!bench.tasks.contains { $0.kind == .swap })
        expectStopped(bench, .validatedSwap)
    }

    @Test func aStepTakesAcceptedShardsAlone() throws {
        var bench = bench()
        let order = try #require(bench.order(.copy(chunk: 0)))
        let receipt = CoordinatorBench.receipt(order)
        bench.say(.done(receipt), "w")
        let check = try bench.admission(of: receipt)
        bench.handle(.taskEnded(check.id, .admitted(receipt)))
        let store = try #require(bench.machine.state.stores.index(of: Self.key))
        bench.tasks = []
        bench.machine.state.stores[store]?.isStepAsked = false
        bench.machine.state.stores[store]?.jobs[.copy(chunk: 0)]?.accepted = "another"
        bench.machine.advance(store)
        bench.wait(1)
        #expect(bench.tasks.isEmpty)
        expectStopped(bench, .acceptedShards)
    }

    @Test func aChangeThatNoTableListsStopsTheRun() throws {
        var bench = bench()
        let store = try #require(bench.machine.state.stores.index(of: Self.key))
        bench.machine.state.move(store: store, to: .waiting)
        bench.wait(1)
        expectStopped(bench, .listedTransition)
        // Nothing new is handed out, and a new machine knows nothing of the bug.
        let orders = bench.orders.count
        bench.join("v")
        #expect(bench.orders.count == orders)
    }

    @Test func anotherRunGoesOn() throws {
        var bench = bench()
        bench.open("other")
        bench.small(2...2, run: "other")
        let store = try #require(bench.machine.state.stores.index(of: Self.key))
        bench.machine.state.move(store: store, to: .waiting)
        bench.wait(1)
        bench.join("v")
        #expect(bench.order(.whole, store: 2) != nil)
    }

    @Test func aWorkerEndsInOrder() {
        var bench = WorkerBench { $0.endsAtBrokenInvariant = false }
        bench.expectsBrokenInvariants = true
        bench.attach()
        bench.give(1)
        bench.machine.move(order: "a1", to: .queued)
        bench.wait(1)
        let change = "HeldPhase: running to queued"
        #expect(bench.exit == .broken(BrokenInvariant(.listedTransition, change)))
    }

    @Test func aDebugBuildEnds() async {
        await #expect(processExitsWith: .failure) {
            BrokenInvariant(.endsIdle, "found by a test").end(true)
        }
    }

    @Test func buildsOfTestsEndWhereAnInvariantIsBroken() {
        #expect(BrokenInvariant.endsDebugBuild)
        #expect(CoordinatorBench().machine.settings.endsAtBrokenInvariant)
        #expect(WorkerBench().machine.settings.endsAtBrokenInvariant)
    }
}

extension CoordinatorMessage {
    fileprivate func denies(_ attempt: String) -> Bool {
        if case .denied(attempt, _) = self { true } else { false }
    }
}
