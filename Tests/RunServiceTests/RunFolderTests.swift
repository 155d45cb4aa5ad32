import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MigrationPlans
import RunService
import RunSupport
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Runs that meet each other, and what killed ones leave.
@Suite struct RunFolderTests {
    private struct Place {
        let store: FilePath
        let output: FilePath
        let state: FilePath
        let files = DurableFileSystem()

        func request() throws -> MigrationRequest {
            MigrationRequest(
                store: store, output: output, state: state,
                destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
                options: PlanOptions(strategy: .partitioned, chunkBytes: 16_384))
        }

        func run() throws(RunError) {
            let request: MigrationRequest
            do { request = try self.request() } catch { throw .engine(.internalError("\(error)")) }
            try request.runAlone()
        }
    }

    private func withPlace(_ body: (Place) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let root = try #require(FilePath(folder))
            for name in ["in", "out", "state"] {
                try DurableFileSystem().makeFolders(root.appending(name))
            }
            let place = Place(
                store: root.appending("in").appending("n.sqlite"),
                output: root.appending("out").appending("n.sqlite"),
                state: root.appending("state"))
            try ForgedStore.notes(at: place.store, notes: 120)
            try body(place)
        }
    }

    @Test("a second run is told who holds the folder, and leaves everything alone")
    func secondRun() throws {
        try withPlace { place in
            let lock = try OwnerLock(
                place.state.appending("godwit.lock"), holder: LockHolder(text: "process 4711"))
            let work = place.state.appending("runs")
            try place.files.makeFolders(work)
            try place.files.publish([1], to: work.appending("shard"))
            let refusal = #expect(throws: RunError.self) { try place.run() }
            #expect("\(try #require(refusal))".contains("process 4711"))
            #expect(try FileStatus.ifPresent(work.appending("shard")) != nil)
            try lock.release()
            try place.run()
        }
    }

    @Test("what a killed run left is removed by the next one")
    func leftovers() throws {
        try withPlace { place in
            try place.run()
            let names = try place.files.names(in: place.output.parent).map(\.description)
            #expect(names.sorted() == [".n_SUPPORT", "n.sqlite"])
            try place.files.removeTree(place.output)
            try place.files.removeTree(StoreLocation(place.output).support)
            // The same names as the run before used, as a kill would have left them.
            let state = try place.files.resolve(place.state)
            let mark = ContentDigest.hexadecimal(of: state.bytes).prefix(8)
            let building = place.output.parent.appending(
                FilePath(DurableFileSystem.temporaryPrefix + "\(mark)-r2-1"))
            try place.files.publish(Array("half".utf8), to: building)
            try place.files.makeFolders(building.adding(suffix: "_SUPPORT"))
            let work = place.state.appending("runs").appending("r2").appending("1")
            try place.files.makeFolders(work.appending("attempts"))
            try place.files.publish([1, 2], to: work.appending("snapshot"))
            try place.run()
            #expect(
                try place.files.names(in: place.output.parent).map(\.description).sorted()
                    == [".n_SUPPORT", "n.sqlite"])
            let left = try place.files.tree(at: place.state).filter(\.status.isRegularFile)
            #expect(
                Set(left.map(\.path.lastComponent.description)) == ["godwit.lock", "ledger.sqlite"])
        }
    }

    @Test("a result that is there already is left alone with its external data")
    func existingResult() throws {
        try withPlace { place in
            try place.run()
            let support = StoreLocation(place.output).externalData
            let before = try place.files.names(in: support).count
            #expect(before > 0)
            // As an app would have left it.
            let result = try place.files.contents(of: place.output, limit: 1 << 26)
            try place.files.remove(place.output)
            try place.files.publish(result, to: place.output)
            #expect(throws: RunError.self) { try place.run() }
            #expect(try place.files.names(in: support).count == before)
        }
    }

    @Test("files of others in the state folder stay")
    func foreignFiles() throws {
        try withPlace { place in
            try place.files.makeFolders(place.state.appending("merge"))
            try place.files.publish([7], to: place.state.appending("snapshots-2024.txt"))
            try place.run()
            #expect(
                try place.files.names(in: place.state).map(\.description).sorted()
                    == ["godwit.lock", "ledger.sqlite", "merge", "runs", "snapshots-2024.txt"])
        }
    }
}
