import ClusterVocabulary
import Jobs
import RunSupervision

/// What the coordinator's loop reads from the ledger.
extension World {
    /// Whether a store is one that a run has work with, as the ledger has it.
    func isOffered(_ key: StoreKey, _ spec: RunSpec, in facts: LedgerFacts) -> Bool {
        guard let store = facts.stores[key] else { return false }
        switch store.state {
        case .waiting, .running: return true
        case .validated: return !spec.defersSwap || store.isSwapIntended
        case .done, .failed, .cancelled, .rolledBack, .pruned: return false
        }
    }

    func isOffered(_ key: StoreKey, _ spec: RunSpec) -> Bool {
        isOffered(key, spec, in: ledger.written)
    }

    /// A run as a reader finds it.
    func opening(_ spec: RunSpec) -> RunOpening {
        let facts = ledger.durable
        let run = facts.runs[spec.run] ?? LedgerFacts.RunFacts()
        let count = { (state: StoreState) in
            spec.stores.count { facts.stores[$0]?.state == state }
        }
        return RunOpening(
            run: spec.run, state: run.state, pause: run.reason?.pause,
            stores: spec.stores.count { isOffered($0, spec, in: facts) }, failed: count(.failed),
            validated: spec.defersSwap ? count(.validated) : 0, defersSwap: spec.defersSwap,
            limits: spec.limits)
    }

    /// Lets a run enter as a start of the coordinator finds it.
    func enter(_ spec: RunSpec) {
        guard let facts = ledger.durable.runs[spec.run] else { return }
        let known = RunAtStart(
            state: facts.state,
            hasWork: spec.stores.contains { ledger.durable.stores[$0]?.isUnfinished == true },
            isUntidy: !facts.isTidy, isReported: facts.isReported)
        switch known.decision {
        case .resume: tell(.opened(opening(spec), .resumed, client: nil))
        case .end(let isCancelled, let reports):
            tell(.endLeft(run: spec.run, isCancelled: isCancelled, reports: reports))
        case .leave: break
        }
    }

    /// A store with all that the ledger knows of it.
    func offer(_ key: StoreKey, isRequested: Bool = false) -> StoreOffer? {
        let known = ledger.durable
        guard let store = stores[key], let facts = known.stores[key] else { return nil }
        var entry = store.isWhole ? StoreEntry.whole(plan(store, key)) : .prepare
        if facts.state == .validated || facts.isSwapIntended {
            entry = .swap(isRequested: isRequested || facts.isSwapIntended)
        }
        var accepted: [Receipt] = []
        var histories: [Work: JobHistory] = [:]
        for job in facts.jobs {
            guard let history = known.jobs[job] else { continue }
            if let receipt = history.accepted { accepted.append(receipt) }
            let open = history.attempts.filter { known.attempts[$0]?.hasEnded == false }
            histories[job.work] = JobHistory(
                epoch: history.epoch, attempts: history.attempts.count,
                open: history.accepted == nil ? open : [], failures: history.failures,
                quarantined: history.quarantined)
        }
        note("  offer \(key) accepted \(accepted.count) jobs \(histories.count)")
        return StoreOffer(
            key: key, bytes: store.bytes, entry: entry, isRunning: facts.state == .running,
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
}
