import ClusterProtocol
import Jobs

// The end of a store.

extension CoordinatorMachine {
    /// Stops all attempts of a store.
    mutating func cancelAttempts(_ index: Int) {
        guard let store = stores[index] else { return }
        for id in store.live.sorted() {
            guard let attempt = attempts[id] else { continue }
            record(
                .attemptFailed(
                    store.key, attempt: id, Cause(.cancelled, "it is not wanted any more")))
            drop(id)
            if let worker = attempt.worker { send(.revoke(attempt: id), to: worker) }
        }
    }

    /// Ends a store, once its tasks have ended.
    ///
    /// - Parameters:
    ///   - index: of the store.
    ///   - end: how.
    ///   - isKnown: whether the ledger has it so already.
    mutating func finish(_ index: Int, _ end: StoreEnd, isKnown: Bool = false) {
        guard let store = stores[index] else { return }
        cancelAttempts(index)
        stores[index]?.end = end
        if store.tasks > 0 {
            move(store: index, to: .ending)
            out.stops.append(store.key)
            return refresh(index)
        }
        _ = holds(
            stores[index]?.live.isEmpty == true, .endsIdle, run: store.run, "\(store.key)")
        if !isKnown { record(.storeChanged(store.key, end.state, end.cause)) }
        note(.store(store.key, .ended(end.state, end.cause)))
        let hadBegun = store.phase != .waiting
        move(store: index, to: .ended)
        refresh(index)
        leaveLarge(index)
        // In an order of its own: equal histories must behave alike in every process.
        let waiting = store.jobs.filter { $0.value.phase == .resting || $0.value.phase == .ready }
        for work in waiting.keys.sorted(by: { $0.name < $1.name }) {
            timers.remove(.rest(JobID(store: index, work: work)))
            timers.remove(.openToAll(JobID(store: index, work: work)))
        }
        stores[index] = nil
        storeIndexes[store.key] = nil
        dismiss(
            store.key,
            accepted: store.jobs.values.compactMap(\.accepted) + store.known.map(\.attempt))
        runs[store.run]?.leave(index)
        if hadBegun { runs[store.run]?.begun -= 1 }
        runs[store.run]?.ended[end.state, default: 0] += 1
        if end.state == .failed { countFailure(store.run) }
        beginLarge(store.run)
        endIfDone(store.run)
    }

    mutating func leaveLarge(_ index: Int) {
        guard let store = stores[index], store.isLarge else { return }
        stores[index]?.isLarge = false
        runs[store.run]?.large -= 1
    }
}
