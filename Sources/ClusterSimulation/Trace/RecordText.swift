import ClusterVocabulary
import Jobs

/// Records and tasks of the coordinator as short texts for the trace.
enum RecordText {
    static func text(_ record: CoordinatorRecord) -> String {
        switch record {
        case .runChanged(let run, let state, let reason): "\(run) \(state) \(reason.text)"
        case .storePrepared(let store, _): "\(store) prepared"
        case .storeChanged(let store, let state, let reason):
            "\(store) \(state) \(reason.map { "\($0.cause.rawValue) \($0.text)" } ?? "")"
        case .progressReset(let store, let reason): "\(store) reset: \(reason)"
        case .attemptBegan(let store, let work, let attempt, let epoch, let worker):
            "\(store)/\(work.name) begins \(attempt)@\(epoch) on \(worker)"
        case .accepted(let receipt): "accepted \(MessageText.text(receipt))"
        case .attemptFailed(let store, let attempt, let reason):
            "\(store) failed \(attempt) \(reason.cause.rawValue)"
        case .epochRaised(let store, let work, let epoch):
            "\(store)/\(work.name) epoch \(epoch)"
        case .jobQuarantined(let store, let work, let reason):
            "\(store)/\(work.name) quarantined \(reason.cause.rawValue)"
        case .workerQuarantined(let worker, let reason): "\(worker) quarantined: \(reason)"
        case .swapIntended(let store): "\(store) swap intended"
        }
    }

    static func text(_ kind: CoordinatorTask.Kind) -> String {
        switch kind {
        case .prepare: "prepare"
        case .admit(let receipt): "admit \(MessageText.text(receipt))"
        case .step(let index, let step, let shards):
            "step \(index) \(text(step)) [\(shards.map(\.attempt).joined(separator: " "))]"
        case .index: "index"
        case .validate: "validate"
        case .keep: "keep"
        case .swap: "swap"
        }
    }

    private static func text(_ step: StorePlan.Step) -> String {
        switch step {
        case .append(let chunk): "append \(chunk)"
        case .merge(let chunks): "merge \(chunks.lowerBound)..<\(chunks.upperBound)"
        case .link(let chunk): "link \(chunk)"
        }
    }
}
