import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import ManagedObjectModel
import MigrationPlans
import RunLedger
import RunSupport
import StateFolders
import StoreForge
import Testing

@testable import RunMoves
@testable import StoreRuns

/// What a run must never take for its own, and what it must not forget.
@Suite("What belongs to whom") struct OwnershipTests {
    /// A lost state folder begins with the first run again: what an earlier one kept stays.
    @Test func aNewLedgerTouchesNoKeptOriginal() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let original = try lab.files.contents(of: store, limit: 1 << 30)
            for (name, version) in [("first", 2), ("second", 3)] {
                if version == 3 { try lab.files.removeTree(lab.state) }
                var request = try lab.request([store])
                request.destination = .model(
                    try DestinationModel(model: ForgeModels.notes(version: version)))
                let environment = RunEnvironment(
                    clock: { 0 }, bootIdentifier: "boot", identifier: { name })
                let ending = try TestRuns(environment).run(
                    request, over: try lab.found([store]))
                #expect(ending.counts == [.done: 1])
            }
            let kept = try lab.files.tree(at: lab.data).filter {
                $0.path.lastComponent == store.lastComponent && $0.path != store
            }
            #expect(kept.count == 2)
            let contents = try kept.map { try lab.files.contents(of: $0.path, limit: 1 << 30) }
            #expect(contents.contains(original))
        }
    }

    /// A store that grew since it was found is planned as a large one on a slot for small ones.
    @Test func aStoreThatGrewIsMigratedOnItsSlot() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 45_000)
            #expect(try FileStatus(of: store).size > PlanOptions.wholeLimit)
            let found = FoundStore(number: 1, location: StoreLocation(store), output: nil, bytes: 1)
            var request = try lab.request([store], slots: 1)
            request.options.chunkBytes = 8 << 20
            let ending = try TestRuns(lab.environment()).run(request, over: [found])
            #expect(ending.counts == [.done: 1])
            #expect(try lab.redone() == 0)
        }
    }

    /// A process that swapped a waiting result in and died before it could say so.
    @Test(arguments: [true, false])
    func aSwapThatNobodyRecordedIsRolledBack(_ cancels: Bool) throws {
        var seen = 0
        for place in stride(from: 10, to: 150, by: 3) {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
                let (old, bytes) = (try lab.content(store), try lab.bytes())
                try lab.migrate([store], change: { $0.defersSwap = true })
                let disk = FailingDisk(at: place, .dies)
                do throws(RunError) {
                    _ = try lab.swap(files: disk.files)
                } catch {
                    #expect(disk.isHit)
                }
                guard disk.isHit else { return }
                let hasMoved = try lab.content(store) != old
                if cancels {
                    do {
                        _ = try CancelRun(lab.selection(), environment: lab.environment()).run()
                        // What was recorded as swapped stays so.
                        guard !hasMoved else {
                            let state = try lab.standings()[store]?.state
                            return #expect(state == .done, "at \(place)")
                        }
                    } catch RunError.nothingToDo {
                        return
                    }
                } else {
                    try RollbackRun(
                        lab.selection(), discardsChanges: false, environment: lab.environment()
                    ).run { #expect($0.failure == nil, "at \(place)") }
                }
                if hasMoved { seen += 1 }
                #expect(try lab.content(store) == old, "at \(place)")
                #expect(try lab.bytes() == bytes, "at \(place)")
                #expect(try lab.strays().isEmpty, "at \(place)")
            }
        }
        #expect(cancels || seen > 0)
    }
}
