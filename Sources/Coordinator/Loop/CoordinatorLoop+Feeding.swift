import ClusterCore
import Jobs
import LocalRun
import RunLedger

// The machine is fed with stores, and told of those that it asks for.

extension CoordinatorLoop {
    /// Gives the machine the stores that it wants.
    func feed() {
        for (run, count) in machine.wantedStores {
            guard let feed = feeds[run], !feed.isReading, feed.awaitedRoom == nil else { continue }
            guard !feed.isExhausted || !feed.swaps.isEmpty else {
                // Nothing is left to be offered: the run must not wait for more.
                take(.exhausted(run: run, left: 0))
                continue
            }
            read(run, count, feed)
        }
    }

    private func read(_ run: String, _ count: Int, _ feed: RunFeed) {
        let (reader, cursor) = (OfferReader(ledger: ledger, run: feed.run), feed.cursor)
        let (inside, swaps) = (Set(feed.inside.keys), Array(feed.swaps.prefix(count)))
        let round = feed.round
        guard let reading = feeds[run]?.beginReading() else { return }
        feeds[run]?.isReading = desks.read { loop in
            do throws(RunError) {
                if !swaps.isEmpty {
                    let offers = try reader.swaps(swaps)
                    loop.submit { $0.takeSwaps(offers, asked: swaps.count, of: run, reading) }
                    return
                }
                let page = try reader.next(count, after: cursor, but: inside)
                loop.submit { $0.take(page, of: run, round: round, reading) }
            } catch {
                loop.submit { $0.failed(reading: run, error) }
            }
        }
        if feeds[run]?.isReading == false { feeds[run]?.endReading() }
    }

    private func take(
        _ page: OfferReader.Page, of run: String, round: Int, _ reading: Int
    ) {
        feeds[run]?.isReading = false
        offer(page.offers, of: run, reading)
        if feeds[run]?.round == round {
            feeds[run]?.cursor = page.cursor
            feeds[run]?.isExhausted = page.isLast
        }
        tellRest(of: run)
    }

    private func takeSwaps(
        _ offers: [OfferReader.Offered], asked: Int, of run: String, _ reading: Int
    ) {
        feeds[run]?.isReading = false
        let rest = feeds[run]?.swaps.dropFirst(asked) ?? []
        feeds[run]?.swaps = Array(rest)
        offer(offers, of: run, reading)
        tellRest(of: run)
    }

    private func offer(_ offers: [OfferReader.Offered], of run: String, _ reading: Int) {
        for offered in offers where feeds[run]?.isNews(offered.store.number, of: reading) == true {
            feeds[run]?.inside[offered.store.number] = offered.store
            take(.offered(offered.offer))
        }
        feeds[run]?.endReading()
    }

    /// Tells the machine how many stores are left, once all are known: fewer than were announced
    /// where a store was announced twice, or somebody was faster with it.
    private func tellRest(of run: String) {
        guard let feed = feeds[run], feed.isExhausted else { return }
        take(.exhausted(run: run, left: feed.swaps.count))
    }

    private func failed(reading run: String, _ error: RunError) {
        feeds[run]?.isReading = false
        feeds[run]?.endReading()
        surroundings.note("\(run): the ledger could not be read: \(error)")
    }
}

// MARK: - Questions of the machine

extension CoordinatorLoop {
    /// Answers a question of the machine.
    func look(up lookup: Lookup) {
        switch lookup {
        case .store(let key): look(up: key)
        case .failed(let run, let store): replay(run, store)
        case .validated(let run, let store): swap(run, store)
        }
    }

    private func look(up key: StoreKey) {
        guard let feed = feeds[key.run], let reading = feeds[key.run]?.beginReading() else {
            return take(.absent(key))
        }
        let reader = OfferReader(ledger: ledger, run: feed.run)
        let isTaken = desks.read { loop in
            do throws(RunError) {
                let (offered, accepted) = try reader.one(key.number)
                loop.submit {
                    $0.offer(offered.map { [$0] } ?? [], of: key.run, reading)
                    if offered == nil { $0.take(.absent(key, accepted: accepted)) }
                }
            } catch {
                loop.submit { $0.failed(reading: key.run, error) }
            }
        }
        if !isTaken {
            feeds[key.run]?.endReading()
            take(.absent(key))
        }
    }

    private func replay(_ run: String, _ store: Int?) {
        guard feeds[run] != nil else { return answer(run, stores: 0, failed: 0) }
        let runs = SharedRuns(plan.runs)
        let ledger = ledger
        _ = desks.begin { loop in
            var reopened = SharedRuns.Reopened()
            var failed = 0
            var failure: String?
            do {
                try runs.reopen(run, store: store, &reopened)
                failed = try ledger.storeCounts(of: run)[.failed] ?? 0
            } catch {
                failure = "\(error)"
            }
            let (done, left, why) = (reopened, failed, failure)
            loop.submit { $0.reopened(run, done, failed: left, why) }
        }
    }

    private func reopened(
        _ run: String, _ reopened: SharedRuns.Reopened, failed: Int, _ failure: String?
    ) {
        if let failure {
            surroundings.note("\(run): not replayed, or not all of it: \(failure)")
        } else if reopened.stores == 0 {
            surroundings.note("\(run): nothing failed, nothing is replayed")
        }
        // The ledger has it so already.
        if reopened.opensRun { mapping.learn(.open, of: run) }
        if reopened.stores > 0 { feeds[run]?.rewind() }
        answer(run, stores: reopened.stores, failed: failed)
    }

    private func answer(_ run: String, stores: Int, failed: Int) {
        take(.lookedUp(RunOffer(run: run, stores: stores, failed: failed)))
    }

    private func swap(_ run: String, _ store: Int?) {
        guard let feed = feeds[run] else { return answer(run, stores: 0, failed: 0) }
        let (reader, ledger) = (OfferReader(ledger: ledger, run: feed.run), ledger)
        _ = desks.begin { loop in
            do {
                let numbers = try reader.numbers(in: .validated, store: store)
                let failed = try ledger.storeCounts(of: run)[.failed] ?? 0
                loop.submit { $0.swapping(run, numbers, failed: failed) }
            } catch {
                loop.submit { $0.surroundings.note("\(run): not swapped: \(error)") }
            }
        }
    }

    /// Swaps were asked for, and these stores wait for them.
    func swapping(_ run: String, _ numbers: [Int], failed: Int) {
        guard let feed = feeds[run] else { return answer(run, stores: 0, failed: failed) }
        let known = Set(feed.swaps).union(feed.inside.keys)
        let fresh = numbers.filter { !known.contains($0) }
        if fresh.isEmpty { surroundings.note("\(run): nothing waits for its swap") }
        feeds[run]?.swaps += fresh
        answer(run, stores: fresh.count, failed: failed)
    }
}
