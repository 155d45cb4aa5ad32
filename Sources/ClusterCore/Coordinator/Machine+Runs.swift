import ClusterProtocol
import Jobs

// The life of a run.

extension CoordinatorMachine {
    /// Opens a run, or opens one again.
    mutating func open(_ offer: RunOffer) {
        if let index = runIndexes[offer.run] { return reopen(index, offer) }
        let index = nextIndex
        nextIndex += 1
        runs[index] = RunProgress(offer)
        runIndexes[offer.run] = index
        if offer.isOver {
            runs[index]?.phase = .ended
            return
        }
        openRuns.append(index)
        if offer.pausedBy != nil {
            move(run: index, to: .paused)
        } else if offer.stores <= 0 {
            // It ends at once and needs no place among the others.
            move(run: index, to: .open)
        }
        admitRuns()
        endIfDone(index)
    }

    /// The ledger was asked for stores of a run that are to be worked on again.
    mutating func takeAnswer(_ offer: RunOffer) {
        guard let index = runIndexes[offer.run] else {
            if offer.stores > 0 { open(offer) }
            return
        }
        if let questions = runs[index]?.questions, questions > 0 {
            runs[index]?.questions = questions - 1
        }
        reopen(index, offer)
        endIfDone(index)
    }

    /// Stores that were announced are not offered after all: another request was faster.
    mutating func exhaust(_ name: String, left: Int) {
        guard let index = runIndexes[name], let run = runs[index], run.toOffer > max(0, left)
        else { return }
        runs[index]?.toOffer = max(0, left)
        endIfDone(index)
    }

    /// A request wants results of a run to wait for their swap, or not to wait any more.
    mutating func deferSwaps(of name: String, _ defers: Bool) {
        guard let index = runIndexes[name] else { return }
        runs[index]?.defersSwap = defers
    }

    /// More stores of a run, such as those to be replayed.
    private mutating func reopen(_ index: Int, _ offer: RunOffer) {
        guard let run = runs[index], run.phase != .cancelled, offer.stores > 0 else { return }
        runs[index]?.toOffer += offer.stores
        runs[index]?.failures = max(0, offer.failed)
        runs[index]?.ended[.failed] = offer.failed
        if run.phase == .ended {
            if !openRuns.contains(index) { openRuns.append(index) }
            move(run: index, to: .open)
            if run.ended[.validated] ?? 0 == 0 {
                record(.runChanged(run: run.name, .open, reason: "stores are worked on again"))
            }
            note(.run(run.name, .resumed))
        }
    }

    /// Whether the machine has nothing to do with a run any more.
    package func isOver(run name: String) -> Bool {
        guard let index = runIndexes[name], let run = runs[index] else { return true }
        guard run.phase == .ended || run.phase == .cancelled else { return false }
        return run.inside == 0 && run.toOffer == 0 && run.questions == 0
    }

    /// Whether stores of a run that are offered stay here until their end is told.
    package func takesStores(of name: String) -> Bool {
        guard let index = runIndexes[name] else { return false }
        return runs[index]?.phase != .cancelled
    }

    /// Lets go of a run that is over.
    mutating func forget(run name: String) {
        guard isOver(run: name), let index = runIndexes.removeValue(forKey: name) else { return }
        timers.remove(.room(index))
        runs[index] = nil
    }

    /// Lets runs begin while there is place for them.
    private mutating func admitRuns() {
        var atWork = openRuns.count { runs[$0].map { $0.phase != .queued } ?? false }
        for index in openRuns where runs[index]?.phase == .queued {
            guard atWork < max(1, settings.sharing.runs) else { return }
            atWork += 1
            move(run: index, to: .open)
            // Beginning late must not mean to have saved up turns.
            let least = openRuns.compactMap { other in
                other == index || runs[other]?.phase != .open ? nil : runs[other]?.pass
            }.min()
            runs[index]?.pass = least ?? 0
            if let run = runs[index] {
                note(run.isResumed ? .run(run.name, .resumed) : .run(run.name, .began))
            }
            beginLarge(index)
        }
    }

