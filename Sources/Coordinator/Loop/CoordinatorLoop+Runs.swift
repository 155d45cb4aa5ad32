import ClusterCore
import ClusterProtocol
import Jobs
import LocalRun
import RunLedger

// Runs come, are fed with stores, and go.

extension CoordinatorLoop {
    /// What is known of a run when it enters the machine.
    struct Opening: Sendable {
        let run: SharedRun
        let overview: RunOverview
        /// Stores that are to be offered, if the machine does not have the run.
        let stores: Int
        let failed: Int
        let validated: Int
        let bounds: RunBounds
        /// Stores that were added to a run which the machine has already.
        var added = 0
        /// Files that were not taken although they may hold a user's data, with the reasons.
        var leftOut: [String] = []
        /// What is missing before the run can begin.
        var shortage: String?
    }

    /// A run is opened, or stores were added to one.
    func open(_ opening: Opening) {
        noteLeftOut(opening.leftOut, of: opening.run.id)
        let id = opening.run.id
        mapping.learn(opening.overview.state, of: id)
        guard feeds[id] == nil else {
            feeds[id]?.awaitedRoom = opening.shortage
            if opening.added > 0 {
                feeds[id]?.rewind()
                take(
                    .run(
                        RunOffer(run: id, stores: opening.added, failed: opening.failed)))
            }
            take(.request(.resume(run: id), from: ClientID("")))
            return
        }
        var feed = RunFeed(opening.run)
        feed.awaitedRoom = opening.shortage
        feeds[id] = feed
        let pause = opening.overview.state == .paused ? opening.overview.reason : nil
        // A disk that was full is looked at anew.
        let pausedBy = pause.flatMap { $0.hasPrefix(PauseReason.room) ? nil : $0 }
        if opening.overview.state == .paused, pausedBy == nil, opening.shortage == nil {
            take(.tick, with: change(id, .open, "taken up again"))
        }
        take(
            .run(
                RunOffer(
                    run: id, stores: opening.stores, failed: opening.failed,
                    validated: opening.validated, defersSwap: opening.run.defersSwap,
                    limits: RunLimits(
                        stores: opening.bounds.stores, jobs: opening.bounds.jobs,
                        failures: opening.bounds.failures),
                    pausedBy: pausedBy)))
        if let shortage = opening.shortage {
            take(.tick, with: change(id, .paused, PauseReason.room + shortage))
            surroundings.note("\(id): waits for room: \(shortage)")
        }
    }

    private func change(_ run: String, _ state: RunState, _ reason: String) -> [LedgerRecord] {
        mapping.change(run, to: state, reason, plan.runs.environment.wallTime())
    }

    /// Gives the machine the stores that it wants.
    func feed() {
        for (run, count) in machine.wantedStores {
            guard var feed = feeds[run], !feed.isReading, feed.awaitedRoom == nil else { continue }
            guard !feed.isExhausted || !feed.swaps.isEmpty else { continue }
            let (reader, cursor) = (OfferReader(ledger: ledger, run: feed.run), feed.cursor)
            let (inside, swaps) = (Set(feed.inside.keys), Array(feed.swaps.prefix(count)))
            let round = feed.round
            feed.isReading = desks.read { loop in
                do throws(RunError) {
                    if !swaps.isEmpty {
                        let offers = try reader.swaps(swaps)
                        loop.submit { $0.takeSwaps(offers, asked: swaps.count, of: run) }
                        return
                    }
                    let page = try reader.next(count, after: cursor, but: inside)
                    loop.submit { $0.take(page, of: run, round: round) }
                } catch {
                    loop.submit { $0.failed(reading: run, error) }
                }
            }
            feeds[run] = feed
        }
    }

    private func take(_ page: OfferReader.Page, of run: String, round: Int) {
        feeds[run]?.isReading = false
        if feeds[run]?.round == round {
            feeds[run]?.cursor = page.cursor
            feeds[run]?.isExhausted = page.isLast
        }
        offer(page.offers, of: run)
    }

    private func takeSwaps(_ offers: [OfferReader.Offered], asked: Int, of run: String) {
        feeds[run]?.isReading = false
        let rest = feeds[run]?.swaps.dropFirst(asked) ?? []
        feeds[run]?.swaps = Array(rest)
        offer(offers, of: run)
    }

    private func offer(_ offers: [OfferReader.Offered], of run: String) {
        for offered in offers where feeds[run]?.inside[offered.store.number] == nil {
            feeds[run]?.inside[offered.store.number] = offered.store
            take(.offered(offered.offer))
        }
    }

