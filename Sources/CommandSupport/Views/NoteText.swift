package import ClusterProtocol
import Jobs
import RunReports

// Notes as people read them: the one place that makes text of them.

extension Note {
    /// What happened, as a word that scripts may look for.
    package var kind: String {
        switch self {
        case .worker(_, let change): "worker-\(change.word)"
        case .store(_, _, let change): change.word
        case .run(_, let change): change.word
        case .denied: "denied"
        case .unexpected: "unexpected"
        case .broken: "broken-invariant"
        }
    }

    /// What happened, as a sentence.
    package var text: String {
        switch self {
        case .worker(let name, let change): "\(name) \(change.text)"
        case .store(_, let file, let change): change.text(of: file)
        case .run(let run, let change): change.text(of: run)
        case .denied(let attempt, let reason): "\(attempt) was denied: \(reason)"
        case .unexpected(let text), .broken(let text): text
        }
    }
}

extension Note {
    /// Whether reports say it, too, or it comes with every job.
    var isQuiet: Bool {
        switch self {
        case .store(_, _, let change):
            switch change {
            case .accepted, .stage, .secondAttempt, .quarantined: true
            case .ended(let state, _, let isEarlier):
                isEarlier || (state != .failed && state != .cancelled)
            case .attemptFailed, .leaseExpired: false
            }
        case .run(_, let change):
            switch change {
            case .began, .resumed, .paused, .awaitsSwap, .ended(.ended): true
            default: false
            }
        case .denied: true
        case .worker, .unexpected, .broken: false
        }
    }
}

extension Note.WorkerChange {
    fileprivate var word: String {
        switch self {
        case .joined: "joined"
        case .returned: "returned"
        case .refused: "refused"
        case .silent: "silent"
        case .drains: "drains"
        case .quarantined: "quarantined"
        case .left: "left"
        }
    }

    fileprivate var text: String {
        switch self {
        case .joined(let slots): "joined with \(counted(slots, "slot"))"
        case .returned(let attempts):
            "is back and continues \(counted(attempts, "attempt"))"
        case .refused(let reason): "was refused: \(reason)"
        case .silent: "is silent"
        case .drains: "is draining: it finishes its jobs, then exits"
        case .quarantined(let reason): "is quarantined for a while: \(reason)"
        case .left(let reason): "has left: \(reason)"
        }
    }
}

extension Note.StoreChange {
    fileprivate var word: String {
        switch self {
        case .attemptFailed: "attempt-failed"
        case .leaseExpired: "lease-expired"
        case .secondAttempt: "second-attempt"
        case .accepted: "job-accepted"
        case .quarantined: "chunk-quarantined"
        case .stage: "store-stage"
        case .ended(let state, _, let isEarlier):
            "store-\(state.rawValue)" + (isEarlier ? "-earlier" : "")
        }
    }

    /// The text, after the file unless it names that itself.
    fileprivate func text(of file: String?) -> String {
        guard let file, !text.contains(file) else { return text }
        return "\(file): \(text)"
    }

    private var text: String {
        switch self {
        case .attemptFailed(let job, let cause):
            "\(job.attempt) of \(job.work.name) failed on \(job.worker): \(cause)"
        case .leaseExpired(let job):
            "\(job.attempt) of \(job.work.name)\(job.worker.isEmpty ? "" : " on \(job.worker)") "
                + "made no progress for too long"
        case .secondAttempt(let job):
            "\(job.work.name) is slow; \(job.worker) also runs it as attempt \(job.attempt)"
        case .accepted(let work, let rows, let bytes):
            "\(work.name): \(counted(Int(rows), "row")), \(bytes) bytes"
        case .quarantined(let work, let cause): "\(work.name) is quarantined: \(cause)"
        case .stage(let stage): stage.rawValue
        case .ended(let state, let cause, _):
            state.rawValue + (cause.map { ": \($0.text)" } ?? "")
        }
    }
}

extension Note.RunChange {
    fileprivate var word: String {
        switch self {
        case .began, .resumed: "run-opened"
        case .paused: "run-paused"
        case .stopped: "run-stopped"
        case .ended(let state): "run-\(state.rawValue)"
        case .awaitsSwap: "run-awaits-swap"
        case .filesLeftOut: "files-left-out"
        case .requestFailed: "request-failed"
        case .reopened: "run-reopened"
        case .spaceUnknown: "space-unknown"
        case .swapsDeferred: "swaps-deferred"
        case .nothingFailed: "nothing-failed"
        case .nothingAwaitsSwap: "nothing-awaits-swap"
        }
    }

    fileprivate func text(of run: String) -> String {
        switch self {
        case .began: "the run begins"
        case .resumed: "the run resumes"
        case .paused(let reason): reason.text
        case .stopped(let reason): reason
        case .ended: "the run has ended"
        case .awaitsSwap(let stores):
            counted(stores, "store is", plural: "stores are")
                + " ready. To swap \(stores == 1 ? "it" : "them"): godwit swap \(run)"
        case .filesLeftOut(let count, let files): Note.leftOut(count, files)
        case .requestFailed(_, let text): text
        case .reopened(let stores): "reopened, because stores are not finished: \(stores)"
        case .spaceUnknown(let text): "cannot determine the free disk space: \(text)"
        case .swapsDeferred(let isDeferred):
            isDeferred ? "the run now defers its swaps" : "the run no longer defers its swaps"
        case .nothingFailed: "no store has failed: there is nothing to replay"
        case .nothingAwaitsSwap: "no store is ready to swap"
        }
    }
}

extension Note {
    /// What is said of files that a run left out.
    package static func leftOut(_ count: Int, _ files: [String]) -> String {
        var named = files.joined(separator: "; ")
        if count > files.count { named += "; and \(count - files.count) more" }
        return "skipped \(counted(count, "file")) that may contain user data: \(named)"
    }
}