    /// Pauses a run; attempts in hand go on.
    mutating func hold(_ index: Int, _ hold: PauseReason) {
        guard let run = runs[index] else { return }
        if case .space = hold {
            set(.room(index), after: Int64(settings.roomRetry))
            runs[index]?.isShortOfSpace = true
        }
        switch run.phase {
        case .open, .queued:
            runs[index]?.hold = hold
            move(run: index, to: .paused)
            record(.runChanged(run: run.name, .paused, reason: hold.text))
            note(.run(run.name, .paused(hold)))
        case .paused:
            // What a person asked for, or what stopped the run, outlives a disk that has room.
            if case .space = hold { return }
            runs[index]?.hold = hold
            record(.runChanged(run: run.name, .paused, reason: hold.text))
        case .ended, .cancelled: return
        }
        if case .stopped(let reason) = hold {
            note(.run(run.name, .stopped(reason: reason)))
        }
    }

    /// Lets a paused run go on.
    mutating func release(_ index: Int, _ reason: String) {
        guard let run = runs[index], run.phase == .paused else { return }
        timers.remove(.room(index))
        runs[index]?.hold = nil
        move(run: index, to: .open)
        record(.runChanged(run: run.name, .open, reason: reason))
        note(.run(run.name, .resumed))
        releaseHeldTasks(index)
        beginLarge(index)
        endIfDone(index)
    }

    /// A disk may have room again.
    mutating func findRoom(_ index: Int) {
        if case .space = runs[index]?.hold { release(index, "there may be room again") }
    }

    /// Counts a failed store and stops the run at its limit.
    mutating func countFailure(_ index: Int) {
        runs[index]?.failures += 1
        guard let run = runs[index], let limit = run.limits.failures,
            run.failures >= max(1, limit)
        else { return }
        if case .stopped = run.hold { return }
        // Nothing is left to be stopped.
        guard run.inside + run.toOffer > 0 else { return }
        let stores = run.failures == 1 ? "store" : "stores"
        hold(index, .stopped("\(run.failures) \(stores) failed, which is the limit"))
    }

    /// Ends a run whose last store has ended.
    mutating func endIfDone(_ index: Int) {
        guard let run = runs[index], run.inside == 0, run.toOffer == 0, run.questions == 0
        else { return }
        guard run.phase == .open || run.phase == .paused else { return }
        runs[index]?.hold = nil
        timers.remove(.room(index))
        move(run: index, to: .ended)
        openRuns.removeAll { $0 == index }
        let waiting = run.ended[.validated] ?? 0
        if waiting == 0 {
            record(.runChanged(run: run.name, .ended, reason: "every store has ended"))
            note(.run(run.name, .ended(.ended)))
        } else {
            // They keep the run open in the ledger.
            note(.run(run.name, .awaitsSwap(stores: waiting)))
        }
        admitRuns()
    }

    /// Gives a run up; swaps that have begun are finished.
    mutating func cancel(_ index: Int) {
        guard let run = runs[index] else { return }
        move(run: index, to: .cancelled)
        timers.remove(.room(index))
        openRuns.removeAll { $0 == index }
        runs[index]?.toOffer = 0
        runs[index]?.hold = nil
        record(.runChanged(run: run.name, .cancelled, reason: "cancelled on request"))
        let inside = stores.keys.filter { stores[$0]?.run == index }
        for store in inside {
            let isSwapped = stores[store]?.end?.state == .done
            let isSwapping = stores[store]?.phase == .swapping && stores[store]?.isKeeping == false
            if isSwapping || isSwapped { continue }
            finish(store, StoreEnd(state: .cancelled, cause: nil))
        }
        // Swaps that wait for the run are finished; what is not wanted any more is dropped.
        releaseHeldTasks(index)
        for key in parked.keys.filter({ $0.run == run.name }).sorted() { dismiss(key) }
        note(.run(run.name, .ended(.cancelled)))
        admitRuns()
    }
}