    private func failed(reading run: String, _ error: RunError) {
        feeds[run]?.isReading = false
        surroundings.note("\(run): the ledger could not be read: \(error)")
    }

    /// Answers a question of the machine.
    func look(up lookup: Lookup) {
        switch lookup {
        case .store(let key): look(up: key)
        case .failed(let run, let store): replay(run, store)
        case .validated(let run, let store): swap(run, store)
        }
    }

    private func look(up key: StoreKey) {
        guard let feed = feeds[key.run] else { return take(.absent(key)) }
        let reader = OfferReader(ledger: ledger, run: feed.run)
        let isTaken = desks.read { loop in
            do throws(RunError) {
                let (offered, accepted) = try reader.one(key.number)
                loop.submit {
                    guard let offered else { return $0.take(.absent(key, accepted: accepted)) }
                    $0.offer([offered], of: key.run)
                }
            } catch {
                loop.submit { $0.failed(reading: key.run, error) }
            }
        }
        if !isTaken { take(.absent(key)) }
    }

    private func replay(_ run: String, _ store: Int?) {
        guard feeds[run] != nil else { return }
        let runs = SharedRuns(plan.runs)
        let ledger = ledger
        _ = desks.begin { loop in
            do {
                let count = try runs.reopen(run, store: store)
                let failed = try ledger.storeCounts(of: run)[.failed] ?? 0
                loop.submit { $0.reopened(run, stores: count, failed: failed) }
            } catch {
                loop.submit { $0.surroundings.note("\(run): not replayed: \(error)") }
            }
        }
    }

    private func reopened(_ run: String, stores: Int, failed: Int) {
        guard stores > 0 else {
            return surroundings.note("\(run): nothing failed, nothing is replayed")
        }
        feeds[run]?.rewind()
        take(.run(RunOffer(run: run, stores: stores, failed: failed)))
    }

    private func swap(_ run: String, _ store: Int?) {
        guard let feed = feeds[run] else { return }
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

    private func swapping(_ run: String, _ numbers: [Int], failed: Int) {
        guard let feed = feeds[run] else { return }
        let known = Set(feed.swaps).union(feed.inside.keys)
        let fresh = numbers.filter { !known.contains($0) }
        guard !fresh.isEmpty else { return surroundings.note("\(run): nothing waits for its swap") }
        feeds[run]?.swaps += fresh
        take(.run(RunOffer(run: run, stores: fresh.count, failed: failed)))
    }

    /// Looks again at runs that wait for room before they begin.
    func retryRoom() {
        for (id, feed) in feeds where feed.awaitedRoom != nil && !feed.isReading {
            let (runs, run) = (SharedRuns(plan.runs), feed.run)
            feeds[id]?.isReading = desks.begin { loop in
                do throws(RunError) {
                    let shortage = try runs.reserve(run).map { "\($0)" }
                    loop.submit { $0.found(shortage, for: id) }
                } catch {
                    loop.submit { $0.failed(reading: id, error) }
                }
            }
        }
    }

    private func found(_ shortage: String?, for run: String) {
        feeds[run]?.isReading = false
        feeds[run]?.awaitedRoom = shortage
        guard shortage == nil else { return }
        take(.tick, with: change(run, .open, "there is room"))
    }

    /// A run has come to its end.
    func end(_ run: String, _ standing: RunStanding) {
        guard let feed = feeds[run] else { return }
        let runEnded = surroundings.runEnded
        feeds[run]?.awaitedRoom = nil
        let (runs, ledger) = (SharedRuns(plan.runs), ledger)
        let busy = Set(feed.inside.keys)
        let isTaken = desks.begin { loop in
            do {
                if standing == .cancelled { try runs.cancelRest(feed.run, but: busy) }
                try feed.run.clean()
            } catch {
                loop.submit { $0.surroundings.note("\(run): not everything was removed: \(error)") }
            }
            // Whatever became of that, the run is over.
            var failures = 0
            do throws(LedgerError) {
                let counts = try ledger.storeCounts(of: run)
                failures = (counts[.failed] ?? 0) + (counts[.cancelled] ?? 0)
            } catch {
                loop.submit { $0.surroundings.note("\(run): \(error)") }
            }
            let failed = failures
            runEnded?(run)
            loop.submit { $0.publish(.ended(run: run, failures: failed), run: run) }
        }
        if !isTaken { surroundings.note("\(run): too much is asked for at once") }
    }
}
