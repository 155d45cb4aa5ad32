import CLinux
import ClusterProtocol
import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import ManagedObjectModel
import MigrationEngine
import MigrationPlans
import RunService
import RunSupport
import SafeSQLite
import StoreForge
import StoreRuns
import Synchronization
import TestSupport
import Testing
import Threads

@testable import Worker

/// Real jobs of a real plan, in slots and in this process.
@Suite(.serialized) struct EngineJobTests {
    /// A store cut into chunks.
    struct ChunkLab {
        let jobs: EngineJobs
        let works: [Work]
        let roots: [String: FilePath] = [EngineJobs.root: FilePath("/")]
        let folder: FilePath

        init(in url: URL, notes: Int = 600) throws {
            let files = DurableFileSystem()
            folder = try files.resolve(try #require(FilePath(url)))
            let (original, state) = (folder.appending("in"), folder.appending("state"))
            for made in [original, state] { try files.makeFolders(made) }
            let store = original.appending("store.sqlite")
            try ForgedStore.notes(at: store, notes: notes)
            let planned = try StorePlanning(
                MigrationRequest(
                    store: store, output: folder.appending("result"), state: state,
                    destination: .model(
                        try DestinationModel(model: ForgeModels.notes(version: 2))),
                    options: PlanOptions(strategy: .partitioned, chunkBytes: 40_000))
            ).plan()
            jobs = try EngineJobs(
                planned, plan: state.appending("plan.json"), attempts: state.appending("attempts"))
            works =
                planned.plan.chunks.indices.map { .copy(chunk: $0) }
                + planned.plan.linkChunks.indices.map { .link(chunk: $0) }
        }

        func order(_ work: Work, number: Int) -> JobOrder {
            JobOrder(
                job: jobs.job(work), attempt: jobs.attempt(work, number: number),
                leaseMilliseconds: 60_000)
        }

        func shard(_ receipt: Receipt) throws -> Data {
            Data(
                try DurableFileSystem().contents(of: try jobs.shard(of: receipt), limit: 1 << 26))
        }
    }

    @Test func shardsAreTheSameInAProcessOfTheirOwn() throws {
        try withTemporaryFolder { url in
            let lab = try ChunkLab(in: url)
            try #require(lab.works.count > 3)
            let slots = try PoolLab(
                PoolLab.plan(2, memory: PoolLab.canLimitMemory ? 4 << 30 : nil, roots: lab.roots))
            let receipts = try slots.receipts(of: lab.works.map { lab.order($0, number: 2) })
            for (work, outcome) in zip(lab.works, receipts) {
                let own = try lab.jobs.run(work)
                let other = try outcome.get()
                #expect(other.work == work)
                #expect(other.rows == own.rows)
                #expect(other.counts == own.counts)
                #expect(other.files.map(\.digest) == own.files.map(\.digest))
                #expect(try lab.shard(other) == lab.shard(own))
            }
        }
    }

    @Test func errorsKeepTheirCause() throws {
        try withTemporaryFolder { url in
            let lab = try ChunkLab(in: url)
            let slots = try PoolLab(PoolLab.plan(1, roots: lab.roots))
            let work = lab.works[0]
            let source = lab.folder.appending("in").appending("store.sqlite")
            let bytes = try DurableFileSystem().contents(of: source, limit: 1 << 26)
            try DurableFileSystem().publish(Array(repeating: 1, count: 8192), to: source)
            #expect(throws: FailureCause.damaged) {
                _ = try run(lab.order(work, number: 2), slots)
            }
            try DurableFileSystem().remove(source)
            #expect(throws: FailureCause.inputOutput) {
                _ = try run(lab.order(work, number: 3), slots)
            }
            try DurableFileSystem().publish(bytes, to: source)
            _ = try run(lab.order(work, number: 4), slots)
            try DurableFileSystem().remove(lab.folder.appending("state").appending("plan.json"))
            // The plan that was read is kept.
            _ = try run(lab.order(work, number: 5), slots)
            #expect(throws: FailureCause.bug) {
                _ = try run(lab.order(.copy(chunk: 9999), number: 6), slots)
            }
        }
    }

    /// Runs an attempt and throws the bare cause of its failure.
    private func run(_ order: JobOrder, _ slots: PoolLab) throws -> Receipt {
        try #require(try slots.receipts(of: [order]).first).get()
    }

    @Test func rowsAreCountedWhileAStatementRuns() throws {
        try withTemporaryFolder { url in
            let lab = try ChunkLab(in: url)
            let counter = RowCounter()
            let order = lab.order(lab.works[0], number: 1)
            let environment = JobEnvironment(
                roots: try lab.roots.map { try FileRoot(name: $0.key, folder: $0.value) })
            let receipt = try JobRunner(environment: environment).run(
                order.job, attempt: order.attempt, counter: counter)
            #expect(receipt.rows > 0)
            #expect(counter.rows == receipt.rows)
        }
    }
}
