import ClusterProtocol
import Jobs

/// Messages as short texts for the trace.
///
/// Everything that a later decision could depend on is in them, and no order of a dictionary.
enum MessageText {
    static func text(_ message: WorkerMessage) -> String {
        switch message {
        case .hello(let hello):
            let held = hello.held.map { "\($0.attempt)@\($0.epoch)" }.joined(separator: " ")
            return "HELLO \(hello.worker) engine \(hello.engine) slots \(hello.slots) [\(held)]"
        case .ready(let free): return "READY \(free)"
        case .progress(let attempt, let rows, let bytes):
            return "PROGRESS \(attempt) \(rows) \(bytes)"
        case .done(let receipt): return "DONE \(text(receipt))"
        case .failed(let failure):
            let ended = failure.slotEnded ? " slot ended" : ""
            return "FAIL \(failure.attempt) \(failure.cause.rawValue)\(ended)"
        case .returned(let attempt): return "RETURNED \(attempt)"
        case .heartbeat(_, let running):
            return "HEARTBEAT [\(running.joined(separator: " "))]"
        case .bye: return "BYE"
        }
    }

    static func text(_ message: CoordinatorMessage) -> String {
        switch message {
        case .welcome(let welcome):
            let keep = welcome.keep.joined(separator: " ")
            let drop = welcome.drop.joined(separator: " ")
            return "WELCOME \(welcome.coordinator) keep [\(keep)] drop [\(drop)]"
        case .refused(let refusal): return "REFUSED \(refusal.code.rawValue)"
        case .jobs(let orders):
            return "JOBS " + orders.map(text).joined(separator: ", ")
        case .committed(let attempt): return "COMMITTED \(attempt)"
        case .denied(let attempt, let reason): return "DENIED \(attempt) \(reason.rawValue)"
        case .revoke(let attempt): return "REVOKE \(attempt)"
        case .drain: return "DRAIN"
        case .heartbeat: return "HEARTBEAT"
        case .bye: return "BYE"
        }
    }

    static func text(_ reply: ClientReply) -> String {
        switch reply {
        case .accepted(let run): return "ACCEPTED \(run)"
        case .refused(let refusal): return "REFUSED \(refusal.code.rawValue) \(refusal.text)"
        case .status(let report):
            let runs = report.runs.map { status in
                let reason = status.waitingFor.map { "\($0)" } ?? "moves"
                return "\(status.run) \(status.state) \(reason)"
            }
            return "STATUS \(runs.joined(separator: ", "))"
        case .event: return "EVENT"
        case .done: return "DONE"
        }
    }

    static func text(_ receipt: Receipt) -> String {
        let files = receipt.files.map { "\($0.file) \($0.digest.suffix(16))" }
        return "\(receipt.run)/\(receipt.store)/\(receipt.work.name) \(receipt.attempt)"
            + "@\(receipt.epoch) rows \(receipt.rows) [\(files.joined(separator: " "))]"
    }

    static func text(_ order: JobOrder) -> String {
        "\(order.job.run)/\(order.job.store)/\(order.job.work.name) \(order.attempt.id)"
            + "@\(order.attempt.epoch)"
    }
}
