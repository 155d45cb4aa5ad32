import ClusterProtocol
import ClusterTables
import ClusterVocabulary
import Jobs

// The life of a run.

extension CoordinatorMachine {
    /// Opens a run, or opens one again.
    mutating func open(_ offer: RunOffer) {
        if let index = state.runs.index(of: offer.run) { return reopen(index, offer) }
        let index = state.newIndex()
        state.runs.enter(RunProgress(offer), at: index)
        if offer.isOver {
            state.runs[index]?.phase = .ended
            return
        }
        state.runs.join(index)
        if offer.pausedBy != nil {
            state.move(run: index, to: .paused)
        } else if offer.stores <= 0 {
            // It ends at once and needs no place among the others.
            state.move(run: index, to: .open)
        }
        admitRuns()
        endIfDone(index)
    }

    /// The ledger was asked for stores of a run that are to be worked on again.
    mutating func takeAnswer(_ offer: RunOffer) {
        guard let index = state.runs.index(of: offer.run) else {
            if offer.stores > 0 { open(offer) }
            return
        }
        if let questions = state.runs[index]?.questions, questions > 0 {
            state.runs[index]?.questions = questions - 1
        }
        reopen(index, offer)
        endIfDone(index)
    }

    /// Stores that were announced are not offered after all: another request was faster.
    mutating func exhaust(_ name: String, left: Int) {
        guard let index = state.runs.index(of: name), let run = state.runs[index],
            run.toOffer > max(0, left)
        else { return }
        state.runs[index]?.toOffer = max(0, left)
        endIfDone(index)
    }

    /// A request wants results of a run to wait for their swap, or not to wait any more.
    mutating func deferSwaps(of name: String, _ defers: Bool) {
        guard let index = state.runs.index(of: name) else { return }
        state.runs[index]?.defersSwap = defers
    }

    /// More stores of a run, such as those to be replayed.
    private mutating func reopen(_ index: Int, _ offer: RunOffer) {
        guard let run = state.runs[index], run.phase != .cancelled, offer.stores > 0
        else { return }
        state.runs[index]?.toOffer += offer.stores
        state.runs[index]?.failures = max(0, offer.failed)
        state.runs[index]?.ended[.failed] = offer.failed
        if run.phase == .ended {
            state.runs.join(index)
            state.move(run: index, to: .open)
            if run.ended[.validated] ?? 0 == 0 {
                state.record(.runChanged(run: run.name, .open, .replayed))
            }
            state.note(.run(run.name, .resumed))
        }
    }

    /// Lets go of a run that is over.
    mutating func forget(run name: String) {
        guard isOver(run: name), let index = state.runs.index(of: name) else { return }
        state.timers.remove(.room(index))
        state.runs.remove(index)
    }

    /// Lets runs begin while there is place for them.
    private mutating func admitRuns() {
        var atWork = state.runs.open.count { state.runs[$0].map { $0.phase != .queued } ?? false }
        for index in state.runs.open where state.runs[index]?.phase == .queued {
            guard atWork < max(1, state.settings.sharing.runs) else { return }
            atWork += 1
            state.move(run: index, to: .open)
            // Beginning late must not mean to have saved up turns.
            let least = state.runs.open.compactMap { other in
                other == index || state.runs[other]?.phase != .open
                    ? nil : state.runs[other]?.pass
            }.min()
            state.runs[index]?.pass = least ?? 0
            if let run = state.runs[index] {
                state.note(run.isResumed ? .run(run.name, .resumed) : .run(run.name, .began))
            }
            state.beginLarge(index)
        }
    }

