import Jobs

/// Checks when a simulation is over.
extension WorldChecker {
    func checkEnd() {
        for spec in world.runs {
            for key in spec.stores { checkEnd(key) }
            checkReport(spec)
        }
        checkMemory()
    }

    /// A run that is over leaves no store behind and no file, and has its report.
    private func checkReport(_ spec: RunSpec) {
        guard let run = world.ledger.durable.runs[spec.run] else { return }
        switch run.state {
        case .open, .paused: return
        case .ended, .cancelled: break
        }
        let left = spec.stores.count { world.ledger.durable.stores[$0]?.isUnfinished == true }
        if left > 0 { world.fail(.endCarriedOut, "\(spec.run) is over, \(left) stores wait in it") }
        if !run.isTidy { world.fail(.endCarriedOut, "\(spec.run) is over and was not tidied") }
        if !run.isReported { world.fail(.endCarriedOut, "\(spec.run) is over without its report") }
    }

    private func checkEnd(_ key: StoreKey) {
        guard let store = world.stores[key], let facts = world.ledger.written.stores[key] else {
            return
        }
        if store.swaps > 1 { world.fail(.oneSwap, "\(key) was swapped \(store.swaps) times") }
        if store.needsNothing {
            if store.swaps > 0 {
                world.fail(.originalWhole, "\(key) needed nothing and was swapped")
            }
        } else if facts.state == .done {
            guard let live = store.live else {
                return world.fail(.rowsOnce, "\(key) has no result")
            }
            if !store.isSpoiled, !SimulatedEngine.isRight(live, for: store.rows) {
                world.fail(.rowsOnce, "\(key) is done and its result is wrong")
            }
        } else if store.live != nil, !facts.isSwapIntended {
            world.fail(.originalWhole, "\(key) is not done and its original was exchanged")
        }
    }

    /// When all stores have come to rest, the supervisor must have forgotten them: what it still
    /// holds may depend on the number of workers and runs, never on that of stores or jobs.
    private func checkMemory() {
        guard let supervisor = world.coordinator?.supervisor else { return }
        let size = elements(in: supervisor, depth: 0)
        let bound = 460 + 120 * world.workers.count + 60 * world.runs.count
        if size > bound { world.fail(.boundedMemory, "the idle supervisor holds \(size) elements") }
    }

    /// Elements of all collections in a value, a count that does not depend on any order.
    private func elements(in value: Any, depth: Int) -> Int {
        guard depth < 12 else { return 0 }
        let mirror = Mirror(reflecting: value)
        let isCollection =
            mirror.displayStyle == .collection || mirror.displayStyle == .dictionary
            || mirror.displayStyle == .set
        var count = isCollection ? mirror.children.count : 0
        for child in mirror.children { count += elements(in: child.value, depth: depth + 1) }
        return count
    }
}
