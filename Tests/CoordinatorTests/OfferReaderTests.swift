import ClusterVocabulary
@testable import Coordinator
import DurableFiles
import Jobs
import MigrationPlans
import RunLedger
@testable import RunService
import Testing

/// What the machine learns about stores that the ledger has.
@Suite struct OfferReaderTests {
    private func receipt(
        _ run: String, _ store: Int, _ work: Work, _ attempt: String, epoch: Int
    ) -> Receipt {
        Receipt(
            run: run, store: store, work: work, attempt: attempt, epoch: epoch, files: [], rows: 1,
            sums: [:], counts: [:])
    }

    private func change(
        _ run: ClusterRun, _ store: Int, _ states: StoreState...
    ) -> [LedgerRecord] {
        states.map { .storeChanged(run: run.id, store: store, $0, reason: nil, at: 1) }
    }

    @Test func storesComePageByPageInTheirOrder() throws {
        try SharingLab.run { lab in
            // One file by many names would be refused; stores that are not there are offered too.
            let found = (1...70).map {
                FoundStore(
                    number: $0, location: StoreLocation(lab.path("s\($0).sqlite")), output: nil,
                    bytes: 1)
            }
            let overview = try ClusterRuns(lab.dependencies).begin(
                lab.request([lab.data]), over: found)
            let run = try ClusterRun(overview, lab.dependencies)
            let reader = lab.reader(run)
            try lab.ledger.append(change(run, 2, .running, .done) + change(run, 4, .running))
            let first = try reader.next(20, after: nil, but: [5])
            let numbers = first.offers.map(\.offer.key.number)
            #expect(numbers == [1, 3, 4] + Array(6...22))
            #expect(!first.isLast && first.cursor == 22)
            #expect(first.offers.map(\.offer.isRunning) == numbers.map { $0 == 4 })
            #expect(first.offers.allSatisfy { $0.offer.entry == .prepare })
            let second = try reader.next(40, after: first.cursor, but: [])
            #expect(second.offers.map(\.store.number) == Array(23...62))
            #expect(!second.isLast)
            let third = try reader.next(40, after: second.cursor, but: [])
            #expect(third.offers.map(\.store.number) == Array(63...70))
            #expect(third.isLast)
            #expect(try reader.next(5, after: third.cursor, but: []).isLast)
            // From the beginning again: only what waits, wherever it lies.
            try lab.ledger.append(
                (1...70).flatMap { number -> [LedgerRecord] in
                    number == 2
                        ? []
                        : change(run, number, .running).suffix(number == 4 ? 0 : 1)
                            + change(run, number, .failed)
                })
            try lab.ledger.append(change(run, 9, .waiting))
            let replayed = try reader.next(20, after: nil, but: [])
            #expect(replayed.offers.map(\.store.number) == [9])
            #expect(replayed.isLast)
        }
    }

    @Test func aPageThatEndsWithTheLastStoreIsTheLast() throws {
        try SharingLab.run { lab in
            let found = (1...16).map {
                FoundStore(
                    number: $0, location: StoreLocation(lab.path("s\($0).sqlite")), output: nil,
                    bytes: 1)
            }
            let overview = try ClusterRuns(lab.dependencies).begin(
                lab.request([lab.data]), over: found)
            let reader = lab.reader(try ClusterRun(overview, lab.dependencies))
            let all = try reader.next(16, after: nil, but: [])
            #expect(all.offers.count == 16)
            let rest = try reader.next(16, after: all.cursor, but: [])
            #expect(rest.offers.isEmpty && rest.isLast)
        }
    }

    @Test func historyOutlivesARestart() throws {
        try SharingLab.run { lab in
            let store = try lab.forge("a.sqlite")
            let begun = try lab.begin([store])
            let id = begun.id
            let (copy, other) = (Work.copy(chunk: 0), Work.copy(chunk: 1))
            func began(_ attempt: String, _ work: Work, epoch: Int) -> LedgerRecord {
                .attemptBegan(
                    run: id, store: 1, work: work, attempt: attempt, epoch: epoch, at: 1,
                    worker: "w1")
            }
            func failed(_ attempt: String, _ code: FailureCause) -> LedgerRecord {
                .attemptFailed(
                    run: id, attempt: attempt, FailureReason(code, "t"), at: 1)
            }
            try lab.ledger.append(
                change(begun, 1, .running) + [
                    began("a", copy, epoch: 1), failed("a", .crashed),
                    began("b", copy, epoch: 1), failed("b", .leaseExpired),
                    .epochRaised(run: id, store: 1, work: copy, to: 2),
                    began("c", copy, epoch: 2), began("d", copy, epoch: 2),
                    began("e", other, epoch: 1),
                    .accepted(receipt(id, 1, other, "e", epoch: 1), at: 1),
                    .jobGivenUp(
                        run: id, store: 1, work: .link(chunk: 0),
                        FailureReason(.timedOut, "loops")),
                ])
            try lab.reopen()
            let run = try lab.find(id)
            let offer = try #require(try lab.reader(run).one(1).offer).offer
            #expect(offer.isRunning)
            #expect(offer.accepted.map(\.attempt) == ["e"])
            #expect(
                offer.jobs[copy]
                    == JobHistory(epoch: 2, attempts: 4, open: ["c", "d"], failures: 1))
            #expect(offer.jobs[other] == JobHistory(epoch: 1, attempts: 1))
            #expect(
                offer.jobs[.link(chunk: 0)]?.quarantined == FailureReason(.timedOut, "loops"))