    /// Pauses a run; attempts in hand go on.
    mutating func hold(_ index: Int, _ hold: PauseReason) {
        guard let run = state.runs[index] else { return }
        if case .space = hold {
            state.set(.room(index), after: Int64(state.settings.roomRetry))
            state.runs[index]?.isShortOfSpace = true
        }
        switch run.phase {
        case .open, .queued:
            state.runs[index]?.hold = hold
            state.move(run: index, to: .paused)
            state.record(.runChanged(run: run.name, .paused, .paused(hold)))
            state.note(.run(run.name, .paused(hold)))
        case .paused:
            // What a person asked for, or what stopped the run, outlives a disk that has room.
            if case .space = hold { return }
            state.runs[index]?.hold = hold
            state.record(.runChanged(run: run.name, .paused, .paused(hold)))
        case .ended, .cancelled: return
        }
        if case .stopped(let reason) = hold {
            state.note(.run(run.name, .stopped(reason: reason)))
        }
    }

    /// Lets a paused run go on.
    mutating func release(_ index: Int, _ reason: RunReason) {
        guard let run = state.runs[index], run.phase == .paused else { return }
        state.timers.remove(.room(index))
        state.runs[index]?.hold = nil
        state.move(run: index, to: .open)
        state.record(.runChanged(run: run.name, .open, reason))
        state.note(.run(run.name, .resumed))
        state.releaseHeldTasks(index)
        state.beginLarge(index)
        endIfDone(index)
    }

    /// A disk may have room again.
    mutating func findRoom(_ index: Int) {
        if case .space = state.runs[index]?.hold { release(index, .spaceAvailable) }
    }

    /// Counts a failed store and stops the run at its limit.
    mutating func countFailure(_ index: Int) {
        state.runs[index]?.failures += 1
        guard let run = state.runs[index], let limit = run.limits.failures,
            run.failures >= max(1, limit)
        else { return }
        if case .stopped = run.hold { return }
        // Nothing is left to be stopped.
        guard run.inside + run.toOffer > 0 else { return }
        let stores = run.failures == 1 ? "store" : "stores"
        hold(index, .stopped("\(run.failures) \(stores) failed: the limit is reached"))
    }

    /// Ends a run whose last store has ended.
    mutating func endIfDone(_ index: Int) {
        guard let run = state.runs[index], run.inside == 0, run.toOffer == 0, run.questions == 0
        else { return }
        guard run.phase == .open || run.phase == .paused else { return }
        state.runs[index]?.hold = nil
        state.timers.remove(.room(index))
        state.move(run: index, to: .ended)
        state.runs.leave(index)
        let waiting = run.ended[.validated] ?? 0
        if waiting == 0 {
            state.record(.runChanged(run: run.name, .ended, .finished))
            state.note(.run(run.name, .ended(.ended)))
        } else {
            // They keep the run open in the ledger.
            state.note(.run(run.name, .awaitsSwap(stores: waiting)))
        }
        admitRuns()
    }

    /// Gives a run up; swaps that have begun are finished.
    mutating func cancel(_ index: Int) {
        guard let run = state.runs[index] else { return }
        state.move(run: index, to: .cancelled)
        state.timers.remove(.room(index))
        state.runs.leave(index)
        state.runs[index]?.toOffer = 0
        state.runs[index]?.hold = nil
        state.record(.runChanged(run: run.name, .cancelled, .cancelled))
        let inside = state.stores.keys.filter { state.stores[$0]?.run == index }
        for store in inside {
            let isSwapped = state.stores[store]?.end?.state == .done
            let isSwapping =
                state.stores[store]?.phase == .swapping
                && state.stores[store]?.isKeeping == false
            if isSwapping || isSwapped { continue }
            finish(store, StoreEnd(state: .cancelled, cause: nil))
        }
        // Swaps that wait for the run are finished; what is not wanted any more is dropped.
        state.releaseHeldTasks(index)
        for key in state.stores.parkedKeys(of: run.name) { state.dismiss(key) }
        state.note(.run(run.name, .ended(.cancelled)))
        admitRuns()
    }

    /// Stops runs of which an invariant was broken.
    ///
    /// What the machine holds of them cannot be trusted any more; the ledger can, and a new start
    /// reads it.
    mutating func stopFaultyRuns() {
        while let (run, fault) = state.faults.nextRun() {
            let reason =
                "a bug in Godwit stopped the run (\(fault)): restart the coordinator, resume "
                + "the run, and report the bug"
            hold(run, .stopped(reason))
        }
    }
}
