package import ClusterProtocol
import Jobs
import Logging
import RunReports
package import Worker

// Events as log messages: how severe each is, and what it is about.

extension Logger {
    /// Logs what a coordinator notes.
    package func log(_ note: Note) {
        log(level: note.level, "\(note.text)", metadata: note.metadata)
    }

    /// Logs what a worker notes.
    package func log(_ note: WorkerNote) {
        log(level: note.level, "\(note)", metadata: note.metadata)
    }
}

extension Note {
    /// How severe it is; what comes with every job is for debugging.
    var level: Logger.Level {
        switch self {
        case .worker(_, let change):
            switch change {
            case .refused, .silent, .quarantined: .warning
            case .joined, .returned, .drains, .left: .info
            }
        case .store(_, _, let change):
            switch change {
            case .accepted, .stage, .secondAttempt: .debug
            case .ended(let state, _, _): state == .failed ? .error : .debug
            case .attemptFailed, .leaseExpired, .quarantined: .warning
            }
        case .run(_, let change):
            switch change {
            case .requestFailed: .error
            case .paused, .stopped, .filesLeftOut, .spaceUnknown: .warning
            default: .info
            }
        case .denied: .debug
        case .unexpected: .warning
        case .broken: .critical
        }
    }

    /// What it is about.
    var metadata: Logger.Metadata {
        Logger.Metadata([
            .kind: kind, .run: run, .store: store.map(String.init), .job: job?.name,
            .attempt: attempt, .worker: worker,
        ])
    }

    private var job: Work? {
        guard case .store(_, _, let change) = self else { return nil }
        return switch change {
        case .attemptFailed(let job, _), .leaseExpired(let job), .secondAttempt(let job): job.work
        case .accepted(let work, _, _), .quarantined(let work, _): work
        case .stage, .ended: nil
        }
    }

    private var jobAttempt: JobAttempt? {
        guard case .store(_, _, let change) = self else { return nil }
        return switch change {
        case .attemptFailed(let job, _), .leaseExpired(let job), .secondAttempt(let job): job
        case .accepted, .quarantined, .stage, .ended: nil
        }
    }

    private var attempt: String? {
        if case .denied(let attempt, _) = self { return attempt }
        return jobAttempt?.attempt
    }

    private var worker: String? {
        if case .worker(let name, _) = self { return name }
        return jobAttempt.flatMap { $0.worker.isEmpty ? nil : $0.worker }
    }
}

extension WorkerNote {
    /// How severe it is.
    var level: Logger.Level {
        switch self {
        case .slotBegan: .debug
        case .connecting, .welcomed, .drained, .terminating: .info
        case .refused: .error
        case .unanswered, .lost, .parted, .unreadable, .unsendable, .slotEnded, .cannotRemove,
            .cannotMeasure, .scratchExceeded:
            .warning
        }
    }

    /// What it is about.
    var metadata: Logger.Metadata {
        switch self {
        case .cannotRemove(let attempt, _), .scratchExceeded(let attempt, _):
            Logger.Metadata([.attempt: attempt])
        default: [:]
        }
    }
}
