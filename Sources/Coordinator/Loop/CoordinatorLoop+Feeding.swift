import ClusterCore
import ClusterProtocol
import Jobs
import LocalRun
import RunLedger

// The machine is fed with stores, and gets those that it asks for.

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
        noteReading()
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
        noteReading()
        let rest = feeds[run]?.swaps.dropFirst(asked) ?? []
        feeds[run]?.swaps = Array(rest)
        offer(offers, of: run, reading)
        tellRest(of: run)
    }

    private func offer(_ offers: [OfferReader.Offered], of run: String, _ reading: Int) {
        // What was cancelled meanwhile is given up with the rest of its run.
        let offers = machine.takesStores(of: run) ? offers : []
        for offered in offers where feeds[run]?.isNews(offered.store.number, of: reading) == true {
            feeds[run]?.inside[offered.store.number] = offered.store
            take(.offered(offered.offer))
        }
        feeds[run]?.endReading()
    }

    /// Tells the machine how many stores are left, once all are known.
    ///
    /// They are fewer than announced where a store was announced twice, or where another request
    /// was faster.
    private func tellRest(of run: String) {
        guard let feed = feeds[run], feed.isExhausted else { return }
        take(.exhausted(run: run, left: feed.swaps.count))
    }

    /// The stores of a run could not be read: it rests before the next try.
    func failed(reading run: String, _ error: RunError) {
        feeds[run]?.endReading()
        noteOutage(error)
        postpone { $0.feeds[run]?.isReading = false }
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

    /// Looks for a store of which a worker speaks; what it has may be its result, which must not
    /// be thrown away because the ledger could not be asked.
    private func look(up key: StoreKey) {
        guard let feed = feeds[key.run], let reading = feeds[key.run]?.beginReading() else {
            return isResuming ? postpone { $0.look(up: key) } : lookForReceipts(of: key)
        }
        let reader = OfferReader(ledger: ledger, run: feed.run)
        let isTaken = desks.read { loop in
            do throws(RunError) {
                let (offered, accepted) = try reader.one(key.number)
                loop.submit {
                    $0.noteReading()
                    $0.offer(offered.map { [$0] } ?? [], of: key.run, reading)
                    if offered == nil { $0.take(.absent(key, accepted: accepted)) }
                }
            } catch {
                loop.submit {
                    $0.feeds[key.run]?.endReading()
                    $0.failed(lookingUp: key, error)
                }
            }
        }
        if isTaken { return }
        feeds[key.run]?.endReading()
        postpone { $0.look(up: key) }
    }

    /// Tells which attempts were accepted at a store of a run that is not here.
    private func lookForReceipts(of key: StoreKey) {
        let ledger = ledger
        let isTaken = desks.read { loop in
            do throws(LedgerError) {
                let receipts = try ledger.acceptedReceipts(run: key.run, store: key.number)
                loop.submit { $0.take(.absent(key, accepted: receipts.map(\.attempt))) }
            } catch {
                loop.submit { $0.failed(lookingUp: key, error) }
            }
        }
        if !isTaken { postpone { $0.look(up: key) } }
    }

    private func failed(lookingUp key: StoreKey, _ error: some Error) {
        noteOutage(error)
        postpone { $0.look(up: key) }
    }

    private func replay(_ run: String, _ store: Int?) {
        guard feeds[run] != nil else { return answer(run, stores: 0, failed: 0) }
        let runs = SharedRuns(plan.runs)
        begin { loop in
            var reopened = SharedRuns.Reopened()
            var failure: RunError?
            do throws(RunError) {
                try runs.reopen(run, store: store, &reopened)
            } catch {
                failure = error
            }
            let (done, failed, error) = (reopened, runs.failures(of: run), failure)
            loop.submit { $0.reopened(run, store, done, failed: failed, error) }
        }
    }

    private func reopened(
        _ run: String, _ store: Int?, _ reopened: SharedRuns.Reopened, failed: Int,
        _ error: RunError?
    ) {
        // The ledger has it so already.
        if reopened.opensRun { mapping.learn(.open, of: run) }
        if reopened.stores > 0 { feeds[run]?.rewind() }
        guard let error else {
            if reopened.stores == 0 {
                surroundings.note("\(run): nothing failed, nothing is replayed")
            }
            return answer(run, stores: reopened.stores, failed: failed)
        }
        guard canBeAskedAgain(error) else {
            answer(run, stores: reopened.stores, failed: failed)
            return tellFailure(of: run, store, "not replayed, or not all of it: \(error)")
        }
        // The question stays until the rest of it is answered.
        take(.run(RunOffer(run: run, stores: reopened.stores, failed: failed)))
        postpone { $0.replay(run, store) }
    }

    /// Whether a request that was accepted is tried again; it is reported once.
    private func canBeAskedAgain(_ error: RunError) -> Bool {
        guard case .ledger = error else { return false }
        switch error.code.decision {
        case .retry, .pause:
            noteOutage(error)
            return true
        case .planAgain, .quarantineChunk, .quarantineWorker, .stopRun, .nothing: return false
        }
    }

    /// Tells of a request that was accepted and cannot be done.
    private func tellFailure(of run: String, _ store: Int?, _ text: String) {
        surroundings.note("\(run): \(text)")
        publish(
            .note(WatchNote(run: run, store: store, kind: "request-failed", text: text)), run: run)
    }

    private func answer(_ run: String, stores: Int, failed: Int) {
        let hadEnded = machine.hasEnded(run: run)
        take(.lookedUp(RunOffer(run: run, stores: stores, failed: failed)))
        // Who watches since that was asked waits for an end.
        if hadEnded, machine.isOver(run: run) { end(run, .ended) }
    }

    private func swap(_ run: String, _ store: Int?) {
        guard let feed = feeds[run] else { return answer(run, stores: 0, failed: 0) }
        let (reader, runs) = (OfferReader(ledger: ledger, run: feed.run), SharedRuns(plan.runs))
        begin { loop in
            do throws(RunError) {
                let numbers = try reader.numbers(in: .validated, store: store)
                let failed = runs.failures(of: run)
                loop.submit { $0.swapping(run, numbers, failed: failed) }
            } catch {
                loop.submit { $0.failed(toSwap: run, store, error) }
            }
        }
    }

    private func failed(toSwap run: String, _ store: Int?, _ error: RunError) {
        if canBeAskedAgain(error) { return postpone { $0.swap(run, store) } }
        answer(run, stores: 0, failed: 0)
        tellFailure(of: run, store, "not swapped: \(error)")
    }

    /// Swaps were asked for, and these stores wait for them.
    func swapping(_ run: String, _ numbers: [Int], failed: Int) {
        guard let feed = feeds[run] else { return answer(run, stores: 0, failed: failed) }
        // What was cancelled meanwhile is given up with the rest of its run.
        guard machine.takesStores(of: run) else { return answer(run, stores: 0, failed: failed) }
        let known = Set(feed.swaps).union(feed.inside.keys)
        let fresh = numbers.filter { !known.contains($0) }
        if fresh.isEmpty { surroundings.note("\(run): nothing waits for its swap") }
        feeds[run]?.swaps += fresh
        answer(run, stores: fresh.count, failed: failed)
    }
}
