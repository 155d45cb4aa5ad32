import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunLedger
import RunService
import RunSupervision
import StateFolders
import StoreRuns

/// Does the works of runs, on the queues' threads.
struct RunWorks: Sendable {
    let runs: ClusterRun.Dependencies
    /// Is told the id of each run whose end was carried out, to write its report.
    let runEnded: (@Sendable (String) -> Void)?

    /// What a work came to.
    struct Outcome: Sendable {
        let answer: RunAnswer
        /// The stores of the answer's offers.
        var stores: [FoundStore] = []
        /// The run that a client named, where it was found.
        var found: Opening?
        /// What operators should know.
        var note: CoordinatorNote?
        /// Whether the ledger was read, or why it could not be; nil where it was not asked.
        var reading: Reading?
    }

    /// How a reading of the ledger went.
    enum Reading: Sendable {
        case succeeded
        case failed(String)
    }

    /// Does one work; takes its time.
    ///
    /// - Parameters:
    ///   - work: what to do.
    ///   - run: the one that it is for, where it is in memory.
    /// - Returns: the answer for the supervisor, and what the loop needs beside it.
    func carryOut(_ work: RunWork, of run: ClusterRun?) -> Outcome {
        do throws(RunError) {
            switch work {
            case .readStores(let reading):
                let page = try reader(known(run, work.run)).next(
                    reading.count, after: reading.cursor, but: reading.inside)
                return Outcome(
                    answer: .stores(
                        reading, offers: page.offers.map(\.offer), cursor: page.cursor,
                        isLast: page.isLast),
                    stores: page.offers.map(\.store), reading: .succeeded)
            case .readSwaps(let id, let numbers, let reading):
                let offers = try reader(known(run, id)).swaps(numbers)
                return Outcome(
                    answer: .swaps(
                        run: id, asked: numbers.count, offers: offers.map(\.offer),
                        reading: reading), stores: offers.map(\.store), reading: .succeeded)
            case .readStore(let key, let reading):
                let (offered, accepted) = try reader(known(run, key.run)).one(key.number)
                return Outcome(
                    answer: .store(key, offered?.offer, accepted: accepted, reading: reading),
                    stores: offered.map { [$0.store] } ?? [], reading: .succeeded)
            case .readReceipts(let key): return try receipts(of: key)
            case .reopen(let id, let store): return reopen(id, store)
            case .findValidated(let id, let store):
                let numbers = try reader(known(run, id)).numbers(
                    in: .validated, store: store)
                let failed = ClusterRuns(runs).failures(of: id)
                return Outcome(
                    answer: .validated(run: id, store: store, numbers: numbers, failed: failed))
            case .findRun(let id, let request, let client):
                return try find(id, for: request, client)
            case .reserveSpace(let id):
                let shortage = try ClusterRuns(runs).reserve(known(run, id))
                return Outcome(answer: .space(run: id, shortage: shortage.map { "\($0)" }))
            case .end(let id, let isCancelled, let busy, let number):
                var outcome = Outcome(answer: .ended(run: id, number: number))
                outcome.note = end(id, isCancelled: isCancelled, but: busy, run)
                return outcome
            case .report(let id, let number): return report(id, number)
            }
        } catch {
            return failed(work, error)
        }
    }

    /// The outcome of a work for which no queue has place.
    static func refused(_ work: RunWork) -> Outcome {
        let failure = WorkFailure(
            isTransient: true, text: "there are too many requests at once; try again")
        return Outcome(answer: .failed(work, failure))
    }

    private func failed(_ work: RunWork, _ error: RunError) -> Outcome {
        let isTransient = Self.isTransient(error)
        var outcome = Outcome(
            answer: .failed(
                work,
                WorkFailure(
                    isTransient: isTransient, isUnknownRun: error.isUnknownRun, text: "\(error)"))
        )
        switch work {
        case .readStores, .readSwaps, .readStore, .readReceipts:
            outcome.reading = .failed("\(error)")
        case .findValidated:
            if isTransient { outcome.reading = .failed("\(error)") }
        case .reopen, .findRun, .reserveSpace, .end, .report: break
        }
        return outcome
    }

    /// Whether a work that failed may succeed later.
    private static func isTransient(_ error: RunError) -> Bool {
        guard case .ledger = error else { return false }
        switch error.cause.decision {
        case .retry, .pause: return true
        case .planAgain, .quarantineChunk, .quarantineWorker, .stopRun, .nothing: return false
        }
    }

    private func reader(_ run: ClusterRun) -> OfferReader {
        OfferReader(ledger: runs.ledger, run: run)
    }

    /// A run that is in memory, or as the ledger has it.
    private func known(_ run: ClusterRun?, _ id: String) throws(RunError) -> ClusterRun {
        if let run { return run }
        return try ClusterRun(try ClusterRuns(runs).find(id), runs)
    }

    private func receipts(of key: StoreKey) throws(RunError) -> Outcome {
        do throws(LedgerError) {
            let receipts = try runs.ledger.acceptedReceipts(run: key.run, store: key.number)
            return Outcome(
                answer: .receipts(key, accepted: receipts.map(\.attempt)), reading: .succeeded)
        } catch {
            throw .ledger(error)
        }
    }

    private func reopen(_ id: String, _ store: Int?) -> Outcome {
        let shared = ClusterRuns(runs)
        var reopened = ClusterRuns.Reopened()
        var failure: WorkFailure?
        do throws(RunError) {
            try shared.reopen(id, store: store, &reopened)
        } catch {
            failure = WorkFailure(isTransient: Self.isTransient(error), text: "\(error)")
        }
        var outcome = Outcome(
            answer: .reopened(
                run: id, store: store, count: reopened.stores, failed: shared.failures(of: id),
                opensRun: reopened.opensRun, failure))
        if let failure, failure.isTransient { outcome.reading = .failed(failure.text) }
        return outcome
    }

    /// Finds a run that a client named.
    private func find(
        _ id: String, for request: ClientRequest, _ client: ClientID
    ) throws(RunError) -> Outcome {
        let overview = try ClusterRuns(runs).find(id)
        let opening = try Opening(overview, runs)
        return Outcome(answer: .found(opening.offer, request, client), found: opening)
    }

    /// Carries out the end of a run; returns what could not be done.
    private func end(
        _ id: String, isCancelled: Bool, but busy: Set<Int>, _ known: ClusterRun?
    ) -> CoordinatorNote? {
        do {
            let run = try self.known(known, id)
            if isCancelled { try ClusterRuns(runs).cancelRest(run, but: busy) }
            // A client may have added stores to it meanwhile, whose jobs go by its request.
            let left = try runs.ledger.storeCounts(of: id).filter { $0.value > 0 }.keys
            if !left.contains(where: { $0 == .waiting || $0 == .running }) { try run.clean() }
            return nil
        } catch {
            return .runNotCleaned(run: id, text: "\(error)")
        }
    }

    private func report(_ id: String, _ number: Int?) -> Outcome {
        runEnded?(id)
        do throws(LedgerError) {
            let counts = try runs.ledger.storeCounts(of: id)
            let failures = (counts[.failed] ?? 0) + (counts[.cancelled] ?? 0)
            return Outcome(answer: .reported(run: id, number: number, failures: failures))
        } catch {
            return Outcome(
                answer: .reported(run: id, number: number, failures: 0),
                note: .failuresUncounted(run: id, text: "\(error)"))
        }
    }
}
