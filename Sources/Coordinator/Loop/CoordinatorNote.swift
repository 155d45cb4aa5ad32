package import Jobs
package import ZeroMQ

/// What a coordinator tells its operators about itself; what it tells about runs and workers is a
/// `Note`.
package enum CoordinatorNote: Hashable, Sendable {
    /// A connection or a message was refused, as often as it says since the last note.
    case refused(PeerRefusal, times: Int)
    /// A worker said hello by a name that is not its key's.
    case falseName(worker: String, claimed: String)
    /// A message to a peer breaks the protocol's bounds.
    case unsendable(String)
    /// A task of a store failed; the machine decides what follows.
    case taskFailed(StoreKey, FailureCause, text: String)
    /// The ledger could not be read; it is tried again.
    case ledgerUnreadable(String)
    case ledgerReadable
    /// The ledger's disk has no room: nothing new begins until it has.
    case ledgerFull(String)
    case ledgerHasRoom
    /// Files of an ended or cancelled run stay until the next start.
    case runNotCleaned(run: String, text: String)
    /// Something that was made of a store stays.
    case storeNotCleaned(path: String, text: String)
    /// Roots could not be searched for files that ended runs left.
    case searchFailed(String)
    /// A run does not resume, because its stopped rollback cannot be finished.
    case rollbackUnfinished(run: String, text: String)
    /// The failures of an ended run could not be counted.
    case failuresUncounted(run: String, text: String)
    /// Something that must hold did not.
    case bug(String)
}

/// Why a coordinator refused a connection or a message.
package enum PeerRefusal: Hashable, Sendable {
    /// Keys or addresses do not get in.
    case access(AccessRefusal)
    /// The handshake failed before anybody was asked.
    case handshake(endpoint: String, reason: String)
    /// A worker's key was used for a request of a client.
    case workerKeyOfClient(worker: String)
    /// A client's key was used for a message of a worker.
    case clientKeyOfWorker
    case unreadable(peer: String, text: String)
    /// A request of a client that does not read its answers.
    case unreadAnswers
    /// More kinds than are counted one by one.
    case others
}

extension PeerRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .access(let refusal): "\(refusal)"
        case .handshake(let endpoint, let reason):
            "refused a connection at \(endpoint): \(reason)"
        case .workerKeyOfClient(let worker):
            "a command such as status used the key of the worker \(worker), which is only for "
                + "godwit work; commands need a key in allowed/clients"
        case .clientKeyOfWorker:
            "a worker used a client's key; godwit work needs a key in allowed/workers"
        case .unreadable(let peer, let text): "unreadable message from \(peer): \(text)"
        case .unreadAnswers: "dropped a request: its client does not read its answers"
        case .others: "refused connections with other keys or from other addresses"
        }
    }
}

extension CoordinatorNote: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let refusal, let times):
            times == 1 ? "\(refusal)" : "\(refusal) (\(times) times)"
        case .falseName(let worker, let claimed):
            "refused worker \(worker): it claims the name \(claimed)"
        case .unsendable(let text): "could not send a message: \(text)"
        case .taskFailed(let store, let code, let text):
            "\(store): a task failed (\(code)): \(text)"
        case .ledgerUnreadable(let text):
            "could not read the ledger; retrying: \(text)"
        case .ledgerReadable: "the ledger is readable again"
        case .ledgerFull(let text): "the ledger's disk is full: \(text)"
        case .ledgerHasRoom: "the ledger's disk has space again"
        case .runNotCleaned(let run, let text): "\(run): could not remove all its files: \(text)"
        case .storeNotCleaned(let path, let text):
            "could not remove all files of \(path): \(text)"
        case .searchFailed(let text): "cannot search for leftover files of runs: \(text)"
        case .rollbackUnfinished(let run, let text):
            "\(run): not resumed: its stopped rollback cannot be finished: \(text)"
        case .failuresUncounted(let run, let text):
            "\(run): could not count its failures: \(text)"
        case .bug(let text): "a bug: \(text)"
        }
    }
}
