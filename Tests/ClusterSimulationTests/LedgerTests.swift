@testable import ClusterSimulation
import ClusterVocabulary
import Jobs
import Testing

/// The simulated ledger refuses what the real one refuses, and forgets what was not synced.
struct LedgerTests {
    private let store = StoreKey(run: "run", number: 0)
    private let work = Work.copy(chunk: 2)

    private func ledger() -> SimulatedLedger {
        var ledger = SimulatedLedger()
        ledger.change { facts in
            facts.runs["run"] = LedgerFacts.RunFacts()
            facts.stores[store] = LedgerFacts.StoreFacts()
        }
        return ledger
    }

    private func began(_ attempt: String, epoch: Int) -> CoordinatorRecord {
        .attemptBegan(store, work, attempt: attempt, epoch: epoch, worker: "worker")
    }

    private func accepted(_ attempt: String, epoch: Int) -> CoordinatorRecord {
        let none = FileReference(root: "run", path: "none")
        let job = Job(
            run: "run", store: 0, work: work, plan: none, planDigest: "", source: none,
            sourceSupport: nil, destination: nil, sourceFingerprint: "", engine: "",
            limits: .standard)
        return .accepted(
            Receipt(job: job, attempt: Attempt(id: attempt, epoch: epoch, folder: none), rows: 1))
    }

    /// The rule that a list of records breaks; nil where all are taken.
    private func broken(_ records: [CoordinatorRecord]) -> Violation.Rule? {
        var ledger = ledger()
        do {
            try ledger.write(records)
            return nil
        } catch {
            return error.rule
        }
    }

    @Test("One attempt of a job is accepted, of the job's epoch, while it has not ended")
    func acceptance() {
        let failed = CoordinatorRecord.attemptFailed(
            store, attempt: "a", FailureReason(.leaseExpired, "lost"))
        #expect(broken([began("a", epoch: 1), accepted("a", epoch: 1)]) == nil)
        #expect(
            broken([began("a", epoch: 1), accepted("a", epoch: 1), accepted("a", epoch: 1)])
                == .oneAccepted)
        #expect(
            broken([
                began("a", epoch: 1), began("b", epoch: 1), accepted("b", epoch: 1),
                accepted("a", epoch: 1),
            ]) == .oneAccepted)
        #expect(broken([accepted("a", epoch: 1)]) == .ledgerForward)
        #expect(broken([began("a", epoch: 1), failed, accepted("a", epoch: 1)]) == .ledgerForward)
        #expect(
            broken([
                began("a", epoch: 1), .epochRaised(store, work, to: 2), accepted("a", epoch: 1),
            ]) == .ledgerForward)
        #expect(
            broken([began("a", epoch: 1), accepted("a", epoch: 1), began("b", epoch: 1)])
                == .acceptedNotRunAgain)
    }

    @Test("Epochs only rise, ids of attempts are new, states go on")
    func monotone() {
        #expect(broken([began("a", epoch: 2), began("b", epoch: 1)]) == .ledgerForward)
        #expect(broken([began("a", epoch: 2), began("a", epoch: 3)]) == .ledgerForward)
        #expect(
            broken([began("a", epoch: 2), .epochRaised(store, work, to: 2)]) == .ledgerForward)
        #expect(
            broken([.storeChanged(store, .done, nil), .storeChanged(store, .running, nil)])
                == .ledgerForward)
        #expect(broken([.storeChanged(store, .failed, nil)]) == .fleetEnds)
        #expect(
            broken([
                .runChanged(run: "run", .cancelled, .cancelled),
                .runChanged(run: "run", .open, .resumed),
            ]) == .ledgerForward)
    }

    @Test("A crash takes what was not synced, and nothing else")
    func crash() throws {
        var ledger = ledger()
        try ledger.write([began("a", epoch: 1)])
        try ledger.write([began("b", epoch: 1)])
        try ledger.sync(groups: 1)
        #expect(ledger.unsyncedGroups == 1)
        #expect(ledger.written.attempts["b"] != nil)
        ledger.crash()
        #expect(ledger.written.attempts["a"] != nil)
        #expect(ledger.written.attempts["b"] == nil)
        #expect(ledger.unsyncedGroups == 0)
    }
}
