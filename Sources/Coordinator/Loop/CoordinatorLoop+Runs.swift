import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunLedger
import RunService
import RunSupervision

// What the supervisor says of runs, and what is done for them beside the loop.

/// What the loop keeps of a run beside its life: where its files are, and how fast it is.
struct RunHandle {
    var run: ClusterRun
    /// The files of stores that the machine has.
    var stores: [Int: FoundStore] = [:]
    var meter = RateMeter()
}

/// What a turn of the loop has come to and has not been let out yet.
struct Turn {
    /// To be durable before anything of `rest` is done.
    var records: [LedgerRecord] = []
    /// The effects without their records, in their order.
    var rest: [SupervisorEffects] = []

    var isEmpty: Bool { records.isEmpty && rest.isEmpty }
}

extension CoordinatorLoop {
    /// A run enters, or stores were added to one.
    ///
    /// - Returns: false for one that was cancelled meanwhile.
    @discardableResult
    func open(_ opening: Opening, _ entry: RunEntry, for client: ClientID? = nil) -> Bool {
        let id = opening.run.id
        if entry == .submitted { noteLeftOut(opening.leftOut, of: id) }
        handle(.opened(prepare(opening, entry), entry, client: client))
        return admitted(id)
    }

    /// Keeps a run's files at hand, as it may enter.
    private func prepare(_ opening: Opening, _ entry: RunEntry) -> RunOpening {
        let id = opening.run.id
        if !plan.resumesRuns, !ownRuns.contains(id) { ownRuns.append(id) }
        if supervisor.phase(of: id) == nil {
            handles[id] = RunHandle(run: opening.run)
            // It may have come to its end since a queue read it.
            var offer = opening.offer
            if let figures = ledger.knownFigures(of: .named([id]))?.first {
                offer.state = figures.state
                offer.pause = figures.reason?.pause
            }
            return offer
        }
        if entry == .submitted, handles[id]?.run.defersSwap != opening.run.defersSwap {
            handles[id]?.run = opening.run
        }
        return opening.offer
    }

    /// Lets go of a run's files where it did not enter.
    private func admitted(_ id: String) -> Bool {
        guard supervisor.phase(of: id) != nil else {
            handles[id] = nil
            return false
        }
        return supervisor.machine.takesStores(of: id)
    }

    // MARK: - Works

    /// Gives a work to the queue that it belongs to.
    func begin(_ work: RunWork) {
        let (works, run) = (plan.works(dependencies), handles[work.run]?.run)
        let workItem: BlockingQueues.WorkItem = { loop in
            let outcome = works.carryOut(work, of: run)
            loop.submit { $0.take(outcome) }
        }
        switch work {
        case .readStores, .readSwaps, .readStore, .readReceipts, .findRun:
            if !queues.read(workItem) { take(RunWorks.refused(work)) }
        case .reopen, .findValidated, .reserveSpace, .end: begin(workItem)
        case .report:
            if !queues.report(workItem) { begin(workItem) }
        }
    }

    /// A work has come to something.
    func take(_ outcome: RunWorks.Outcome) {
        if let note = outcome.note { dependencies.note(note) }
        switch outcome.reading {
        case .succeeded: noteReading()
        case .failed(let text): noteOutage(text)
        case nil: break
        }
        var answer = outcome.answer
        if let opening = outcome.found, case .found(_, let request, let client) = answer {
            answer = .found(prepare(opening, .named), request, client)
        }
        let offers = answer.offers
        for (offer, found) in zip(offers, outcome.stores) {
            handles[offer.key.run]?.stores[offer.key.number] = found
        }
        handle(.answered(answer))
        // The files of a store that has left go when that is durable.
        let leaving = offers.isEmpty ? [] : leavingStores
        for offer in offers where !supervisor.has(offer.key) && !leaving.contains(offer.key) {
            handles[offer.key.run]?.stores[offer.key.number] = nil
        }
        if let opening = outcome.found { _ = admitted(opening.run.id) }
    }

    // MARK: - What came of runs

    /// Has the files of a store released that left the machine.
    func release(_ left: StoreLeave) {
        let key = left.key
        guard let handle = handles[key.run], let found = handle.stores[key.number] else { return }
        tasks.release(key, TaskStore(found: found, run: handle.run), discards: left.discards)
        // It may have been offered again since.
        if !supervisor.has(key) { handles[key.run]?.stores[key.number] = nil }
    }

    /// Lets go of a run that has left memory.
    func forget(_ run: String, _ status: RunStatus?) {
        if let status { ended.append(status) }
        if ended.count > Self.shownRuns { ended.removeFirst() }
        // It may have entered again since.
        guard supervisor.phase(of: run) == nil else { return }
        handles[run] = nil
        mapping.forget(run)
    }
}

extension CoordinatorPlan {
    /// What does the works of runs.
    func works(_ dependencies: CoordinatorDependencies) -> RunWorks {
        RunWorks(runs: runs, runEnded: dependencies.runEnded)
    }
}
