import CommandSupport
import Coordinator
import Jobs
import Logging

extension Logger {
    /// Logs what a coordinator tells about itself.
    func log(_ note: CoordinatorNote) {
        log(level: note.level, "\(note)", metadata: note.metadata)
    }
}

extension CoordinatorNote {
    /// How severe it is.
    fileprivate var level: Logger.Level {
        switch self {
        // Shown wherever warnings are, so that the end of an outage is seen.
        case .ledgerReadable, .ledgerHasRoom: .warning
        case .ledgerUnreadable, .ledgerFull, .rollbackUnfinished: .error
        case .bug: .critical
        case .refused, .falseName, .unsendable, .taskFailed, .runNotCleaned, .storeNotCleaned,
            .searchFailed, .failuresUncounted:
            .warning
        }
    }

    /// What it is about.
    fileprivate var metadata: Logger.Metadata {
        switch self {
        case .falseName(let worker, _): Logger.Metadata([.worker: worker])
        case .taskFailed(let store, _, _):
            Logger.Metadata([.run: store.run, .store: String(store.number)])
        case .runNotCleaned(let run, _), .rollbackUnfinished(let run, _),
            .failuresUncounted(let run, _):
            Logger.Metadata([.run: run])
        case .refused, .unsendable, .ledgerUnreadable, .ledgerReadable, .ledgerFull,
            .ledgerHasRoom, .storeNotCleaned, .searchFailed, .bug:
            [:]
        }
    }
}
