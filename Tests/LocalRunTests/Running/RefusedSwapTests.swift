import DurableFiles
import RunLedger
import StoreForge
import TestSupport
import Testing

@testable import LocalRun

/// Runs whose swap was refused, and whose store another run has migrated since.
@Suite("Swaps that were refused, and what a later run leaves of them") struct RefusedSwapTests {
    /// A command that a person tries on the run that was refused.
    enum Attempt: CaseIterable {
        case prune, replay, rollBack, cancel
    }

    /// Refuses the swap of run r1, and migrates the store by run r2.
    private func migrateTwice(_ lab: RunLab, _ store: FilePath) throws {
        let clients = OpenDescriptors()
        let ending = try lab.migrate(
            [store],
            observe: { notice in
                if notice.isPublishing(store) { clients.open(store.description) }
            })
        #expect(ending.counts == [.failed: 1])
        clients.close()
        #expect(try lab.standings()[store]?.cause == .locked)
        #expect(try lab.migrate([store]).counts == [.done: 1])
    }

    private func state(_ lab: RunLab, _ run: String) throws -> StoreState? {
        var found: StoreState?
        try RunRecords(state: lab.state).forEachStore(of: run) { store, _ in found = store.state }
        return found
    }

    @Test(arguments: Attempt.allCases, [ForgeRecipe.Journal.rollback, .writeAheadLogWithContent])
    func noCommandEndsInADeadEnd(attempt: Attempt, journal: ForgeRecipe.Journal) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: journal)
            let old = try lab.content(store)
            try migrateTwice(lab, store)
            let new = try lab.content(store)
            let first = RunSelection(state: lab.state, run: "r1")
            switch attempt {
            case .prune: break
            case .replay:
                let (ending, count, _) = try FleetRun.replay(
                    first, slots: 2, waitsForRoom: false, environment: lab.environment())
                #expect(ending.counts == [.done: 1] && count == 1)
            case .rollBack:
                #expect(throws: RunError.self) {
                    try RollbackRun(
                        first, discardsChanges: true, environment: lab.environment()
                    ).run { _ in }
                }
                #expect(try state(lab, "r1") == .failed)
            case .cancel:
                let cancelled = try CancelRun(
                    RunSelection(state: lab.state, run: "r1", store: store),
                    environment: lab.environment()
                ).run()
                #expect(cancelled.stores == 1)
            }
            #expect(try lab.content(store) == new)
            let pruned = try PruneRun(first, environment: lab.environment()).run(removes: true)
            #expect(pruned.refused.isEmpty, "\(pruned.refused)")
            #expect(try state(lab, "r1") == .pruned)
            // What is left belongs to the second run, which still has the original.
            let left = try lab.ours()
            #expect(left.allSatisfy { $0.hasSuffix("-r2") }, "\(left)")
            let changes = try lab.rollBack()
            #expect(changes.map(\.text) == ["rolled back"], "\(changes)")
            #expect(try lab.content(store) == old)
            #expect(try lab.ours().isEmpty)
        }
    }
}
