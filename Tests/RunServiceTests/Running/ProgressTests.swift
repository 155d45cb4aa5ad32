import ClusterProtocol
import CommandSupport
import CoreDataStore
import DurableFiles
import Jobs
import MappingModel
import MigrationPlans
import RunLedger
import RunMoves
import RunSupport
import StateFolders
import StoreForge
import Synchronization
import Testing

@testable import StoreRuns

/// Runs that end early, requests that exclude each other, and progress that does not count.
@Suite("Progress of runs") struct ProgressTests {
    @Test(arguments: [Strategy?.none, .partitioned])
    func failureLimitsEndRunsEarly(strategy: Strategy?) throws {
        try RunLab.run { lab in
            let bad = try ["0.sqlite", "1.sqlite"].map { name in
                let store = lab.path(name)
                try lab.files.publish(Array("no store at all".utf8), to: store)
                return store
            }
            let good = try lab.forgeGood()
            let before = try lab.bytes()
            let stores = bad + good
            let ending = try lab.migrate(
                stores, strategy: strategy,
                change: { request in
                    request.bounds.failures = 2
                    request.slots = 1
                })
            #expect(ending.stopReason == "2 stores failed: the limit is reached")
            #expect(ending.counts[.failed] == 2 && ending.counts[.done] == nil)
            #expect(try lab.bytes() == before)
            let log = NoticeLog(stores)
            let rest = try lab.migrate(stores, strategy: strategy, watch: log.watch)
            #expect(rest.isResumed && rest.stopReason == nil)
            #expect(rest.counts == [.done: good.count, .failed: 2])
            #expect(log.touched == Set(good))
            try lab.expect(
                good: good, bad: Dictionary(uniqueKeysWithValues: bad.map { ($0, [.damaged]) }),
                before: before)
        }
    }

    @Test func anotherRequestWaitsForTheFirst() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(3)
            let before = try lab.bytes()
            let ending = try lab.migrate(
                Array(stores.prefix(2)), change: { $0.defersSwap = true })
            var refused: String?
            do throws(RunError) {
                try lab.migrate(
                    [stores[2], stores[1]], change: { $0.options.dangling = .nullify })
            } catch {
                if case .otherRun(let id, let store, _) = error { refused = "\(id) \(store)" }
            }
            #expect(refused == "\(ending.id) \(stores[1])")
            #expect(try lab.bytes().filter { before[$0.key] != nil } == before)
            // Stores that no unfinished run has are free.
            #expect(try lab.migrate([stores[2]]).counts == [.done: 1])
        }
    }

    /// Its plans and texts may be unknown to this version.
    @Test func anUnfinishedRunOfAnotherVersionIsNamed() throws {
        try RunLab.run { lab in
            let stores = try lab.forgeGood(1)
            let ending = try lab.migrate(stores, change: { $0.defersSwap = true })
            try lab.write(lab.state.appending("ledger.sqlite"), "UPDATE run SET engine = '1'")
            var named: String?
            do throws(RunError) {
                try lab.migrate(stores, change: { $0.options.dangling = .nullify })
            } catch {
                if case .runOfOtherVersion(let id, _, _, let engine) = error {
                    named = "\(id) \(engine)"
                }
            }
            #expect(named == "\(ending.id) 1")
            _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
            #expect(try lab.migrate(stores).counts == [.done: 1])
        }
    }

    /// What makes progress void.
    enum Change: CaseIterable {
        case nothing, source, engine, boot, plan
    }

    /// One store is done, the next one under way when the process dies.
    @Test(arguments: Change.allCases)
    func changesMakeTheProgressOfTheirStoreVoid(change: Change) throws {
        try RunLab.run { lab in
            let stores = [
                try lab.forge("a.sqlite", notes: 200, seed: 1),
                try lab.forge("b.sqlite", notes: 2000, seed: 2),
            ]
            let disk = try stop(stores, lab)
            #expect(disk.isHit)
            let before = try lab.attempts()
            #expect(before.accepted > 0)
            let done = try lab.identities([stores[0]])
            switch change {
            case .nothing, .boot: break
            case .source: try lab.touch(stores[1])
            case .engine:
                try lab.write(
                    lab.state.appending(Ledger.fileName), "UPDATE preparation SET engine = '0'")
            case .plan:
                let plan = RunFolders(state: lab.state, run: "r1").folder(ofStore: 2)
                    .appending("plan.json")
                try lab.files.remove(plan)
                try lab.files.publish(Array("{}".utf8), to: plan)
            }
            var environment = lab.environment()
            if change == .boot { environment.bootIdentifier = "another" }
            let ending = try TestRuns(environment).run(
                lab.request(stores, strategy: .partitioned), over: lab.found(stores))
            #expect(ending.isResumed && ending.counts == [.done: 2])
            let standings = try lab.standings()
            #expect(standings[stores[0]]?.resets == 0)
            #expect(standings[stores[1]]?.resets == (change == .nothing ? 0 : 1))
            #expect(try lab.identities([stores[0]]) == done)
            let after = try lab.attempts()
            #expect(after.afterAcceptance == 0)
            // At most what was on the two slots is done again.
            if change == .nothing { #expect(after.attempts - after.jobs <= 2) }
            let holdsChange = try lab.content(stores[1]).contains {
                $0.contains("written since")
            }
            #expect(holdsChange == (change == .source))
            #expect(try lab.leftovers().isEmpty)
        }
    }

    /// Stops a partitioned run between the jobs of the second store, once the first one is done.
    private func stop(_ stores: [FilePath], _ lab: RunLab) throws -> StoppableDisk {
        let disk = StoppableDisk()
        let isFirstDone = Mutex(false)
        #expect(throws: RunError.self) {
            try lab.migrate(
                stores, strategy: .partitioned, files: disk.files,
                watch: { event in
                    guard case .note(let note) = event else { return }
                    if note.store == 1, note.kind == "store-done" {
                        isFirstDone.withLock { $0 = true }
                    }
                    let isDue = isFirstDone.withLock { $0 }
                    if isDue, note.store == 2, note.kind == "job-accepted" { disk.stop() }
                })
        }
        return disk
    }
}
