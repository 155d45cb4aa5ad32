import ClusterProtocol
import ClusterVocabulary
import Jobs
import RunSupervision

/// Works of runs, done beside the coordinator's loop: each sees the ledger at one moment, and its
/// answer comes at a later one.
struct WorkSimulation {
    let world: World

    func begin(_ work: RunWork, _ life: Int) {
        guard world.coordinator?.life == life else { return }
        let answer = carryOut(work)
        world.note("work \(WorkText.text(work)) is done")
        let time = world.chance.span(world.tuning.workTime)
        world.queue.schedule(.answer(answer, run: work.run, life: life), at: world.now + time)
    }

    func take(_ answer: RunAnswer, _ run: String, _ life: Int) {
        guard world.coordinator?.life == life else { return }
        world.coordinator?.works[run, default: 1] -= 1
        var answer = answer
        if case .found(let opening, let request, let client) = answer {
            answer = .found(refreshed(opening), request, client)
        }
        world.tell(.answered(answer))
    }

    /// A run as it is when it enters: it may have come to its end since it was read.
    func refreshed(_ opening: RunOpening) -> RunOpening {
        guard world.coordinator?.supervisor.phase(of: opening.run) == nil,
            let facts = world.ledger.written.runs[opening.run]
        else { return opening }
        var opening = opening
        opening.state = facts.state
        opening.pause = facts.reason?.pause
        return opening
    }

    private func carryOut(_ work: RunWork) -> RunAnswer {
        guard let index = world.runs.firstIndex(where: { $0.run == work.run }) else {
            return .failed(
                work,
                WorkFailure(
                    isTransient: false, isUnknownRun: true, text: "there is no such run"))
        }
        let isFailing = world.hasFaults && world.chance.happens(perMille: world.tuning.workFailure)
        let failure = WorkFailure(isTransient: true, text: "the ledger cannot be read")
        let spec = world.runs[index]
        switch work {
        case .readStores(let reading):
            return isFailing ? .failed(work, failure) : read(reading, spec)
        case .readSwaps(let run, let numbers, let reading):
            if isFailing { return .failed(work, failure) }
            let keys = numbers.map { StoreKey(run: run, number: $0) }
            let offers = keys.compactMap { key in
                world.ledger.durable.stores[key]?.state == .validated
                    ? world.offer(key, isRequested: true) : nil
            }
            return .swaps(run: run, asked: numbers.count, offers: offers, reading: reading)
        case .readStore(let key, let reading):
            if isFailing { return .failed(work, failure) }
            let isThere =
                spec.stores.contains(key) && world.isOffered(key, spec, in: world.ledger.durable)
            let found = isThere ? world.offer(key) : nil
            return .store(
                key, found, accepted: found == nil ? acceptedAttempts(of: key) : [],
                reading: reading)
        case .readReceipts(let key):
            if isFailing { return .failed(work, failure) }
            return .receipts(key, accepted: acceptedAttempts(of: key))
        case .reopen(_, let store): return reopen(spec, store, isFailing ? failure : nil)
        case .findValidated(let run, let store):
            if isFailing { return .failed(work, failure) }
            let numbers = numbers(.validated, spec, store)
            return .validated(run: run, store: store, numbers: numbers, failed: 0)
        case .findRun(_, let request, let client):
            if isFailing { return .failed(work, failure) }
            return .found(world.opening(spec), request, client)
        case .reserveSpace(let run):
            if isFailing { return .failed(work, failure) }
            return .space(run: run, shortage: shortage())
        case .end(let run, let isCancelled, let busy, let number):
            end(spec, isCancelled: isCancelled, but: busy)
            return .ended(run: run, number: number)
        case .report(let run, let number):
            world.ledger.change { $0.runs[run]?.isReported = true }
            let failures = numbers(.failed, spec, nil).count + numbers(.cancelled, spec, nil).count
            return .reported(run: run, number: number, failures: failures)
        }
    }

    /// Why there is too little space for a run, such as that of others; nil where there is enough.
    func shortage() -> String? {
        if world.isDiskFull { return "the disk is full" }
        return world.hasFaults && world.chance.happens(perMille: world.tuning.shortage)
            ? "others have it" : nil
    }

    private func read(_ reading: StoreReading, _ spec: RunSpec) -> RunAnswer {
        var offers: [StoreOffer] = []
        var cursor = reading.cursor
        for key in spec.stores where key.number > reading.cursor ?? -1 {
            guard offers.count < reading.count else {
                return .stores(reading, offers: offers, cursor: cursor, isLast: false)
            }
            cursor = key.number
            if reading.inside.contains(key.number) { continue }
            guard world.isOffered(key, spec, in: world.ledger.durable), let offer = world.offer(key)
            else {
                continue
            }
            offers.append(offer)
        }
        return .stores(reading, offers: offers, cursor: cursor, isLast: true)
    }

    private func numbers(_ state: StoreState, _ spec: RunSpec, _ store: Int?) -> [Int] {
        spec.stores.filter { key in
            world.ledger.durable.stores[key]?.state == state
                && (store == nil || key.number == store)
        }.map(\.number)
    }

    /// The attempts of a store that the ledger has accepted.
    private func acceptedAttempts(of key: StoreKey) -> [String] {
        (world.ledger.durable.stores[key]?.jobs ?? []).compactMap {
            world.ledger.durable.jobs[$0]?.accepted?.attempt
        }
    }

    /// Lets failed stores wait again, and opens their run with the first; a failure may strike
    /// after some of them.
    private func reopen(_ spec: RunSpec, _ store: Int?, _ failure: WorkFailure?) -> RunAnswer {
        let run = spec.run
        guard let state = world.ledger.durable.runs[run]?.state, state != .cancelled else {
            let cancelled = WorkFailure(isTransient: false, text: "the run was cancelled")
            return .reopened(
                run: run, store: store, count: 0, failed: 0, opensRun: false, cancelled)
        }
        var found = numbers(.failed, spec, store)
        if failure != nil {
            found = Array(found.prefix(world.chance.number(0...max(0, found.count))))
        }
        let opens = state == .ended && !found.isEmpty
        world.ledger.change { facts in
            if opens { facts.runs[run] = LedgerFacts.RunFacts() }
            for number in found { facts.replay(StoreKey(run: run, number: number)) }
        }
        world.statistics.replays += found.count
        return .reopened(
            run: run, store: store, count: found.count,
            failed: numbers(.failed, spec, nil).count, opensRun: opens, failure)
    }

    /// Carries out the end of a run.
    private func end(_ spec: RunSpec, isCancelled: Bool, but busy: Set<Int>) {
        let durable = world.ledger.durable
        let left = spec.stores.filter { key in
            let facts = durable.stores[key]
            return facts?.isUnfinished == true || facts?.state == .validated
        }
        world.ledger.change { facts in
            for key in left where isCancelled && !busy.contains(key.number) {
                // What has its new file is done.
                let isSwapped = world.stores[key]?.live != nil
                facts.stores[key]?.state = isSwapped ? .done : .cancelled
            }
            if !spec.stores.contains(where: { facts.stores[$0]?.isUnfinished == true }) {
                facts.runs[spec.run]?.isTidy = true
            }
        }
    }
}
