import CLinux
import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import CoreDataStore
import DurableFiles
import Jobs
import MigrationEngine
import RunLedger
@testable import RunService
import StateFolders
import StoreRuns
import TestSupport
import Testing
import ZeroMQ

/// The same lies over a real socket, to a coordinator with its real tasks.
@Suite(.serialized) struct LyingWorkerSocketTests {
    /// What a worker does with the result that it made.
    enum Deed: String, CaseIterable, Sendable {
        case notADatabase, valueChanged, unchanged
    }

    private func endpoint(_ sharing: SharingLab) -> String { "ipc://\(sharing.folder)/c" }

    /// A peer that has been welcomed as a worker.
    private func worker(_ name: String, _ sharing: SharingLab) throws -> ScriptedPeer {
        let peer = try ScriptedPeer(name, endpoint(sharing))
        try peer.hello()
        _ = try peer.welcome()
        return peer
    }

    private func withCoordinator(
        _ sharing: SharingLab, _ body: (String) throws -> Void
    ) throws {
        var settings = CoordinatorLab.settings(1)
        // The loop wakes for it, and lets jobs out that rest.
        settings.heartbeat = 200
        let plan = CoordinatorLab.plan(
            sharing, endpoint: endpoint(sharing), settings: settings)
        let coordinator = try RunningCoordinator(
            plan, context: CoordinatorLab.context(),
            dependencies: CoordinatorDependencies(
                clock: { clinux_monotonic_nanoseconds() / 1_000_000 }, note: { _ in },
                tell: { _ in }))
        let result = Result {
            let store = try sharing.forge("a.sqlite")
            let run = try coordinator.begin(
                sharing.request([store]), over: sharing.found([store]), waitsForRoom: true
            ).id
            try body(run)
        }
        coordinator.terminate()
        try coordinator.join()
        try result.get()
    }

    private func forged(
        _ deed: Deed, _ order: JobOrder, _ sharing: SharingLab
    ) throws -> Receipt {
        let honest = try sharing.run(order.job, order.attempt)
        if deed == .unchanged {
            return Receipt(
                job: order.job, attempt: order.attempt, rows: 0, counts: [Receipt.unchanged: 1])
        }
        let path = try sharing.dependencies.roots.resolve(honest.files[0].file)
        switch deed {
        case .notADatabase:
            try sharing.files.publish(Array("this is not a database at all\n".utf8), to: path)
        case .valueChanged:
            try ForgedDelivery.edit(path, "UPDATE ZNOTE SET ZTITLE = 'x' WHERE Z_PK = 1")
        case .unchanged: break
        }
        let content = try ContentDigest.hexadecimal(of: path, files: sharing.files)
        let told = DeliveredFile(
            file: honest.files[0].file, bytes: content.bytes,
            digest: content.digest)
        return Receipt(
            job: order.job, attempt: order.attempt, files: [told] + honest.files.dropFirst(),
            rows: honest.rows)
    }

    /// The store fails with a cause that names the worker, and its original is as it was.
    @Test(arguments: Deed.allCases)
    func aStoreOfALiarFails(deed: Deed) throws {
        try SharingLab.run { sharing in
            try withCoordinator(sharing) { run in
                let store = sharing.path("a.sqlite")
                let before = try sharing.files.contents(of: store, limit: 1 << 30)
                let client = try ScriptedPeer("client", endpoint(sharing))
                try client.ask(.watch(run: run))
                // Another one, for the end of the run may be told before a status is.
                let asker = try ScriptedPeer("asker", endpoint(sharing))
                let liar = try worker("liar", sharing)
                var denials = 0
                while try sharing.ledger.store(run: run, 1)?.state != .failed, denials < 100 {
                    try liar.say(.ready(freeSlots: 1))
                    guard let order = try next(liar) else { continue }
                    try liar.say(.done(forged(deed, order, sharing)))
                    #expect(try liar.denied(order.attempt.id) == .badReceipt)
                    denials += 1
                    _ = try asker.status(run)
                }
                #expect(try client.end(of: run) == 1)
                let failed = try #require(try sharing.ledger.store(run: run, 1))
                #expect(failed.state == .failed)
                #expect(failed.reason?.cause == .badDelivery)
                #expect(failed.reason?.text.contains("worker liar") == true)
                #expect(failed.reason?.text.contains("The original is unchanged") == true)
                #expect(try sharing.files.contents(of: store, limit: 1 << 30) == before)
            }
        }
    }

    /// Another worker does what a liar did wrong.
    @Test func anHonestWorkerDoesItBetter() throws {
        try SharingLab.run { sharing in
            try withCoordinator(sharing) { run in
                let client = try ScriptedPeer("client", endpoint(sharing))
                try client.ask(.watch(run: run))
                let liar = try worker("liar", sharing)
                try liar.say(.ready(freeSlots: 1))
                let order = try #require(try liar.orders().first)
                let honest = try worker("honest", sharing)
                // It is ready when the job comes back, which others are offered first.
                try honest.say(.ready(freeSlots: 1))
                _ = try client.status(run)
                try liar.say(.done(forged(.valueChanged, order, sharing)))
                #expect(try liar.denied(order.attempt.id) == .badReceipt)
                let again = try #require(try honest.orders().first)
                try honest.say(.done(sharing.run(again.job, again.attempt)))
                try honest.committed(again.attempt.id)
                #expect(try client.end(of: run) == 0)
                #expect(try sharing.ledger.store(run: run, 1)?.state == .done)
                #expect(try sharing.content(sharing.path("a.sqlite")).first == "ok")
            }
        }
    }

    /// The next order, or nil once the run has nothing left for the worker.
    private func next(_ worker: ScriptedPeer) throws -> JobOrder? {
        // They may have come while a denial was waited for.
        if let orders = worker.takeWaiting() { return orders.first }
        return try worker.next("orders or news") { message -> JobOrder?? in
            switch message {
            case .jobs(let orders): .some(orders.first)
            case .heartbeat, .welcome, .revoke, .refused: .some(nil)
            default: nil
            }
        }
    }
}
