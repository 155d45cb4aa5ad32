import Jobs
import RunLedger
import TestSupport
import Testing

/// What the ledger must say of one run's jobs, kept in dictionaries.
private struct Reference {
    struct Attempt {
        let store: Int
        let work: Work
        let epoch: Int
        let generation: Int
        var hasEnded = false
    }

    struct JobKey: Hashable {
        let store: Int
        let work: Work
    }

    var generations: [Int: Int] = [:]
    var epochs: [JobKey: Int] = [:]
    var accepted: [JobKey: String] = [:]
    var newest: [JobKey: String] = [:]
    var failedNewest: Set<JobKey> = []
    var attempts: [String: Attempt] = [:]
    /// The ids of all attempts in the order in which they began.
    var order: [String] = []
    var acceptances = 0
    var redone = 0

    /// Whether the record is right, and its effect where it is.
    mutating func take(_ record: LedgerRecord) -> Bool {
        switch record {
        case .attemptBegan(_, let store, let work, let id, let epoch, _, _):
            let key = JobKey(store: store, work: work)
            guard epoch >= epochs[key] ?? 0, attempts[id] == nil else { return false }
            if accepted[key] != nil { redone += 1 }
            epochs[key] = epoch
            newest[key] = id
            order.append(id)
            failedNewest.remove(key)
            attempts[id] = Attempt(
                store: store, work: work, epoch: epoch, generation: generations[store] ?? 0)
            return true
        case .accepted(let receipt, _):
            let key = JobKey(store: receipt.store, work: receipt.work)
            guard let attempt = attempts[receipt.attempt], !attempt.hasEnded,
                attempt.store == receipt.store, attempt.work == receipt.work,
                attempt.epoch == receipt.epoch, accepted[key] == nil,
                attempt.generation == generations[receipt.store] ?? 0,
                receipt.epoch >= epochs[key] ?? 0
            else { return false }
            accepted[key] = receipt.attempt
            acceptances += 1
            attempts[receipt.attempt]?.hasEnded = true
            return true
        case .attemptFailed(_, let id, _, _):
            guard let attempt = attempts[id], !attempt.hasEnded else { return false }
            attempts[id]?.hasEnded = true
            let key = JobKey(store: attempt.store, work: attempt.work)
            if newest[key] == id { failedNewest.insert(key) }
            return true
        case .epochRaised(_, let store, let work, let epoch):
            let key = JobKey(store: store, work: work)
            if let current = epochs[key], epoch <= current { return false }
            epochs[key] = epoch
            return true
        case .progressReset(_, let store, _, _):
            generations[store, default: 0] += 1
            for key in epochs.keys where key.store == store {
                epochs[key] = nil
                accepted[key] = nil
                newest[key] = nil
                failedNewest.remove(key)
            }
            return true
        default:
            return false
        }
    }
}

@Suite struct ReferenceTests {
    /// Random records in random order, singly and in calls of several: the ledger takes just what
    /// the reference takes, and answers the same, also after it was opened again.
    @Test(arguments: [11, 12, 13, 14] as [UInt64])
    func theLedgerAgreesWithDictionaries(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try withFolder { folder in
            var ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 3))
            var reference = Reference()
            for step in 0..<250 {
                var next = reference
                var isRight = true
                var records: [LedgerRecord] = []
                for _ in 0..<Int.random(in: 1...3, using: &generator) where isRight {
                    let record = randomRecord("\(step)-\(records.count)", next, &generator)
                    records.append(record)
                    isRight = next.take(record)
                }
                if isRight {
                    try ledger.append(records)
                    reference = next
                } else {
                    #expect(throws: LedgerError.self, "\(records)") { try ledger.append(records) }
                }
                if step.isMultiple(of: 100) {
                    try ledger.close()
                    ledger = try openLedger(folder)
                }
            }
            try compare(ledger, reference)
            try ledger.close()
        }
    }

    private func randomRecord(
        _ id: String, _ reference: Reference, _ generator: inout SeededGenerator
    ) -> LedgerRecord {
        let store = Int.random(in: 0..<3, using: &generator)
        let works: [Work] = [.whole, .copy(chunk: 0), .copy(chunk: 1), .link(chunk: 0)]
        let work = works[Int.random(in: 0..<4, using: &generator)]
        let epoch = Int.random(in: 0..<3, using: &generator)
        let earlier = reference.order.suffix(6).randomElement(using: &generator) ?? "none"
        let attempt = reference.attempts[earlier]
        switch Int.random(in: 0..<40, using: &generator) {
        case 0: return .progressReset(run: "r1", store: store, reason: "again", at: 1)
        case 1: return .epochRaised(run: "r1", store: store, work: work, to: epoch)
        case 2...6: return .attemptFailed(run: "r1", attempt: earlier, damaged, at: 1)
        case 7: return .accepted(receipt(earlier, epoch: epoch, store: store, work: work), at: 1)
        case 8...20:
            return .accepted(
                receipt(
                    earlier, epoch: attempt?.epoch ?? epoch, store: attempt?.store ?? store,
                    work: attempt?.work ?? work), at: 1)
        default: return began(id, epoch: epoch, store: store, work: work)
        }
    }

    private func compare(_ ledger: Ledger, _ reference: Reference) throws {
        for store in 0..<3 {
            let receipts = try ledger.acceptedReceipts(run: "r1", store: store)
            let expected = reference.accepted.filter { $0.key.store == store }
            #expect(Set(receipts.map(\.attempt)) == Set(expected.values))
            #expect(Set(receipts.map(\.work)) == Set(expected.keys.map(\.work)))
            let attempts = try ledger.attempts(run: "r1", store: store)
            let begun = reference.attempts.filter { $0.value.store == store }
            #expect(Set(attempts.map(\.id)) == Set(begun.keys))
            for attempt in attempts {
                let known = begun[attempt.id]
                #expect(attempt.isVoid == (known?.generation != reference.generations[store] ?? 0))
                #expect((attempt.outcome == .begun) == (known?.hasEnded == false))
            }
        }
        for (key, epoch) in reference.epochs {
            #expect(try ledger.epoch(run: "r1", store: key.store, work: key.work) == epoch)
        }
        let failed = try ledger.failedJobs(run: "r1")
        let expected = reference.failedNewest.filter { reference.accepted[$0] == nil }
        #expect(
            Set(failed.map { Reference.JobKey(store: $0.store, work: $0.work) }) == expected)
        #expect(try ledger.attemptsAfterAcceptance(run: "r1") == reference.redone)
        #expect(reference.acceptances > 10 && reference.redone > 0)
    }
}