            // A replay forgives failures and lets what was given up be tried again.
            try lab.ledger.append(
                [failed("c", .crashed), failed("d", .damaged)] + change(run, 1, .failed))
            var reopened = ClusterRuns.Reopened()
            try ClusterRuns(lab.dependencies).reopen(id, store: 1, &reopened)
            #expect(reopened.stores == 1 && !reopened.opensRun)
            let again = try #require(try lab.reader(run).one(1).offer).offer
            #expect(!again.isRunning)
            #expect(again.jobs[copy] == JobHistory(epoch: 2, attempts: 4, failures: 0))
            #expect(again.jobs[.link(chunk: 0)]?.quarantined == nil)
            #expect(again.accepted.map(\.attempt) == ["e"])

            // A reset leaves only the numbers of attempts.
            try lab.ledger.append(
                change(run, 1, .running) + [
                    .progressReset(run: id, store: 1, reason: "changed", at: 1)
                ])
            let fresh = try #require(try lab.reader(run).one(1).offer).offer
            #expect(fresh.accepted.isEmpty)
            #expect(fresh.jobs[copy]?.attempts == 4 && fresh.jobs[copy]?.failures == 0)
            #expect(fresh.jobs[other]?.attempts == 1)
        }
    }

    @Test func smallStoresEnterAsOneJobAndLargeOnesByTheirPreparation() throws {
        try SharingLab.run { lab in
            let stores = [try lab.forge("a.sqlite"), lab.path("gone.sqlite")]
            try lab.files.publish([1], to: stores[1])
            let run = try lab.begin(stores)
            try lab.files.remove(stores[1])
            let offers = try lab.reader(run).next(5, after: nil, but: []).offers
            guard case .whole(let plan)? = offers.first?.offer.entry else {
                throw Missing(description: "a small store's offer")
            }
            #expect(plan.shape == .whole && plan.template.engine == nil)
            #expect(plan.roots == ["all"])
            #expect(plan.template.source.path == "data/a.sqlite")
            // Its preparation will tell what is wrong.
            #expect(offers.last?.offer.entry == .prepare)
        }
        try SharingLab.run { lab in
            let run = try lab.begin([try lab.forge("a.sqlite")], strategy: .partitioned)
            let offers = try lab.reader(run).next(5, after: nil, but: []).offers
            #expect(offers.map(\.offer.entry) == [.prepare])
        }
    }

    @Test func endedStoresAreAbsent() throws {
        try SharingLab.run { lab in
            let run = try lab.begin([try lab.forge("a.sqlite")])
            let work = Work.whole
            try lab.ledger.append(
                change(run, 1, .running) + [
                    .attemptBegan(
                        run: run.id, store: 1, work: work, attempt: "a", epoch: 1, at: 1),
                    .accepted(receipt(run.id, 1, work, "a", epoch: 1), at: 1),
                ] + change(run, 1, .validated, .done))
            let (offer, accepted) = try lab.reader(run).one(1)
            #expect(offer == nil && accepted == ["a"])
            let unknown = try lab.reader(run).one(99)
            #expect(unknown.offer == nil && unknown.accepted.isEmpty)
        }
    }

    @Test func validatedStoresAreOfferedForTheirSwap() throws {
        try SharingLab.run { lab in
            let stores = try (1...3).map { try lab.forge("s\($0).sqlite") }
            let run = try lab.begin(stores, defersSwap: true)
            try lab.ledger.append(
                change(run, 1, .running, .validated) + change(run, 2, .running, .validated)
                    + change(run, 3, .running, .failed))
            let reader = lab.reader(run)
            // Their swap was put off, so that nothing is left to do by itself.
            #expect(try reader.next(5, after: nil, but: []).offers.isEmpty)
            #expect(try reader.numbers(in: .validated, store: nil) == [1, 2])
            #expect(try reader.numbers(in: .validated, store: 2) == [2])
            #expect(try reader.numbers(in: .validated, store: 3).isEmpty)
            let offers = try reader.swaps([1, 2, 3, 4])
            #expect(offers.map(\.store.number) == [1, 2])
            #expect(offers.allSatisfy { $0.offer.entry == .swap(isRequested: true) })
        }
        try SharingLab.run { lab in
            let run = try lab.begin([try lab.forge("a.sqlite")])
            try lab.ledger.append(change(run, 1, .running, .validated))
            // A run that does not wait goes on with the swap.
            let offers = try lab.reader(run).next(5, after: nil, but: []).offers
            #expect(offers.map(\.offer.entry) == [.swap(isRequested: false)])
        }
    }
}
