import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import RunLedger
import RunReports
import RunSupport
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import StoreRuns

extension DiskTests {
    /// Runs in place on file systems that have too little room, at the beginning or from some
    /// moment on.
    @Suite("Full disks", .enabled(if: SmallDisk.isAvailable, SmallDisk.absence))
    struct SpaceTests {
        private static let isLong =
            ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] != nil

        /// Expects that a run that must not wait found too little room, and left nothing.
        private func expectNoRoom(
            _ error: RunError, _ lab: RunLab, _ store: FilePath, old: [String],
            _ what: String
        ) throws {
            #expect(error.isOutOfSpace, "\(what): \(error)")
            #expect(CommandStatus(error) == .inputOutput, "\(what)")
            #expect(error.cause == .noSpace, "\(what)")
            #expect(try lab.content(store) == old, "\(what)")
            #expect(try lab.strays().isEmpty, "\(what)")
            let kept = try lab.files.tree(at: lab.state).filter(\.status.isRegularFile)
                .map(\.path.lastComponent.description)
            let known: Set = ["godwit.lock", "ledger.sqlite", "ledger.sqlite-wal"]
            #expect(Set(kept).isSubset(of: known), "\(what): \(kept)")
        }

        /// A store that is much larger than the ledger.
        private func forge(
            _ lab: RunLab, _ journal: ForgeRecipe.Journal
        ) throws -> FilePath {
            try ForgedStore.notes(at: lab.path("a.sqlite"), notes: 2_500) { recipe in
                recipe.externalThreshold = nil
                recipe.journal = journal
            }
        }

        /// So that the ledger's log does not become larger than the store.
        private static func largerChunks(_ request: inout RunRequest) {
            request.options.chunkBytes = 256 << 10
        }

        /// What a store holds after its migration.
        private func reference(
            _ one: CrashTests.Case, _ forge: (RunLab) throws -> FilePath
        ) throws -> [String] {
            var content: [String] = []
            try RunLab.run { lab in
                let store = try forge(lab)
                try lab.migrate([store], strategy: one.strategy)
                content = try lab.content(store)
            }
            return content
        }

        @Test(arguments: CrashTests.cases, [1.1, 1.5, 2.0, 2.5, 4.0])
        func tooSmallFromTheBeginning(_ one: CrashTests.Case, factor: Double) throws {
            let new = try reference(one) { try forge($0, one.journal) }
            try SmallDisk.run { disk in
                let lab = try disk.lab()
                let store = try forge(lab, one.journal)
                let old = try lab.content(store)
                let source = try disk.used()
                try disk.resize(bytes: Int64(Double(source) * factor))
                do throws(RunError) {
                    let ending = try lab.migrate(
                        [store], strategy: one.strategy, change: Self.largerChunks)
                    #expect(ending.counts == [.done: 1])
                    #expect(factor >= 2, "it cannot have had the room")
                } catch {
                    try expectNoRoom(error, lab, store, old: old, "\(factor)")
                    let text = "\(error)"
                    #expect(factor < 4, "there was more than enough room: \(text)")
                    try disk.resize(bytes: source * 5)
                    let ending = try lab.migrate(
                        [store], strategy: one.strategy, change: Self.largerChunks)
                    #expect(ending.counts == [.done: 1])
                }
                #expect(try lab.content(store) == new)
                #expect(try lab.redone() == 0 && lab.strays().isEmpty)
            }
        }

        @Test(arguments: CrashTests.cases)
        func aRunThatWaitsGoesOnByItself(_ one: CrashTests.Case) throws {
            try SmallDisk.run { disk in
                let lab = try disk.lab()
                let store = try forge(lab, one.journal)
                let source = try disk.used()
                try disk.resize(bytes: source + source / 2)
                var request = try lab.request([store], strategy: one.strategy)
                Self.largerChunks(&request)
                request.waitsForRoom = true
                let log = NoticeLog([store])
                var runs = TestRuns(lab.environment())
                runs.watch = { event in
                    log.watch(event)
                    guard event.isPause else { return }
                    do { try disk.resize(bytes: source * 5) } catch { Issue.record(error) }
                }
                let ending = try runs.run(request, over: try lab.found([store]))
                #expect(ending.counts == [.done: 1] && !ending.isResumed)
                let records = try RunRecords(state: lab.state)
                #expect(try records.run(nil).state == .ended)
                try records.close()
            }
        }

