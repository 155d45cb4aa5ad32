import ClusterCore
import ClusterProtocol
import Jobs

extension CoordinatorNote {
    /// The note as watchers are told it; nil for what only counts.
    var watched: WatchNote {
        switch self {
        case .workerJoined(let worker, let slots):
            .free(
                "worker-joined",
                "\(worker) joined with \(slots) slot\(slots == 1 ? "" : "s")")
        case .workerReturned(let worker, let attempts):
            .free(
                "worker-returned",
                "\(worker) is back and continues \(attempts) "
                    + (attempts == 1 ? "attempt" : "attempts"))
        case .workerRefused(let worker, let reason):
            .free("worker-refused", "\(worker) was refused: \(reason)")
        case .workerSilent(let worker): .free("worker-silent", "\(worker) is not heard of")
        case .workerDrains(let worker):
            .free("worker-drains", "\(worker) finishes its jobs and exits")
        case .workerQuarantined(let worker, let reason):
            .free("worker-quarantined", "\(worker) gets no jobs for a while: \(reason)")
        case .workerLeft(let worker, let reason):
            .free("worker-left", "\(worker) has left: \(reason)")
        case .attemptFailed(let key, let work, let attempt, let worker, let cause):
            .store(
                "attempt-failed", key,
                "\(attempt) of \(work.name) failed on \(worker): \(cause)")
        case .leaseExpired(let key, let work, let attempt, let worker):
            .store(
                "lease-expired", key,
                // The worker that had it before the coordinator's start has not come back.
                "\(attempt) of \(work.name)\(worker.isEmpty ? "" : " on \(worker)") made no "
                    + "progress for too long")
        case .secondAttempt(let key, let work, let attempt, let worker):
            .store(
                "second-attempt", key,
                "\(work.name) takes long; \(worker) tries it, too, as \(attempt)")
        case .denied(let attempt, let reason): .free("denied", "\(attempt) was denied: \(reason)")
        case .jobAccepted(let key, let work, let rows, let bytes):
            .store(
                "job-accepted", key,
                "\(work.name): \(rows) row\(rows == 1 ? "" : "s"), \(bytes) bytes")
        case .jobQuarantined(let key, let work, let cause):
            .store("chunk-quarantined", key, "\(work.name) is quarantined: \(cause)")
        case .storeStage(let key, let stage): .store("store-stage", key, stage.rawValue)
        case .storeEnded(let key, let standing, let cause):
            .store(
                "store-\(standing.rawValue)", key,
                standing.rawValue + (cause.map { ": \($0.text)" } ?? ""))
        case .runPaused(let run, let reason): .run(WatchNote.runPaused, run, reason)
        case .runBegan(let run): .run("run-opened", run, "the run begins")
        case .runOpened(let run): .run("run-opened", run, "the run resumes")
        case .runStopped(let run, let reason): .run(WatchNote.runStopped, run, reason)
        case .runEnded(let run, let standing):
            .run("run-\(standing.rawValue)", run, "the run has ended")
        case .runAwaitsSwap(let run, let stores):
            .run(
                "run-awaits-swap", run,
                "nothing is left to do but the swap of \(stores) "
                    + "\(stores == 1 ? "store" : "stores"), which godwit swap \(run) asks for")
        case .odd(let text): .free("odd", text)
        case .broken(let broken): .free("broken-invariant", "\(broken)")
        }
    }

    /// Whether operators read it in the log.
    var isLogged: Bool {
        switch self {
        case .jobAccepted, .storeStage, .secondAttempt, .denied: false
        case .storeEnded(_, let standing, _): standing == .failed
        default: true
        }
    }
}

extension WatchNote {
    fileprivate static func free(_ kind: String, _ text: String) -> WatchNote {
        WatchNote(run: nil, store: nil, kind: kind, text: text)
    }

    fileprivate static func run(_ kind: String, _ run: String, _ text: String) -> WatchNote {
        WatchNote(run: run, store: nil, kind: kind, text: text)
    }

    fileprivate static func store(_ kind: String, _ key: StoreKey, _ text: String) -> WatchNote {
        WatchNote(run: key.run, store: key.number, kind: kind, text: text)
    }

    /// The note as a line of a log.
    var line: String {
        let place =
            switch (run, store) {
            case (let run?, let store?): "\(run)/\(store): "
            case (let run?, nil): "\(run): "
            case (nil, _): ""
            }
        return "\(kind): \(place)\(text)"
    }
}
