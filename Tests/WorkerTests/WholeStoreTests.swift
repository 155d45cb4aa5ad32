import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import MigrationValidation
import RunLedger
import RunSupport
import StateFolders
import StoreForge
import StoreLocks
import TestSupport
import Testing

@testable import RunService
@testable import StoreRuns

/// Small stores that are built without a ledger, as a slot does.
@Suite struct WholeStoreTests {
    struct WholeLab {
        let folder: FilePath
        let store: FilePath
        let request: RunRequest
        let environment: JobEnvironment
        let files = DurableFileSystem()
        let digest: String

        init(in url: URL, inPlace: Bool = false, program: StepProgram? = nil) throws {
            folder = try DurableFileSystem().resolve(try #require(FilePath(url)))
            for name: FilePath in ["in", "out", "run", "state"] {
                try files.makeFolders(folder.appending(name))
            }
            store = folder.appending("in").appending("store.sqlite")
            try ForgedStore.notes(at: store)
            var request = RunRequest(
                destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
                output: inPlace ? nil : folder.appending("out"), state: folder.appending("state"),
                inputs: [store], slots: 1)
            if let program {
                request.options.ways = VersionWays(lastDirections: StepDirections(after: program))
            }
            self.request = request
            let text = try RecordedRequest(request, mark: "m").text()
            digest = ContentDigest.hexadecimal(of: Array(text.utf8))
            try files.publish(Array(text.utf8), to: folder.appending("run/request.json"))
            environment = JobEnvironment(
                roots: [try FileRoot(name: "all", folder: folder)], runsPrograms: false)
        }

        func reference(_ path: String) -> FileReference { FileReference(root: "all", path: path) }

        func job(output: String?, digest: String? = nil) throws -> Job {
            Job(
                run: "r1", store: 1, work: .whole, plan: reference("run/request.json"),
                planDigest: digest ?? self.digest, source: reference("in/store.sqlite"),
                sourceSupport: nil, destination: output.map(reference),
                sourceFingerprint: try StoreFingerprint(of: store).contentText,
                engine: MigrationPlan.engineVersion, limits: .local)
        }

        func attempt(_ number: Int) -> Attempt {
            Attempt(
                id: "1-whole-\(number)", epoch: 1, folder: reference("out/.godwit-1-\(number)"))
        }

        /// What a run on this machine gives.
        func ownResult() throws -> (bytes: [UInt8], support: [String]) {
            let output = folder.appending("state/own.sqlite")
            try MigrationRequest(
                store: store, output: output, state: folder.appending("state"),
                destination: request.destination, slots: 1
            ).runAlone()
            return (try files.contents(of: output, limit: 1 << 26), try names(of: output))
        }

        func names(of store: FilePath) throws -> [String] {
            let support = store.parent.appending(
                FilePath(".\(store.lastComponent.description.dropLast(7))_SUPPORT"))
            guard try FileStatus.ifPresent(support) != nil else { return [] }
            return try names(in: support)
        }

        func names(in folder: FilePath) throws -> [String] {
            try files.tree(at: folder).map(\.path.lastComponent.description).sorted()
        }
    }

