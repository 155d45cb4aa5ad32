import DurableFiles
import Jobs
import RunLedger
import RunMoves
import StateFolders
import StoreForge
import Testing

@testable import RunService
@testable import StoreRuns

/// Rollbacks whose process died once the original had its name again.
@Suite("Rollbacks that were stopped, and what is done next") struct StoppedRollbackTests {
    private typealias Death = StoppedSwapTests.Death

    private func die(_ lab: RunLab, renames: Int, of store: FilePath) {
        let death = Death(after: renames, renamesOf: store)
        #expect(throws: RunError.self) { try lab.rollBack(store, files: death.files) }
        #expect(death.isDead)
    }

    private func states(_ lab: RunLab, _ run: String) throws -> [StoreState] {
        var states: [StoreState] = []
        try RunRecords(state: lab.state).forEachStore(of: run) { store, _ in
            states.append(store.state)
        }
        return states
    }

    /// The migration died as well, after it had given the store's name away: its run is open.
    @Test(
        arguments: [
            (ForgeRecipe.Journal.rollback, 1, 1), (.writeAheadLog, 1, 1),
            (.writeAheadLogWithContent, 2, 1), (.writeAheadLogWithContent, 2, 2),
        ])
    func theSameCommandMigratesTheOriginalAgain(
        journal: ForgeRecipe.Journal, swapped: Int, restored: Int
    ) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: journal)
            let old = try lab.content(store)
            let death = Death(after: swapped, renamesOf: store)
            #expect(throws: RunError.self) { try lab.migrate([store], files: death.files) }
            let new = try lab.content(store)
            #expect(new != old)
            die(lab, renames: restored, of: store)
            #expect(try lab.content(store) == old)
            #expect(try states(lab, "r1") == [.running])
            #expect(try lab.migrate([store]).counts == [.done: 1])
            #expect(try lab.content(store) == new)
            #expect(try states(lab, "r1") == [.rolledBack])
            #expect(try lab.rollBack().map(\.text) == ["rolled back"])
            #expect(try lab.content(store) == old)
            #expect(try lab.ours().isEmpty)
        }
    }

    /// A second command ends what the first one began, also where no command migrates.
    @Test func theSameRollbackEndsIt() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let (old, bytes) = (try lab.content(store), try lab.bytes())
            let death = Death(after: 1, renamesOf: store)
            #expect(throws: RunError.self) { try lab.migrate([store], files: death.files) }
            die(lab, renames: 1, of: store)
            #expect(try lab.rollBack().map(\.text) == ["rolled back"])
            #expect(try lab.content(store) == old)
            #expect(try lab.bytes() == bytes)
            #expect(try lab.standings()[store]?.state == .rolledBack)
        }
    }

    /// A coordinator ends the rollback, too, before it takes a run for the one that is asked for.
    @Test func aCoordinatorEndsItFirst() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let old = try lab.content(store)
            let death = Death(after: 1, renamesOf: store)
            #expect(throws: RunError.self) { try lab.migrate([store], files: death.files) }
            die(lab, renames: 1, of: store)
            #expect(try states(lab, "r1") == [.running])
            let ledger = try Ledger(folder: lab.state, holder: LockHolder(text: "the tests"))
            let environment = lab.environment()
            let dependencies = ClusterRun.Dependencies(
                ledger: ledger, state: lab.state,
                roots: try SharedRoots(["all": lab.folder], files: environment.files),
                environment: environment, limits: .local, slots: 2)
            let run = try ClusterRuns(dependencies).begin(
                try lab.request([store]), over: try lab.found([store]))
            #expect(run.id == "r2")
            #expect(try ledger.storeCounts(of: "r1") == [.rolledBack: 1])
            try ledger.close()
            #expect(try lab.content(store) == old)
        }
    }

    /// The store was done when its rollback began, and other stores keep the run open.
    @Test func aDoneStoreThatHasItsOriginalAgainIsNotToldToBeDone() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(2)
            let (first, second) = (stores[0], stores[1])
            let old = try lab.content(first)
            let death = Death(after: 1, renamesOf: second)
            #expect(throws: RunError.self) {
                try lab.migrate(stores, files: death.files, change: { $0.slots = 1 })
            }
            let new = try lab.content(first)
            #expect(new != old)
            die(lab, renames: 1, of: first)
            #expect(try lab.content(first) == old)
            #expect(try lab.migrate(stores).counts == [.done: 1, .rolledBack: 1])
            #expect(try lab.content(first) == old)
            #expect(try lab.migrate(stores).counts == [.done: 2])
            #expect(try lab.content(first) == new)
        }
    }

    /// Another program's file lies there by then: its store fails alone, and the original is kept.
    @Test func aRollbackOfAReplacedStoreStopsNoRun() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let old = try lab.files.contents(of: store, limit: 1 << 30)
            let (other, second) = (try lab.forge("other.sqlite"), try lab.forge("b.sqlite"))
            let death = Death(after: 1, renamesOf: store)
            #expect(throws: RunError.self) { try lab.migrate([store, second], files: death.files) }
            die(lab, renames: 1, of: store)
            try lab.files.rename(other, to: store, existing: .replace)
            let content = try lab.content(store)
            #expect(try lab.migrate([store, second]).counts == [.done: 1, .failed: 1])
            #expect(try lab.content(store) == content)
            let kept = store.parent.appending(".godwit-kept-1-a.sqlite")
            #expect(try lab.files.contents(of: kept, limit: 1 << 30) == old)
        }
    }
}
