import ClusterProtocol
import Jobs
import CommandSupport
import RunLedger
import RunReports
import StoreRuns
import Synchronization

/// What became of stores whose swap was asked for.
final class SwapLog: Sendable {
    /// How the last try of a store ended.
    enum Outcome: Hashable, Sendable {
        case swapped
        /// Its result waits on; the text says why.
        case waits(String)
        case failed

        /// What is reported of the store.
        func change(_ store: StoreSummary, _ record: StoreRecord?) -> CommandChange {
            let path = store.found.path
            switch self {
            case .swapped: return CommandChange(path: path, text: "swapped in")
            case .waits(let reason):
                return CommandChange(
                    path: path,
                    text: "not swapped. Godwit kept the result. Fix the cause, then run godwit "
                        + "swap again", failure: CommandFailure(.canBeRepeated, reason))
            case .failed:
                let status: CommandStatus =
                    if case .failure(let cause)? = record { CommandStatus(cause) } else { .bug }
                return CommandChange(
                    path: path, text: "not swapped",
                    failure: CommandFailure(status, store.reason?.text ?? "it failed"))
            }
        }
    }

    private let outcomes = Mutex<[Int: Outcome]>([:])

    /// Takes in what happened.
    func take(_ event: WatchEvent) {
        guard case .note(let note) = event, let store = note.store else { return }
        let outcome: Outcome
        switch note.kind {
        case "store-done": outcome = .swapped
        case "store-validated":
            // The state stands before the reason.
            let state = "\(StoreState.validated.rawValue): "
            outcome = .waits(
                note.text.hasPrefix(state)
                    ? String(note.text.dropFirst(state.count)) : note.text)
        case "store-failed": outcome = .failed
        default: return
        }
        outcomes.withLock { $0[store] = outcome }
    }

    /// How a store ended; nil where its swap was not asked for.
    func outcome(of store: Int) -> Outcome? { outcomes.withLock { $0[store] } }
}