    /// Only a run on this machine says what runs here.
    @Test func programsNeedASlotOfThisMachine() throws {
        let program = StepProgram(name: "true", path: "/bin/true", arguments: [], folder: "/")
        try withTemporaryFolder { url in
            let lab = try WholeLab(in: url, program: program)
            let jobs = WholeStoreJobs(clock: { 0 })
            let job = try lab.job(output: "out/store.sqlite")
            let refused = #expect(throws: RunError.self) {
                try jobs.run(job, attempt: lab.attempt(1), in: lab.environment)
            }
            #expect(refused?.cause == .programFailed, "\(String(describing: refused))")
            let local = JobEnvironment(
                roots: Array(lab.environment.roots.values), runsPrograms: true)
            let receipt = try jobs.run(job, attempt: lab.attempt(2), in: local)
            let names = receipt.files.map { $0.file.path.split(separator: "/").last ?? "" }
            #expect(
                names == [
                    "store.sqlite", "outcome.json", "store.sqlite_step-1",
                    "store.sqlite_step-1_edited",
                ])
        }
    }

    @Test func aSlotBuildsWhatARunBuilds() throws {
        try withTemporaryFolder { url in
            let lab = try WholeLab(in: url)
            let jobs = WholeStoreJobs(clock: { 0 })
            let receipt = try jobs.run(
                lab.job(output: "out/store.sqlite"), attempt: lab.attempt(1), in: lab.environment)
            #expect(receipt.work == .whole)
            #expect(receipt.rows > 60)
            let folder = lab.folder.appending("out/.godwit-1-1")
            let names = try lab.files.names(in: folder).map(\.description).sorted()
            #expect(names == ["outcome.json", "store.sqlite", "store.sqlite_SUPPORT"])
            let own = try lab.ownResult()
            let bytes = try lab.files.contents(of: folder.appending("store.sqlite"), limit: 1 << 26)
            #expect(bytes == own.bytes)

            // Accepted, the result can be moved; a second attempt is the same.
            let found = FoundStore(
                number: 1, location: StoreLocation(lab.store),
                output: StoreLocation(lab.folder.appending("out/store.sqlite")),
                bytes: 0)
            let built = try #require(
                try BuiltStore(
                    accepting: receipt, of: found, in: folder, files: lab.files,
                    clients: ClientPolicy()))
            #expect(built.result.validation.isEqual)
            #expect(built.result.output == found.output?.database)
            #expect(built.fingerprint == (try StoreFingerprint(of: lab.store)))
            #expect(built.snapshot == nil)
            try built.places.removeAll(lab.files)
            #expect(try FileStatus.ifPresent(folder) == nil)
            let again = try jobs.run(
                lab.job(output: "out/store.sqlite"), attempt: lab.attempt(2), in: lab.environment)
            #expect(again.files.map(\.digest).first == receipt.files.map(\.digest).first)
        }
    }

    @Test(arguments: [true, false])
    func aWorkerMayHaveTheFolderElsewhere(isInPlace: Bool) throws {
        try withTemporaryFolder { url in
            let there = url.appendingPathComponent("there")
            let here = url.appendingPathComponent("here")
            try FileManager.default.createDirectory(
                at: there, withIntermediateDirectories: false)
            let lab = try WholeLab(in: there, inPlace: isInPlace)
            let receipt = try WholeStoreJobs(clock: { 0 }).run(
                lab.job(output: isInPlace ? nil : "out/store.sqlite"), attempt: lab.attempt(1),
                in: lab.environment)
            // The same folder under another path: this machine's own.
            try FileManager.default.moveItem(at: there, to: here)
            let folder = try lab.files.resolve(try #require(FilePath(here)))
            let store = folder.appending("in/store.sqlite")
            let output = isInPlace ? nil : folder.appending("out/store.sqlite")
            let found = FoundStore(
                number: 1, location: StoreLocation(store), output: output.map(StoreLocation.init),
                bytes: 0)
            func accept() throws -> BuiltStore {
                try #require(
                    try BuiltStore(
                        accepting: receipt, of: found, in: folder.appending("out/.godwit-1-1"),
                        files: lab.files, clients: ClientPolicy()))
            }
            let built = try accept()
            #expect(built.result.store == store)
            #expect(built.result.output == output ?? store)
            #expect(built.result.isInPlace == isInPlace)
            #expect(built.fingerprint == (try StoreFingerprint(of: store)))
            built.lock?.release()

            try lab.files.publish([1], to: folder.appending("in/store.sqlite-wal"))
            #expect(throws: RunError.self) { _ = try accept() }
        }
    }

    @Test func aCopyOfAStoreIsTheSameSource() throws {
        try withTemporaryFolder { url in
            let lab = try WholeLab(in: url)
            let own = try StoreFingerprint(of: lab.store)
            let copy = lab.folder.appending("copy.sqlite")
            try FileManager.default.copyItem(
                atPath: lab.store.description, toPath: copy.description)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
                ofItemAtPath: copy.description)
            let other = try StoreFingerprint(of: copy)
            #expect(own.differences(from: other).isSuperset(of: [.place, .modified]))
            #expect(own.contentText == other.contentText)
            try lab.files.publish([1], to: lab.folder.appending("in/store.sqlite-wal"))
            #expect(
                try StoreFingerprint(of: lab.store).contentText != own.contentText)
        }
    }

    @Test func filesThatAreNotTheReceiptsAreRefused() throws {
        try withTemporaryFolder { url in
            let lab = try WholeLab(in: url)
            let receipt = try WholeStoreJobs(clock: { 0 }).run(
                lab.job(output: "out/store.sqlite"), attempt: lab.attempt(1), in: lab.environment)
            let folder = lab.folder.appending("out/.godwit-1-1")
            let found = FoundStore(
                number: 1, location: StoreLocation(lab.store),
                output: StoreLocation(lab.folder.appending("out/store.sqlite")),
                bytes: 0)
            try lab.files.publish([1, 2, 3], to: folder.appending("outcome.json"))
            #expect(throws: RunError.self) {
                _ = try BuiltStore(
                    accepting: receipt, of: found, in: folder, files: lab.files,
                    clients: ClientPolicy())
            }
        }
    }

    @Test func inPlaceTheOriginalIsLeftAlone() throws {
        try withTemporaryFolder { url in
            let lab = try WholeLab(in: url, inPlace: true)
            let before = try lab.files.contents(of: lab.store, limit: 1 << 26)
            let receipt = try WholeStoreJobs(clock: { 0 }).run(
                lab.job(output: nil), attempt: lab.attempt(1), in: lab.environment)
            #expect(try lab.files.contents(of: lab.store, limit: 1 << 26) == before)
            let found = FoundStore(
                number: 1, location: StoreLocation(lab.store), output: nil, bytes: 0)
            let built = try #require(
                try BuiltStore(
                    accepting: receipt, of: found, in: lab.folder.appending("out/.godwit-1-1"),
                    files: lab.files, clients: ClientPolicy()))
            #expect(built.result.isInPlace)
        }
    }

    @Test func whatTheJobNamesMustBeThere() throws {
        try withTemporaryFolder { url in
            let lab = try WholeLab(in: url)
            let jobs = WholeStoreJobs(clock: { 0 })
            let wrong = try lab.job(
                output: "out/store.sqlite", digest: String(repeating: "0", count: 64))
            #expect(
                code { try jobs.run(wrong, attempt: lab.attempt(1), in: lab.environment) }
                    == .wrongPlan)
            let job = try lab.job(output: "out/store.sqlite")
            var bytes = try lab.files.contents(of: lab.store, limit: 1 << 26)
            // The change counter of the database's header (SQLite file format §1.3).
            bytes[27] &+= 1
            try lab.files.publish(bytes, to: lab.store)
            #expect(
                code { try jobs.run(job, attempt: lab.attempt(2), in: lab.environment) }
                    == .sourceChanged)
            let taken = lab.folder.appending("out/store.sqlite")
            try lab.files.publish([1], to: taken)
            #expect(
                code {
                    try jobs.run(
                        lab.job(output: "out/store.sqlite"), attempt: lab.attempt(3),
                        in: lab.environment)
                } == .outputExists)
        }
    }

    private func code(_ body: () throws -> Receipt) -> FailureCause? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? RunError)?.cause
        }
    }
}
