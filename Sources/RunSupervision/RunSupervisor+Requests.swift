import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs

// What clients and the machine ask of runs.

extension RunSupervisor {
    /// Gives the machine a request, after its run has entered where that is not in memory.
    mutating func take(_ request: ClientRequest, from client: ClientID) {
        let run: String
        switch request {
        case .pause(let named), .resume(let named), .cancel(let named): run = named
        case .replay(let named, _), .swap(let named, _): run = named
        case .throttle, .drain, .status, .workers, .watch, .submit:
            return tell(.request(request, from: client))
        }
        guard lives[run] != nil else { return begin(.findRun(run, request, client)) }
        tell(.request(request, from: client))
        settle(run)
    }

    /// A run was found that a client named.
    mutating func enter(_ opening: RunOpening, for request: ClientRequest, _ client: ClientID) {
        if lives[opening.run] == nil, opening.state == .cancelled {
            let text = "the run \(opening.run) was cancelled; submit its stores again"
            return refuse(client, .notPossible, text)
        }
        open(opening, .named, nil)
        take(request, from: client)
    }

    // MARK: - Questions of the machine

    /// Begins to answer a question of the machine.
    mutating func look(up lookup: Lookup) {
        switch lookup {
        case .store(let key): look(up: key)
        case .failed(let run, let store):
            guard lives[run] != nil else { return takeLookup(run, stores: 0, failed: 0) }
            begin(.reopen(run: run, store: store))
        case .validated(let run, let store):
            guard lives[run] != nil else { return takeLookup(run, stores: 0, failed: 0) }
            begin(.findValidated(run: run, store: store))
        }
    }

    /// Looks for a store of which a worker speaks; what it has may be its result, which must not
    /// be thrown away because the ledger could not be asked.
    mutating func look(up key: StoreKey) {
        if let reading = lives[key.run]?.feed.beginReading() {
            return begin(.readStore(key, reading: reading))
        }
        if awaitsRuns { return keep(key) }
        begin(.readReceipts(key))
    }

    /// Failed stores of a run wait again, or some of them.
    mutating func takeReopened(
        _ run: String, _ store: Int?, _ count: Int, failed: Int, opensRun: Bool,
        _ failure: WorkFailure?
    ) {
        // The ledger has it so already.
        if opensRun { out.known.append((run, .open)) }
        if count > 0 { lives[run]?.feed.rewind() }
        guard let failure else {
            if count == 0 { out.events.append(.note(.run(run, .nothingFailed))) }
            return takeLookup(run, stores: count, failed: failed)
        }
        guard failure.isTransient else {
            takeLookup(run, stores: count, failed: failed)
            let text = "the replay failed, at least in part: \(failure.text)"
            return out.events.append(.note(.run(run, .requestFailed(store: store, text: text))))
        }
        // The question stays until the rest of it is answered.
        if count > 0 { tell(.run(RunOffer(run: run, stores: count, failed: failed))) }
        postpone(.reopen(run: run, store: store))
        settle(run)
    }

    /// Swaps were requested, and these stores wait for them.
    mutating func takeValidated(_ run: String, _ numbers: [Int], failed: Int) {
        // What was cancelled meanwhile is cancelled with the rest of its run.
        guard lives[run] != nil, machine.takesStores(of: run) else {
            return takeLookup(run, stores: 0, failed: failed)
        }
        let fresh = lives[run]?.feed.add(swaps: numbers) ?? 0
        if fresh == 0 { out.events.append(.note(.run(run, .nothingAwaitsSwap))) }
        takeLookup(run, stores: fresh, failed: failed)
    }

    /// Answers a question of the machine for stores of a run.
    mutating func takeLookup(_ run: String, stores: Int, failed: Int) {
        tell(.lookedUp(RunOffer(run: run, stores: stores, failed: failed)))
        // Who watches since the request waits for an end.
        if machine.isOver(run: run), lives[run]?.ends.isEmpty == true {
            end(run, machine.takesStores(of: run) ? .ended : .cancelled)
        }
        settle(run)
    }
}
