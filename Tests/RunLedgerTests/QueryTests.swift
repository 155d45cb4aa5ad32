import DurableFiles
import Jobs
import RunLedger
import Testing

@Suite struct QueryTests {
    @Test func anEmptyLedgerAnswersWithNothing() throws {
        try withLedger { ledger in
            #expect(try ledger.newestRun() == nil && ledger.runs().isEmpty)
            #expect(try ledger.run("r1") == nil && ledger.store(run: "r1", 0) == nil)
            #expect(try ledger.openRun(ofStore: "/a") == nil)
            #expect(try ledger.storeCounts(of: "r1").isEmpty && ledger.stores(of: "r1").isEmpty)
            #expect(try ledger.reservations().isEmpty && ledger.failedJobs(run: "r1").isEmpty)
            #expect(try ledger.attemptCounts(run: "r1").attempts == 0)
            #expect(try ledger.stageSeconds(run: "r1").isEmpty && ledger.events(run: "r1").isEmpty)
            try ledger.append([])
            #expect(
                try cause { try ledger.append([.storesFound(run: "r1", found(0..<1))]) }
                    == .unknownRun("r1"))
        }
    }

    @Test func runsAreFoundByIdAndByStore() throws {
        try withLedger { ledger in
            try ledger.append(beginning("old", stores: 2))
            try ledger.append([.runChanged(run: "old", .ended, .finished, at: 8)])
            let path = FilePath("/stores/1.sqlite")
            #expect(try ledger.openRun(ofStore: path) == nil)
            try ledger.append(beginning("new", stores: 2))
            try ledger.append([.runChanged(run: "new", .paused, .paused(.space("full")), at: 9)])
            #expect(try ledger.runs().map(\.id) == ["new", "old"])
            let newest = try #require(try ledger.newestRun())
            #expect(newest.record == run("new") && newest.state == .paused)
            #expect(newest.reason == .paused(.space("full")) && newest.changedAt == 9)
            let open = try #require(try ledger.openRun(ofStore: path))
            #expect(open.run == newest && open.store.number == 1)
            #expect(try ledger.openRun(ofStore: "/stores/2.sqlite") == nil)
            #expect(
                try cause { try ledger.append([.runBegan(run("old"))]) }
                    == .duplicate("the run old"))
        }
    }

    @Test func requestsOfRunsAreReplaced() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 1) + beginning("other", stores: 0))
            try ledger.append([.requestChanged(run: "r1", request: "{}")])
            let changed = try #require(try ledger.run("r1"))
            #expect(changed.record.request == "{}" && changed.state == .open)
            #expect(changed.record.requestDigest == run().requestDigest)
            #expect(try ledger.run("other")?.record == run("other"))
            #expect(
                try cause { try ledger.append([.requestChanged(run: "r2", request: "{}")]) }
                    == .unknownRun("r2"))
        }
    }

    /// A run that had nothing to do is not the one that a bare command means.
    @Test func theNewestRunDidSomething() throws {
        try withLedger { ledger in
            try ledger.append(beginning("idle", stores: 0))
            try ledger.append([.runChanged(run: "idle", .ended, .finished, at: 1)])
            #expect(try ledger.newestRun()?.id == "idle")
            try ledger.append(beginning("failed", stores: 1))
            try ledger.append([
                .storeChanged(run: "failed", store: 0, .failed, reason: damaged, at: 1),
                .runChanged(run: "failed", .ended, .finished, at: 1),
            ])
            for (id, end) in [("none", RunState.ended), ("given up", .cancelled)] {
                try ledger.append(beginning(id, stores: 1))
                if end == .ended {
                    try ledger.append([
                        .storeChanged(run: id, store: 0, .running, reason: nil, at: 1),
                        .storeChanged(run: id, store: 0, .done, reason: nil, at: 1),
                    ])
                }
                try ledger.append([.runChanged(run: id, end, .finished, at: 1)])
                #expect(try ledger.newestRun()?.id == "failed")
            }
            try ledger.append(beginning("open", stores: 1))
            #expect(try ledger.newestRun()?.id == "open")
        }
    }

    @Test func anyBytesMakeAPath() throws {
        try withLedger { ledger in
            let odd = FilePath(bytes: [0x2F, 0xFF, 0x0A, 0x27, 0x22, 0xC3])
            let store = FoundStore(
                number: 4, location: StoreLocation(odd), output: StoreLocation("/out\u{7}"),
                bytes: .max)
            try ledger.append([.runBegan(run()), .storesFound(run: "r1", [store])])
            #expect(try ledger.store(run: "r1", path: odd)?.found == store)
            #expect(try ledger.store(run: "r1", 4)?.found == store)
            for twice in [
                FoundStore(number: 5, location: StoreLocation(odd), output: nil, bytes: 0),
                FoundStore(number: 4, location: StoreLocation("/other"), output: nil, bytes: 0),
            ] {
                let found = try cause { try ledger.append([.storesFound(run: "r1", [twice])]) }
                #expect(found == .duplicate("the store \(twice.number) (\(twice.path))"))
            }
            for wrong in [
                FoundStore(number: -1, location: StoreLocation("/x"), output: nil, bytes: 0),
                FoundStore(number: 6, location: StoreLocation(""), output: nil, bytes: 0),
                FoundStore(number: 6, location: StoreLocation("/x"), output: nil, bytes: -1),
            ] {
                #expect(throws: LedgerError.self) {
                    try ledger.append([.storesFound(run: "r1", [wrong])])
                }
            }
        }
    }

    @Test func pagesCoverAFleetOnce() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 2500))
            for number in stride(from: 0, to: 2500, by: 3) {
                try ledger.append([
                    .storeChanged(run: "r1", store: number, .failed, reason: damaged, at: 1)
                ])
            }
            for states in [nil, [.failed], [.waiting, .failed, .done]] as [Set<StoreState>?] {
                var numbers: [Int] = []
                while true {
                    let page = try ledger.stores(
                        of: "r1", in: states, after: numbers.last, limit: 400)
                    numbers += page.map(\.number)
                    if page.count < 400 { break }
                }
                let isFailedOnly = states == [.failed]
                #expect(
                    numbers == (0..<2500).filter { !isFailedOnly || $0.isMultiple(of: 3) })
            }
            #expect(try ledger.storeCounts(of: "r1") == [.waiting: 1666, .failed: 834])
            #expect(try ledger.stores(of: "r1", limit: 0).isEmpty)
        }
    }

    @Test func roomIsReservedAndGivenBack() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 3))
            func claim(_ store: Int, device: UInt64, _ bytes: Int64) -> Reservation {
                Reservation(run: "r1", store: store, device: device, bytes: bytes, inodes: 4)
            }
            let claims = [
                claim(0, device: 1, 10), claim(0, device: .max, 20), claim(1, device: 1, 5),
            ]
            try ledger.append(claims.map { .reserved($0) })
            try ledger.append([.reserved(claim(0, device: 1, 12))])
            #expect(Set(try ledger.reservations().map(\.bytes)) == [12, 20, 5])
            #expect(try ledger.reservations().contains(claims[1]))
            try ledger.append([.released(run: "r1", store: 0)])
            #expect(try ledger.reservations() == [claims[2]])
            #expect(throws: LedgerError.self) {
                try ledger.append([.reserved(claim(2, device: 1, -1))])
            }
            try ledger.append([.runChanged(run: "r1", .ended, .finished, at: 3)])
            #expect(try ledger.reservations().isEmpty)
        }
    }

    @Test func stepsTimesReportsAndNotesAreKept() throws {
        try withLedger { ledger in
            try ledger.append(beginning(stores: 2))
            let steps = [false, true].map {
                SwapEntry(.swap, $0 ? .done : .planned, detail: "{}")
            }
            for step in steps { try ledger.append([.swapStep(run: "r1", store: 1, step)]) }
            #expect(try ledger.swapSteps(run: "r1", store: 1) == steps)
            #expect(try ledger.swapSteps(run: "r1", store: 0).isEmpty)

            try ledger.append([
                .stageEnded(run: "r1", store: 0, .copy, milliseconds: 1500),
                .stageEnded(run: "r1", store: 0, .copy, milliseconds: 500),
                .stageEnded(run: "r1", store: 1, .copy, milliseconds: 250),
                .stageEnded(run: "r1", store: 1, .swap, milliseconds: 1),
            ])
            #expect(try ledger.stageSeconds(run: "r1", store: 0) == [.copy: 2])
            #expect(try ledger.stageSeconds(run: "r1") == [.copy: 2.25, .swap: 0.001])

            for text in ["first", "second"] {
                try ledger.append([.storeReport(run: "r1", store: 0, .migrated, text)])
            }
            #expect(try ledger.storeReport(run: "r1", store: 0) == "second")
            #expect(try ledger.storeReport(run: "r1", store: 1) == nil)

            for number in 0..<5 {
                let store = number.isMultiple(of: 2) ? 0 : nil
                try ledger.append([
                    .note(run: "r1", store: store, kind: "wait", text: "\(number)", at: 7)
                ])
            }
            #expect(try ledger.events(run: "r1", limit: 3).map(\.text) == ["2", "3", "4"])
            #expect(try ledger.events(run: "r1", store: 0, limit: 2).map(\.text) == ["2", "4"])
            #expect(
                try cause {
                    try ledger.append([.note(run: "r1", store: 9, kind: "", text: "", at: 0)])
                } == .unknownStore(run: "r1", 9))
        }
    }
}
