import ClusterCore
import ClusterProtocol
import ClusterVocabulary
import DurableFiles
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import RunService
import RunSupervision
import StateFolders
import StoreDiscovery
import StoreRuns

// What clients ask for, and what they are told.

extension CoordinatorLoop {
    func take(_ request: ClientRequest, from client: ClientID) {
        switch request {
        case .submit(let wanted): submit(wanted, client)
        case .status(let run): status(of: run, client)
        case .workers:
            answer(.status(report(of: [])), to: client)
        case .watch(let run): watch(run, client)
        case .pause, .resume, .cancel, .throttle, .drain:
            handle(.request(request, from: client))
        case .replay(let run, let store):
            weigh(StoresAskedFor(run: run, store: store, purpose: .replay), client) {
                $0.handle(.request(request, from: client))
            }
        case .swap(let run, let store):
            weigh(StoresAskedFor(run: run, store: store, purpose: .swap), client) {
                $0.handle(.request(request, from: client))
            }
        }
    }

    /// Looks whether there is anything to do for a request, and refuses it where there is not.
    ///
    /// Where the ledger cannot be read it is accepted: what is accepted is tried until it is done.
    func weigh(
        _ asked: StoresAskedFor, _ client: ClientID,
        then: @escaping @Sendable (CoordinatorLoop) -> Void
    ) {
        // Who asks for more than there is place for is told so.
        if isQueueFull { return refuseForNow(client) }
        let ledger = ledger
        let isTaken = queues.answer { loop in
            do throws(LedgerError) {
                let refusal = try asked.refusal(ledger)
                loop.submit {
                    if let refusal { return $0.refuse(client, refusal.code, refusal.text) }
                    if $0.isQueueFull { return $0.refuseForNow(client) }
                    then($0)
                }
            } catch {
                loop.submit { then($0) }
            }
        }
        if !isTaken { refuseForNow(client) }
    }

    func answer(_ reply: ClientReply, to client: ClientID) {
        do throws(ProtocolError) {
            try peerConnections.reply(reply, to: client)
        } catch {
            dependencies.note(.unsendable("\(error)"))
        }
    }

    func refuseForNow(_ client: ClientID) {
        refuse(client, .notPossible, "there are too many requests at once; try again")
    }

    func refuse(
        _ client: ClientID, _ code: Refusal.Code, _ text: String, run: String? = nil
    ) {
        let refusal = Refusal(
            code: code, text: text, protocols: plan.settings.protocols, run: run)
        answer(.refused(refusal), to: client)
    }

    func refuseUnknown(_ run: String?, _ client: ClientID) {
        refuse(client, .noRun, "there is no run \(run ?? "") here", run: run)
    }

    /// Tells a peer that its message could not be taken.
    func refuse(
        _ client: ClientID, _ code: Refusal.Code, _ text: String, _ peer: PeerConnections.Peer
    ) {
        let refusal = Refusal(code: code, text: text, protocols: plan.settings.protocols)
        let isWorker: Bool =
            switch peer.identity {
            case .worker: true
            case .client: false
            case .local: peer.worker != nil
            }
        if isWorker { return say(.refused(refusal), to: peer.connection) }
        answer(.refused(refusal), to: client)
    }

    // MARK: - Beginning

    private func submit(_ wanted: SubmitRequest, _ client: ClientID) {
        let plan = plan
        let isTaken = queues.begin { loop in
            do throws(RunError) {
                let opening = try CoordinatorLoop.begin(wanted, plan)
                loop.submit { $0.open(opening, .submitted, for: client) }
            } catch {
                let refusal = Self.refusal(of: error, plan)
                loop.submit { $0.answer(.refused(refusal), to: client) }
            }
        }
        if !isTaken { refuseForNow(client) }
    }

    /// Why a run cannot begin, without folders of this machine.
    private static func refusal(of error: RunError, _ plan: CoordinatorPlan) -> Refusal {
        let protocols = plan.settings.protocols
        switch error {
        case .runOfOtherVersion(let id, let store, _, let engine):
            let text =
                "\(name(of: store, plan)) belongs to the unfinished run \(id), which a version of "
                + "Godwit with engine \(engine) began. Nothing was changed. Cancel that run"
            return Refusal(code: .otherRun, text: text, protocols: protocols, run: id)
        case .otherRun(let id, let store, _):
            let text =
                "\(name(of: store, plan)) belongs to the unfinished run \(id), which was "
                + "started with different paths, model or options. Nothing was changed. Run the "
                + "command of that run again, or cancel that run"
            return Refusal(code: .otherRun, text: text, protocols: protocols, run: id)
        case .noRoom(let shortage):
            let text =
                "\(shortage). No store was started. Free space there, or let the run wait for it"
            return Refusal(code: .badRequest, text: text, protocols: protocols)
        default: return Refusal(code: .badRequest, text: "\(error)", protocols: protocols)
        }
    }

