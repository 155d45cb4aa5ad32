import DurableFiles
import Glibc
import Jobs
import RunLedger
import RunSupport
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

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
            files: DurableFileSystem(
                faults: .beforeSwap(of: [1]) { _ in clients.open(store.description) }))
        #expect(ending.counts == [.failed: 1])
        clients.close()
        #expect(try lab.standings()[store]?.cause == .locked)
        // Who looks into the backup's folder finds no second name of the live store.
        #expect(try FileStatus(of: store).links == 1)
        #expect(try lab.migrate([store]).counts == [.done: 1])
    }

    private func state(_ lab: RunLab, _ run: String) throws -> StoreState? {
        var found: StoreState?
        try RunRecords(state: lab.state).forEachStore(of: run) { store, _ in found = store.state }
        return found
    }

    /// A store of one's own in the place of the one whose swap was refused keeps nothing back.
    @Test func aRefusedSwapIsPrunedThoughTheStoreWasReplaced() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let link = lab.path("other")
            let ending = try lab.migrate(
                [store],
                files: DurableFileSystem(
                    faults: .beforeSwap(of: [1]) { _ in
                        try lab.files.hardLink(from: store, to: link)
                    }))
            #expect(ending.counts == [.failed: 1])
            try lab.files.unlink(link)
            _ = try lab.files.clone(from: store, to: link)
            try lab.files.rename(link, to: store, existing: .replace)
            let pruned = try lab.prune(removes: true)
            #expect(pruned.refused.isEmpty, "\(pruned.refused)")
            #expect(try lab.ours().isEmpty)
        }
    }

    /// Without a name of a run, the one is meant that has the original.
    @Test func aRunThatFailedLaterHasNothingToRollBack() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let old = try lab.content(store)
            #expect(try lab.migrate([store]).counts == [.done: 1])
            let new = try lab.content(store)
            // A later run meets a store that it cannot read.
            let bytes = try lab.files.contents(of: store, limit: 1 << 30)
            let descriptor = open(store.description, O_RDWR)
            #expect(descriptor >= 0 && pwrite(descriptor, "x", 1, 0) == 1)
            #expect(try lab.migrate([store]).counts == [.failed: 1])
            #expect(pwrite(descriptor, Array(bytes), 16, 0) == 16)
            close(descriptor)
            #expect(try lab.content(store) == new)
            let changes = try lab.rollBack(store, discardsChanges: true)
            #expect(changes.map(\.text) == ["rolled back"], "\(changes)")
            #expect(try lab.content(store) == old)
        }
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
                let (ending, count) = try TestRuns(lab.environment()).replay(first)
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
