import Jobs
import RunLedger
import TestSupport
import Testing

@Suite struct TransitionTests {
    @Test func nothingBecomesItself() {
        for state in StoreState.allCases { #expect(!state.canBecome(state)) }
        for state in RunState.allCases { #expect(!state.canBecome(state)) }
    }

    /// The whole relation, written down a second time.
    @Test func storesGoTheseWaysAndNoOthers() {
        let ways: [StoreState: Set<StoreState>] = [
            .waiting: [.running, .failed, .cancelled],
            .running: [.waiting, .validated, .done, .failed, .cancelled],
            .validated: [.waiting, .running, .done, .failed, .cancelled],
            .done: [.rolledBack, .pruned],
            .failed: [.waiting, .pruned, .cancelled],
            .rolledBack: [.pruned],
            .cancelled: [.pruned],
        ]
        for state in StoreState.allCases {
            let reached = StoreState.allCases.filter { state.canBecome($0) }
            #expect(Set(reached) == ways[state] ?? [], "\(state)")
        }
    }

    @Test func runsGoTheseWaysAndNoOthers() {
        let ways: [RunState: Set<RunState>] = [
            .open: [.paused, .ended, .cancelled], .paused: [.open, .ended, .cancelled],
            .ended: [.open],
        ]
        for state in RunState.allCases {
            let reached = RunState.allCases.filter { state.canBecome($0) }
            #expect(Set(reached) == ways[state] ?? [], "\(state)")
        }
    }

    @Test func aForbiddenWayStoresNothingOfTheCall() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 2))
            let found = try cause {
                try ledger.append([
                    .storeChanged(run: "r1", store: 0, .running, reason: nil, at: 2),
                    .storeChanged(run: "r1", store: 1, .done, reason: nil, at: 2),
                ])
            }
            #expect(
                found
                    == .illegalTransition(
                        of: "store 1 of the run r1", from: "waiting", to: "done"))
            #expect(try ledger.storeCounts(of: "r1") == [.waiting: 2])
            try ledger.append([.runChanged(run: "r1", .cancelled, .cancelled, at: 3)])
            #expect(
                try cause {
                    try ledger.append([.runChanged(run: "r1", .open, .resumed, at: 4)])
                } == .illegalTransition(of: "the run r1", from: "cancelled", to: "open"))
        }
    }

    /// Random walks: the ledger takes a change just when the state machine does, and lists it.
    @Test(arguments: [1, 2, 3] as [UInt64])
    func walksEndWhereTheMachineSays(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        try withLedger { ledger in
            try ledger.append(beginning(stores: 4))
            var states = [StoreState](repeating: .waiting, count: 4)
            var changes = 0
            for step in 0..<200 {
                let store = Int.random(in: 0..<4, using: &generator)
                guard let next = StoreState.allCases.randomElement(using: &generator) else { break }
                let reason = Bool.random(using: &generator) ? damaged : nil
                let record = LedgerRecord.storeChanged(
                    run: "r1", store: store, next, reason: reason, at: Int64(step))
                if states[store].canBecome(next) {
                    try ledger.append([record])
                    states[store] = next
                    changes += 1
                    let summary = try #require(try ledger.store(run: "r1", store))
                    #expect(summary.state == next && summary.reason == reason)
                    #expect(summary.changedAt == Int64(step))
                } else {
                    #expect(throws: LedgerError.self) { try ledger.append([record]) }
                }
            }
            let listed = try ledger.events(run: "r1").filter { $0.kind == LedgerEvent.Kind.store }
            #expect(listed.count == changes && changes > 4)
            #expect(try ledger.stores(of: "r1").map(\.state) == states)
        }
    }
}
