import DurableFiles
import Glibc
import Jobs
import RunLedger
import Synchronization
import Testing
import Threads

@Suite struct GroupCommitTests {
    /// The first commit is held until the calls of seven other threads wait: these then share
    /// the second one, and the one that breaks a rule fails alone.
    @Test func whatWaitsSharesACommit() throws {
        let opened = Mutex<Ledger?>(nil)
        let commits = Atomic(0)
        let faults = FaultPoints { point in
            guard point.operation == .commitLedger, point.moment == .before,
                let ledger = opened.withLock({ $0 })
            else { return nil }
            if commits.add(1, ordering: .relaxed).newValue == 1 {
                while ledger.waitingCalls < 7 { sched_yield() }
            }
            return nil
        }
        try withLedger(faults: faults) { ledger in
            try ledger.append(beginning(stores: 1))
            opened.withLock { $0 = ledger }
            let outcomes = try SlotThreads<Void>.map(0..<8, count: 8, name: "append") { number, _ in
                // The first commit must hold one call alone: all others wait until it is there.
                if number != 0 { while commits.load(ordering: .relaxed) == 0 { sched_yield() } }
                let store = number == 7 ? 99 : 0
                try ledger.append([
                    .note(run: "r1", store: nil, kind: "test", text: "before", at: 1),
                    .note(run: "r1", store: store, kind: "test", text: "\(number)", at: 1),
                ])
            }
            opened.withLock { $0 = nil }
            #expect(commits.load(ordering: .relaxed) == 2)
            for (number, outcome) in outcomes.enumerated() {
                switch outcome {
                case .done: #expect(number != 7)
                case .failed(let error):
                    #expect(number == 7)
                    #expect((error as? LedgerError)?.kind == .unknownStore(run: "r1", 99))
                case .notBegun: Issue.record("\(number) was not begun")
                }
            }
            let told = try ledger.events(run: "r1").filter { $0.kind == "test" }
            #expect(told.count == 14)
            #expect(Set(told.map(\.text)) == Set((0..<7).map { "\($0)" } + ["before"]))
            #expect(ledger.waitingCalls == 0)
        }
    }

    @Test func aCallThatStoresNothingCommitsNothing() throws {
        let script = LedgerScript()
        try withLedger(faults: script.faults) { ledger in
            #expect(
                throws: LedgerError.self,
                performing: {
                    try ledger.append([.note(run: "x", store: nil, kind: "", text: "", at: 0)])
                })
            #expect(script.count(.commitLedger) == 0)
        }
    }

    /// No room before the commit: nothing is stored, and the same call succeeds when there is.
    @Test(arguments: [ENOSPC, EDQUOT])
    func noRoomIsNoEnd(number: Int32) throws {
        let script = LedgerScript()
        try withLedger(faults: script.faults) { ledger in
            script.fail(.commitLedger, .before, number)
            let error = #expect(throws: LedgerError.self) {
                try ledger.append(beginning(stores: 3))
            }
            #expect(error?.isOutOfSpace == true && error?.cause == .noSpace)
            #expect(try ledger.newestRun() == nil)
            script.repair()
            try ledger.append(beginning(stores: 3))
            #expect(try ledger.storeCounts(of: "r1") == [.waiting: 3])
        }
    }

    /// After any other failure, and after a commit whose outcome is unknown, what the file holds
    /// is unknown until it is opened again.
    @Test(arguments: [
        (FaultPoint.Moment.before, EIO), (.before, EINTR), (.after, EIO), (.after, ENOSPC),
    ])
    func afterAFailedCommitNothingIsTaken(moment: FaultPoint.Moment, number: Int32) throws {
        try withFolder { folder in
            let script = LedgerScript()
            let ledger = try openLedger(folder, faults: script.faults)
            try ledger.append(beginning(stores: 1))
            script.fail(.commitLedger, moment, number)
            #expect(throws: LedgerError.self) { try ledger.append([note("lost?")]) }
            script.repair()
            let commits = script.count(.commitLedger)
            let error = #expect(throws: LedgerError.self) { try ledger.append([note("next")]) }
            let text = error?.description ?? ""
            #expect(text.contains("accepts no more records"))
            #expect(text.contains("commit to the ledger"))
            #expect(script.count(.commitLedger) == commits)
            try ledger.close()
            #expect(try notes(in: folder) == (moment == .before ? [] : ["lost?"]))
        }
    }

    /// The notes in a ledger that is opened again, and that takes another one then.
    private func notes(in folder: FilePath) throws -> [String] {
        let ledger = try openLedger(folder)
        let events = try ledger.events(run: "r1").filter { $0.kind == "k" }
        try ledger.append([note("after")])
        try ledger.close()
        return events.map(\.text)
    }

    /// The log is moved into the main file when it has grown; where that fails, what was
    /// appended stays, and nothing follows.
    @Test func theLogIsCheckpointed() throws {
        try withFolder { folder in
            let script = LedgerScript()
            let ledger = try openLedger(folder, faults: script.faults)
            let large = LedgerRecord.note(
                run: "r1", store: nil, kind: "k", text: String(repeating: "x", count: 20 << 20),
                at: 1)
            try ledger.append(beginning(stores: 1))
            #expect(script.count(.checkpointLedger) == 0)
            try ledger.append([large])
            #expect(script.count(.checkpointLedger) == 1)
            try ledger.append(beginning("r2", stores: 1))
            #expect(script.count(.checkpointLedger) == 1)
            script.fail(.checkpointLedger, .before, ENOSPC)
            try ledger.append([large])
            #expect(script.count(.checkpointLedger) == 2)
            script.fail(.checkpointLedger, .before, EIO)
            try ledger.append([large])
            #expect(script.count(.checkpointLedger) == 3)
            #expect(throws: LedgerError.self) { try ledger.append([large]) }
            script.repair()
            try ledger.close()
            let again = try openLedger(folder)
            #expect(try again.events(run: "r1").count { $0.kind == "k" } == 3)
            try again.close()
            #expect(try DurableFileSystem().names(in: folder) == ["godwit.lock", "ledger.sqlite"])
        }
    }
}