    private static func begin(
        _ wanted: SubmitRequest, _ plan: CoordinatorPlan
    ) throws(RunError) -> Opening {
        let submitted = try SubmittedRequest(reading: wanted.request)
        var selection = StoreSelection()
        for path in wanted.paths { selection.paths.append(try plan.runs.roots.place(of: path)) }
        selection.include = submitted.include
        selection.exclude = submitted.exclude
        let output = try submitted.output.map { output throws(RunError) in
            try plan.runs.roots.resolve(output)
        }
        let fleet = try ClusterRuns(plan.runs).discover(selection, output: output)
        var request = try submitted.request(
            state: plan.runs.state, inputs: selection.paths, output: output,
            slots: plan.runs.slots)
        request.bounds = RunBounds(
            stores: wanted.limits.stores, jobs: wanted.limits.jobs,
            failures: wanted.limits.failures)
        var opening = try begin(
            request, over: fleet.stores, waitsForRoom: submitted.waitsForRoom, plan)
        opening.leftOut = fleet.skipped.filter(\.needsAttention)
            .map { "\($0.path): \($0.reason)" }
        return opening
    }

    /// Begins a run, or goes on with the same request's unfinished one.
    ///
    /// - Throws: `RunError.noRoom` where it shall not wait for room; nothing was begun then.
    static func begin(
        _ request: RunRequest, over stores: [FoundStore], waitsForRoom: Bool,
        _ plan: CoordinatorPlan
    ) throws(RunError) -> Opening {
        let runs = ClusterRuns(plan.runs)
        for store in stores { try plan.runs.roots.check(store) }
        let before = try runs.storeCounts()
        let overview = try runs.begin(request, over: stores)
        var opening = try Opening(overview, plan.runs)
        let shortage = try runs.reserve(opening.run)
        if let shortage, !waitsForRoom {
            if before[overview.id] == nil { try runs.giveUp(overview.id, "\(shortage)") }
            throw .noRoom(shortage)
        }
        if let changed = try runs.adoptSwaps(of: request, in: overview) {
            opening = try Opening(changed, plan.runs)
        }
        if let known = before[overview.id] {
            opening.isResumed = true
            opening.offer.added = try runs.storeCount(of: overview.id) - known
        }
        opening.offer.shortage = shortage.map { "\($0)" }
        return opening
    }

    // MARK: - Status

    private func status(of run: String?, _ client: ClientID) {
        gather(run, { $0.refuse(client, $1) }) { loop, report in
            guard run == nil || !report.runs.isEmpty else {
                return loop.refuseUnknown(run, client)
            }
            loop.answer(.status(report), to: client)
        }
    }

    /// Why nothing could be gathered.
    enum Failure: Sendable {
        case tooMuch
        case unreadable(LedgerError)
    }

    func refuse(_ client: ClientID, _ failure: Failure) {
        switch failure {
        case .tooMuch: refuseForNow(client)
        case .unreadable(let error):
            refuse(client, .notPossible, "the ledger could not be read: \(error)")
        }
    }

    /// Reads what the ledger knows and joins it with what the machine says; either `failed` or
    /// `done` is called.
    func gather(
        _ run: String?, _ failed: @escaping @Sendable (CoordinatorLoop, Failure) -> Void,
        _ done: @escaping @Sendable (CoordinatorLoop, StatusReport) -> Void
    ) {
        let ledger = ledger
        // Without the others of the ledger, where those are none of this coordinator's business.
        let own = plan.resumesRuns ? nil : ownRuns
        let wanted = (run.map { [$0] } ?? own).map { RunStats.Selection.named($0) }
        let selection = wanted ?? .newest(Self.shownRuns)
        // Reading would wait for commits of others: what is known is answered at once.
        if let known = ledger.knownFigures(of: selection) {
            return done(self, report(of: known))
        }
        let isTaken = queues.answer { loop in
            do throws(LedgerError) {
                let figures = try ledger.figures(of: selection)
                loop.submit { done($0, $0.report(of: figures)) }
            } catch {
                loop.submit {
                    $0.noteOutage("\(error)")
                    failed($0, .unreadable(error))
                }
            }
        }
        if !isTaken { failed(self, .tooMuch) }
    }

    /// The newest runs that a status of all shows.
    static var shownRuns: Int { 64 }

    private func report(of figures: [RunStats]) -> StatusReport {
        let machine = supervisor.machine.report()
        let known = Dictionary(
            (machine.runs + ended.reversed()).map { ($0.run, $0) },
            uniquingKeysWith: { first, _ in first })
        return StatusReport(
            coordinator: plan.settings.coordinator, engine: MigrationPlan.engineVersion,
            runs: figures.map { figures in
                RunStatus(
                    figures, machine: known[figures.run], meter: handles[figures.run]?.meter,
                    waitingFor: blockedReason ?? supervisor.waitingReason(of: figures.run))
            }, workers: machine.workers)
    }
}