        /// The fault points of a run in place.
        private func points(_ one: CrashTests.Case) throws -> Int {
            var points = 0
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: one.journal)
                let disk = FailingDisk(at: .max, .dies)
                try lab.migrate([store], strategy: one.strategy, files: disk.files)
                points = disk.points
            }
            return points
        }

        @Test(arguments: CrashTests.cases, [false, true])
        func fullFromSomeMomentOn(_ one: CrashTests.Case, takesInodes: Bool) throws {
            let new = try reference(one) { try $0.forge("a.sqlite", journal: one.journal) }
            let points = try points(one)
            let step = Self.isLong ? 1 : takesInodes ? 29 : 13
            for place in stride(from: points % step, to: points, by: step) {
                try SmallDisk.run(bytes: 12 << 20, inodes: takesInodes ? 400 : 0) { disk in
                    let lab = try disk.lab()
                    let store = try lab.forge("a.sqlite", journal: one.journal)
                    let old = try lab.content(store)
                    let neighbour = Neighbour(disk, at: place, takesInodes: takesInodes)
                    let log = NoticeLog([store])
                    do throws(RunError) {
                        let ending = try lab.migrate(
                            [store], strategy: one.strategy, files: neighbour.files,
                            watch: log.watch)
                        #expect(ending.counts == [.done: 1], "at \(place): \(log.failures)")
                        neighbour.clear()
                    } catch {
                        neighbour.clear()
                        #expect(error.isOutOfSpace, "at \(place): \(error)")
                        #expect(CommandStatus(error) == .inputOutput, "at \(place)")
                        let between = try lab.content(store)
                        #expect(between == old || between == new, "mixed at \(place)")
                        let ending = try lab.migrate([store], strategy: one.strategy)
                        #expect(ending.counts == [.done: 1], "at \(place): \(ending.counts)")
                    }
                    #expect(try lab.content(store) == new, "at \(place)")
                    #expect(try lab.redone() == 0, "at \(place)")
                    #expect(try lab.strays().isEmpty, "at \(place)")
                }
            }
        }

        @Test(arguments: CrashTests.cases, [false, true])
        func aFullDiskIsWaitedFor(_ one: CrashTests.Case, takesInodes: Bool) throws {
            let new = try reference(one) { try $0.forge("a.sqlite", journal: one.journal) }
            let points = try points(one)
            let step = Self.isLong ? 1 : takesInodes ? 37 : 17
            for place in stride(from: points % step, to: points, by: step) {
                try SmallDisk.run(bytes: 12 << 20, inodes: takesInodes ? 400 : 0) { disk in
                    let lab = try disk.lab()
                    let store = try lab.forge("a.sqlite", journal: one.journal)
                    let neighbour = Neighbour(disk, at: place, takesInodes: takesInodes)
                    let log = NoticeLog([store])
                    var environment = lab.environment(neighbour.files)
                    environment.wait = { _ in neighbour.clear() }
                    var runs = TestRuns(environment)
                    runs.logged = { _ in neighbour.clear() }
                    runs.watch = { event in
                        log.watch(event)
                        if event.isPause { neighbour.clear() }
                    }
                    var request = try lab.request([store], strategy: one.strategy)
                    request.waitsForRoom = true
                    let ending = try runs.run(request, over: try lab.found([store]))
                    neighbour.clear()
                    #expect(ending.counts == [.done: 1], "at \(place): \(log.failures)")
                    #expect(try lab.content(store) == new, "at \(place)")
                    #expect(try lab.redone() == 0, "at \(place)")
                    #expect(try lab.strays().isEmpty, "at \(place)")
                }
            }
        }

        /// Several stores on a disk that has room for some of them: those are finished.
        @Test func whatFitsOfAFleetIsFinished() throws {
            try SmallDisk.run { disk in
                let lab = try disk.lab()
                var stores: [FilePath] = []
                for number in 1...6 {
                    stores.append(
                        try lab.forge("\(number).sqlite", notes: 600, seed: UInt64(number)))
                }
                let source = try disk.used()
                let neighbour = Neighbour(disk, at: 300)
                try disk.resize(bytes: source * 3)
                #expect(throws: RunError.self) {
                    try lab.migrate(stores, files: neighbour.files)
                }
                #expect(try lab.strays().isEmpty)
                neighbour.clear()
                let ending = try lab.migrate(stores)
                #expect(ending.isResumed && ending.counts == [.done: 6])
                #expect(try lab.strays().isEmpty)
            }
        }

        @Test func outOfInodesFromTheBeginning() throws {
            try SmallDisk.run(inodes: 4_000) { disk in
                let lab = try disk.lab()
                let store = try lab.forge("a.sqlite")
                let old = try lab.content(store)
                let files = Int64(try lab.files.tree(at: disk.folder).count)
                for spare in [1, 3, 6, 10, 14] {
                    try disk.resize(inodes: files + Int64(spare))
                    do throws(RunError) {
                        try lab.migrate([store], strategy: .partitioned)
                        Issue.record("a run with \(spare) inodes")
                    } catch {
                        #expect(error.isOutOfSpace, "\(spare): \(error)")
                        #expect(try lab.content(store) == old)
                        #expect(try lab.strays().isEmpty)
                    }
                }
                try disk.resize(inodes: 4_000)
                #expect(try lab.migrate([store], strategy: .partitioned).counts == [.done: 1])
            }
        }
    }
}
