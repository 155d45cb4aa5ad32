import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs

// Stores are read from the ledger, and the machine gets those that it asks for.

extension RunSupervisor {
    mutating func readNext(_ count: Int, of run: String) {
        guard let feed = lives[run]?.feed, let moment = lives[run]?.feed.beginReading() else {
            return
        }
        lives[run]?.feed.isReading = true
        if !feed.swaps.isEmpty {
            let numbers = Array(feed.swaps.prefix(count))
            return begin(.readSwaps(run: run, numbers: numbers, reading: moment))
        }
        begin(
            .readStores(
                StoreReading(
                    run: run, count: count, cursor: feed.cursor, inside: feed.inside,
                    moment: moment, round: feed.round)))
    }

    mutating func take(_ answer: RunAnswer) {
        switch answer {
        case .stores(let reading, let offers, let cursor, let isLast):
            let run = reading.run
            lives[run]?.feed.isReading = false
            offer(offers, of: run, reading.moment)
            lives[run]?.feed.advance(to: cursor, isLast: isLast, round: reading.round)
            tellRest(of: run)
        case .swaps(let run, let asked, let offers, let reading):
            lives[run]?.feed.isReading = false
            lives[run]?.feed.removeSwaps(asked)
            offer(offers, of: run, reading)
            tellRest(of: run)
        case .store(let key, let found, let accepted, let reading):
            offer(found.map { [$0] } ?? [], of: key.run, reading)
            if found == nil { tell(.absent(key, accepted: accepted)) }
        case .receipts(let key, let accepted): tell(.absent(key, accepted: accepted))
        case .reopened(let run, let store, let count, let failed, let opensRun, let failure):
            takeReopened(run, store, count, failed: failed, opensRun: opensRun, failure)
        case .validated(let run, _, let numbers, let failed):
            takeValidated(run, numbers, failed: failed)
        case .found(let opening, let request, let client): enter(opening, for: request, client)
        case .space(let run, let shortage): takeSpace(run, shortage)
        case .ended(let run, let number): takeEnd(run, number)
        case .reported(let run, let number, let failures):
            takeReport(run, number, failures: failures)
        case .failed(let work, let failure): take(failure, of: work)
        }
    }

    private mutating func offer(_ offers: [StoreOffer], of run: String, _ reading: Int) {
        // What was cancelled meanwhile is cancelled with the rest of its run.
        let isTaken = machine.takesStores(of: run)
        for offer in offers where isTaken {
            guard lives[run]?.feed.enter(offer.key.number, reading: reading) == true else {
                continue
            }
            tell(.offered(offer))
        }
        lives[run]?.feed.endReading()
    }

    /// Tells the machine how many stores are left, once all are known.
    ///
    /// They are fewer than announced where a store was announced twice, or where another request
    /// was faster.
    private mutating func tellRest(of run: String) {
        guard let feed = lives[run]?.feed, feed.isExhausted else { return }
        tell(.exhausted(run: run, left: feed.swaps.count))
    }

    /// A work came to nothing.
    private mutating func take(_ failure: WorkFailure, of work: RunWork) {
        switch work {
        case .readStores(let reading):
            // The run is read again after a pause, in which nothing else reads it.
            lives[reading.run]?.feed.endReading()
            postpone(work)
        case .readSwaps(let run, _, _):
            lives[run]?.feed.endReading()
            postpone(work)
        case .readStore(let key, _):
            lives[key.run]?.feed.endReading()
            postpone(work)
        case .readReceipts: postpone(work)
        case .reopen(let run, let store):
            takeReopened(run, store, 0, failed: 0, opensRun: false, failure)
        case .findValidated(let run, let store):
            if failure.isTransient { return postpone(work) }
            takeLookup(run, stores: 0, failed: 0)
            let text = "not swapped: \(failure.text)"
            out.events.append(.note(.run(run, .requestFailed(store: store, text: text))))
        case .findRun(let run, _, let client):
            if failure.isUnknownRun { return refuse(client, .noRun, failure.text, run: run) }
            refuse(client, failure.isTransient ? .notPossible : .notFound, failure.text)
        case .reserveSpace(let run):
            lives[run]?.isLookedAt = false
            out.events.append(.note(.run(run, .spaceUnknown(failure.text))))
        case .end(let run, _, _, let number): takeEnd(run, number)
        case .report(let run, let number): takeReport(run, number, failures: 0)
        }
    }
}
