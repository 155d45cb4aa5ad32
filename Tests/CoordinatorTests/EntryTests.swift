import ClusterCore
import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Jobs
import RunLedger
import RunService
import RunSupervision
import Synchronization
import Testing
import Threads

/// Runs that were read at a queue and have changed before the loop hears of them.
@Suite struct EntryTests {
    /// What a queue makes of a submission over some of the stores that its request names.
    private func submission(
        _ lab: CoordinatorLab, _ stores: [FilePath], only count: Int
    ) throws -> Opening {
        let plan = try lab.onLoop { $0.plan }
        return try CoordinatorLoop.begin(
            lab.sharing.request(stores), over: Array(lab.sharing.found(stores).prefix(count)),
            waitsForRoom: true, plan)
    }

    private func open(
        _ lab: CoordinatorLab, _ opening: Opening, _ entry: RunEntry
    ) throws -> Bool {
        try lab.onLoop { $0.open(opening, entry) }
    }

    @Test func aSubmissionMeetsARunThatIsResumed() throws {
        try CoordinatorLab.run { lab in
            let stores = [try lab.sharing.forge("a.sqlite")]
            let first = try submission(lab, stores, only: 1)
            #expect(try open(lab, first, .submitted))
            let client = try lab.peer("client")
            try client.ask(.pause(run: first.run.id))
            try client.done()
            let again = try submission(lab, stores, only: 1)
            #expect(try lab.sharing.ledger.run(first.run.id)?.state == .paused)
            try client.ask(.resume(run: first.run.id))
            try client.done()
            #expect(try open(lab, again, .submitted))
            try client.ask(.watch(run: first.run.id))
            try lab.worker("w1").work(1)
            #expect(try client.end(of: first.run.id) == 0)
            // And one that is paused goes on.
            let next = try submission(lab, stores, only: 1)
            #expect(next.run.id != first.run.id)
            #expect(try open(lab, next, .submitted))
            try client.ask(.pause(run: next.run.id))
            try client.done()
            #expect(try open(lab, submission(lab, stores, only: 1), .submitted))
            try client.wait(for: next.run.id) { $0.state == .open }
        }
    }

    @Test(arguments: [false, true])
    func aSubmissionAddsToARunThatEnds(isForgotten: Bool) throws {
        try CoordinatorLab.run { lab in
            let stores = try ["a.sqlite", "b.sqlite"].map { try lab.sharing.forge($0) }
            let first = try submission(lab, stores, only: 1)
            let run = first.run.id
            #expect(try open(lab, first, .submitted))
            let worker = try lab.worker("w1")
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            let order = try #require(try worker.orders().first)
            // The queue finds it open and adds a store; then its last one ends.
            let second = try submission(lab, stores, only: 2)
            #expect(second.run.id == run && second.offer.added == 1)
            try worker.say(.done(ScriptedPeer.receipt(order)))
            try worker.committed(order.attempt.id)
            #expect(try client.end(of: run) == 0)
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
            if isForgotten { try lab.untilForgotten([run]) }
            #expect(try open(lab, second, .submitted))
            try client.wait(for: run) { $0.state == .open }
            try client.ask(.watch(run: run))
            try worker.say(.ready(freeSlots: 1))
            try worker.work(1)
            #expect(try client.end(of: run) == 0)
            #expect(try lab.states(run) == [.done: 2])
            #expect(try lab.sharing.ledger.run(run)?.state == .ended)
        }
    }

    @Test(arguments: [false, true])
    func aSubmissionMeetsARunThatIsCancelled(isForgotten: Bool) throws {
        try CoordinatorLab.run { lab in
            let stores = try ["a.sqlite", "b.sqlite"].map { try lab.sharing.forge($0) }
            let first = try submission(lab, stores, only: 1)
            let run = first.run.id
            #expect(try open(lab, first, .submitted))
            let client = try lab.peer("client")
            let second = try submission(lab, stores, only: 2)
            try client.ask(.watch(run: run))
            try client.ask(.cancel(run: run))
            _ = try client.end(of: run)
            if isForgotten { try lab.untilForgotten([run]) }
            #expect(try !open(lab, second, .submitted))
            try lab.onQueue()
            #expect(try lab.states(run) == [.cancelled: 2])
            #expect(try lab.sharing.ledger.run(run)?.state == .cancelled)
        }
    }

