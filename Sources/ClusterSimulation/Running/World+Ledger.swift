import ClusterCore
import Jobs

/// What the coordinator's loop reads from the ledger for its machine.
extension World {
    /// A store with all that the ledger knows of it.
    func offer(_ key: StoreKey, _ spec: RunSpec) -> StoreOffer? {
        guard let store = stores[key], let facts = ledger.written.stores[key] else { return nil }
        var entry = store.isWhole ? StoreEntry.whole(plan(store, key)) : .prepare
        if facts.standing == .validated || facts.isSwapIntended {
            let isAsked = facts.isSwapIntended || spec.isSwapRequested.contains(key.number)
            entry = .swap(isRequested: isAsked)
        }
        var accepted: [Receipt] = []
        var histories: [Work: JobHistory] = [:]
        for job in facts.jobs {
            guard let known = ledger.written.jobs[job] else { continue }
            if let receipt = known.accepted { accepted.append(receipt) }
            let open = known.attempts.filter { ledger.written.attempts[$0]?.hasEnded == false }
            histories[job.work] = JobHistory(
                epoch: known.epoch, attempts: known.attempts.count,
                open: known.accepted == nil ? open : [], failures: known.failures,
                quarantined: known.quarantined)
        }
        note("  offer \(key) accepted \(accepted.count) jobs \(histories.count)")
        return StoreOffer(
            key: key, bytes: store.bytes, entry: entry, isRunning: facts.standing == .running,
            accepted: accepted, jobs: histories)
    }

    /// How a store is migrated; the same whenever it is asked for.
    func plan(_ store: SimulatedStore, _ key: StoreKey) -> StorePlan {
        let folder = "\(key.run)/\(key.number)"
        let template = JobTemplate(
            plan: FileReference(root: "run", path: "\(folder)/plan"),
            planDigest: String(repeating: "0", count: 64),
            source: FileReference(root: "source", path: "\(key.number).sqlite"),
            destination: FileReference(root: "run", path: "\(folder)/destination"),
            sourceFingerprint: "fingerprint", engine: store.isWhole ? nil : workers[0].engine)
        var steps: [StorePlan.Step] = store.steps.map { chunks in
            chunks.count == 1 ? .append(chunk: chunks.lowerBound) : .merge(chunks: chunks)
        }
        if store.hasLinks { steps += store.chunks.indices.map { .link(chunk: $0) } }
        return StorePlan(
            shape: store.isWhole ? .whole : .partitioned(steps: steps), template: template,
            attempts: FileReference(root: "run", path: "\(folder)/attempts"))
    }

    /// Answers what the machine asks of the ledger.
    func answer(_ lookup: Lookup) {
        switch lookup {
        case .store(let key):
            guard let index = runs.firstIndex(where: { $0.run == key.run }),
                runs[index].stores.contains(key), isOffered(key, runs[index]),
                ledger.written.runs[key.run]?.standing != .cancelled,
                let offer = offer(key, runs[index])
            else { return tell(.absent(key, accepted: acceptedAttempts(of: key))) }
            runs[index].offered.insert(key.number)
            tell(.offered(offer))
        case .failed(let run, let store):
            reopen(run, store, standing: .failed)
        case .validated(let run, let store):
            reopen(run, store, standing: .validated)
        }
    }

    /// The attempts of a store that the ledger has accepted.
    private func acceptedAttempts(of key: StoreKey) -> [String] {
        (ledger.written.stores[key]?.jobs ?? []).compactMap {
            ledger.written.jobs[$0]?.accepted?.attempt
        }
    }

    /// Puts stores that had come to rest among those that wait, and opens their run for them.
    private func reopen(_ run: String, _ store: Int?, standing: StoreStanding) {
        guard let index = runs.firstIndex(where: { $0.run == run }) else { return }
        let spec = runs[index]
        let found = spec.stores.filter { key in
            guard store == nil || key.number == store, let facts = ledger.durable.stores[key]
            else { return false }
            let isResting = !isOffered(key, spec)
            return facts.standing == standing && isResting
        }
        note("  \(run): \(found.count) stores \(standing) are taken up again")
        guard !found.isEmpty, ledger.written.runs[run]?.standing != .cancelled else {
            return tell(.lookedUp(RunOffer(run: run, stores: 0)))
        }
        if !spec.isOpened {
            runs[index].isOpened = true
            ledger.change { $0.runs[run]?.standing = .open }
        }
        for key in found {
            runs[index].offered.remove(key.number)
            if standing == .failed {
                statistics.replays += 1
                ledger.change { $0.replay(key) }
            } else {
                runs[index].isSwapRequested.insert(key.number)
            }
        }
        // Now and then one more is announced than there is.
        let surplus = found.count % 2
        tell(
            .lookedUp(
                RunOffer(
                    run: run, stores: found.count + surplus, defersSwap: spec.defersSwap,
                    limits: spec.limits)))
    }
}
