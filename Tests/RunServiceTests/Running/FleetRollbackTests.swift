import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import RunLedger
import StateFolders
import StoreForge
import StoreSwap
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Whole runs are rolled back, with every byte of every file.
@Suite("Rollback of fleets") struct FleetRollbackTests {
    /// Stores with every kind of companion, all of them with external data.
    private func forgeAllKinds(_ lab: RunLab) throws -> [FilePath] {
        let hot = try lab.forge("hot.sqlite", notes: 200, journal: .rollback)
        try lab.makeHot(hot)
        return [
            try lab.forge("plain.sqlite", seed: 2),
            try lab.forge("log.sqlite", seed: 3, journal: .writeAheadLogWithContent),
            try lab.forge("old.sqlite", seed: 4, journal: .rollback), hot,
        ]
    }

    private func isChanged(_ change: StoreChange) -> Bool {
        if case .swap(.storeChangedSinceSwap)? = change.failure { true } else { false }
    }

    @Test func everyByteComesBack() throws {
        try RunLab.run { lab in
            let stores = try forgeAllKinds(lab) + lab.forgeGood()
            let before = try lab.bytes()
            #expect(before.keys.contains { $0.description.contains("_EXTERNAL_DATA") })
            #expect(before.keys.contains { $0.description.hasSuffix("-journal") })
            #expect(try lab.migrate(stores).counts == [.done: stores.count])
            #expect(try lab.bytes() != before)
            #expect(try lab.ours().count == 1)
            let changes = try lab.rollBack()
            #expect(changes.map(\.path) == stores && changes.allSatisfy { $0.failure == nil })
            #expect(try lab.bytes() == before)
            #expect(try lab.ours().isEmpty)
            #expect(try lab.standings().values.allSatisfy { $0.state == .rolledBack })
            #expect(throws: RunError.self) { try lab.rollBack() }
            // And it can be migrated again, as a new run.
            let again = try lab.migrate(stores)
            #expect(again.counts == [.done: stores.count] && !again.isResumed)
        }
    }

    @Test func whatWasWrittenSinceIsNotLost() throws {
        try RunLab.run { lab in
            let stores = try forgeAllKinds(lab)
            let before = try lab.bytes()
            try lab.migrate(stores)
            try lab.touch(stores[1])
            let written = try lab.content(stores[1])
            let changes = try lab.rollBack()
            #expect(changes.filter { $0.failure != nil }.map(\.path) == [stores[1]])
            #expect(changes.contains(where: isChanged))
            #expect(try lab.content(stores[1]) == written)
            let between = try lab.bytes()
            for (path, bytes) in before where !path.description.contains("log.sqlite") {
                #expect(between[path] == bytes, "\(path)")
            }
            // It is refused as long as it takes.
            #expect(try lab.rollBack(stores[1]).allSatisfy(isChanged))
            #expect(try lab.rollBack(discardsChanges: true).allSatisfy { $0.failure == nil })
            #expect(try lab.bytes() == before)
            #expect(try lab.ours().isEmpty)
        }
    }

    /// A rollback that does nothing where all that was lost is that it was over.
    private func goOn(_ lab: RunLab, discardsChanges: Bool = false) throws -> [StoreChange] {
        do throws(RunError) {
            return try rollBack(lab, discardsChanges)
        } catch {
            guard case .nothingToDo = error else { throw error }
            #expect(try lab.standings().values.allSatisfy { $0.state == .rolledBack })
            return []
        }
    }

    private func rollBack(
        _ lab: RunLab, _ discardsChanges: Bool
    ) throws(RunError) -> [StoreChange] {
        var changes: [StoreChange] = []
        try RollbackRun(
            lab.selection(), discardsChanges: discardsChanges, environment: lab.environment()
        ).run { changes.append($0) }
        return changes
    }

    /// Two migrated stores, and all bytes from before.
    private func forgePair(
        _ lab: RunLab
    ) throws -> (stores: [FilePath], before: [FilePath: [UInt8]]) {
        let stores = [
            try lab.forge("a.sqlite", notes: 30),
            try lab.forge("b.sqlite", notes: 30, seed: 2, journal: .writeAheadLogWithContent),
        ]
        let before = try lab.bytes()
        #expect(try lab.migrate(stores).counts == [.done: 2])
        return (stores, before)
    }

    /// Dies at a fault point of the rollback, and is asked again.
    @Test func anInterruptedRollbackGoesOn() throws {
        var points = 0
        try RunLab.run { lab in
            _ = try forgePair(lab)
            let disk = FailingDisk(at: .max, .dies)
            try lab.rollBack(files: disk.files)
            points = disk.points
        }
        #expect(points > 50)
        let step = RunLab.isLong ? 1 : 13
        for place in stride(from: points % step, to: points, by: step) {
            try RunLab.run { lab in
                let (stores, before) = try forgePair(lab)
                let disk = FailingDisk(at: place, .dies)
                do { try lab.rollBack(files: disk.files) } catch { #expect(error is RunError) }
                #expect(disk.isHit)
                for store in stores {
                    #expect(try lab.content(store).first == "ok", "at \(place)")
                }
                let changes = try goOn(lab)
                #expect(changes.allSatisfy { $0.failure == nil }, "\(place): \(changes)")
                #expect(try lab.bytes() == before, "at \(place)")
                #expect(try lab.ours().isEmpty, "at \(place)")
            }
        }
    }

    /// A rollback that had begun knows nothing of what was written since, and must not lose it.
    @Test func aStoreThatIsWrittenDuringARollback() throws {
        for place in [0.3, 0.5, 0.6, 0.7, 0.8, 0.9] {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
                let before = try lab.bytes()
                #expect(try lab.migrate([store]).counts == [.done: 1])
                let probe = FailingDisk(at: .max, .dies)
                try lab.rollBack(files: probe.files)
                #expect(try lab.bytes() == before)
                #expect(try lab.migrate([store]).counts == [.done: 1])
                let disk = FailingDisk(at: Int(Double(probe.points) * place), .dies)
                do { try lab.rollBack(files: disk.files) } catch { #expect(error is RunError) }
                try lab.touch(store)
                let written = try lab.content(store)
                let changes = try goOn(lab)
                if changes.contains(where: isChanged) {
                    #expect(try lab.content(store) == written, "at \(place)")
                    let forced = try goOn(lab, discardsChanges: true)
                    #expect(
                        forced.allSatisfy { $0.failure == nil },
                        "at \(place): \(forced.map { "\($0.failure as Any)" })")
                    #expect(try lab.bytes() == before, "at \(place)")
                } else {
                    // The original had its name already, and what was written went to it.
                    #expect(changes.allSatisfy { $0.failure == nil })
                    #expect(try lab.content(store) == written, "at \(place)")
                }
                #expect(try lab.ours().isEmpty, "at \(place)")
            }
        }
    }
}