    @Test func aPauseOutlivesTheStart() throws {
        try CoordinatorLab.run { lab in
            let stores = [try lab.sharing.forge("a.sqlite")]
            let first = try submission(lab, stores, only: 1)
            #expect(try open(lab, first, .named))
            let client = try lab.peer("client")
            try client.ask(.pause(run: first.run.id))
            try client.done()
            // The start comes to it only now, with what it has read before.
            #expect(try open(lab, first, .resumed))
            #expect(try client.status(first.run.id).runs.first?.state == .paused)
            #expect(try lab.sharing.ledger.run(first.run.id)?.state == .paused)
        }
    }
}

/// When the end of a run is told.
@Suite struct EndTests {
    /// The answers that come before the next status.
    private func events(_ client: ScriptedPeer, of run: String) throws -> [WatchEvent] {
        try client.ask(.status(run: run))
        var events: [WatchEvent] = []
        _ = try client.reply("a status") { reply -> Bool? in
            if case .event(let event) = reply { events.append(event) }
            if case .status = reply { return true }
            return nil
        }
        return events
    }

    private func tellsEnd(_ events: [WatchEvent]) -> Bool {
        events.contains { if case .ended = $0 { true } else { false } }
    }

    @Test func itIsToldWhenTheReportIsThereAndNoReplayWasAskedFor() throws {
        try CoordinatorLab.run { lab in
            let (begun, gate) = (
                BoundedMailbox<String>(capacity: 10), BoundedMailbox<Bool>(capacity: 10)
            )
            defer { gate.close() }
            try lab.stop()
            lab.runEnded = { run in
                _ = begun.sendIfRoom(run)
                _ = gate.receive()
            }
            try lab.sharing.reopen()
            try lab.start()
            let run = try lab.begin([lab.sharing.forge("a.sqlite")])
            lab.tasks.outcome.withLock {
                $0 = { task, _ in
                    if case .swap = task.kind {
                        return .failed(.dataRefused, text: "refused")
                    }
                    return ScriptedTasks.success(task)
                }
            }
            let worker = try lab.worker("w1")
            try worker.work(1)
            _ = begun.receive()
            // The report is being written.
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            #expect(try !tellsEnd(events(client, of: run)))
            // A replay is accepted before it is there.
            lab.tasks.outcome.withLock { $0 = { task, _ in ScriptedTasks.success(task) } }
            try client.ask(.replay(run: run, store: nil))
            _ = try client.accepted()
            // Its job counts; only its swap is tried again, which ends as late as it likes.
            _ = gate.sendIfRoom(true)
            _ = begun.receive()
            #expect(try !tellsEnd(events(client, of: run)))
            _ = gate.sendIfRoom(true)
            #expect(try client.end(of: run) == 0)
        }
    }

    @Test func aReportThatWasNotWrittenIsWrittenByTheNextStart() throws {
        try CoordinatorLab.run { lab in
            let (run, _, _) = try lab.finished()
            try lab.stop()
            let written = BoundedMailbox<String>(capacity: 10)
            lab.runEnded = { _ = written.sendIfRoom($0) }
            // A process was killed while it wrote into the run's folder.
            let folder = lab.sharing.state.appending("runs").appending(FilePath(run))
            try lab.sharing.files.makeFolders(folder)
            let torn = folder.appending(
                FilePath("\(DurableFileSystem.temporaryPrefix)1000000-0"))
            try lab.sharing.files.create(torn).close()
            try lab.sharing.reopen()
            try lab.start()
            guard case .element(let found) = written.receive(within: .seconds(60)) else {
                throw Missing(description: "a report")
            }
            #expect(found == run)
            #expect(try FileStatus.ifPresent(torn) == nil)
        }
    }
}
