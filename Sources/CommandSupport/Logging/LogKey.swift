import ClusterClient
import Logging
import RunLedger

/// The keys of a log message's metadata: all that the project uses.
package enum LogKey: String, CaseIterable {
    /// What happened, as a word that scripts may look for.
    case kind
    /// The id of a run.
    case run
    /// The number of a store in its run.
    case store
    /// The name of a job in its store.
    case job
    /// The id of an attempt.
    case attempt
    /// The name of a worker.
    case worker
}

extension Logger.Metadata {
    /// The metadata of these values; nil ones are left out.
    package init(_ values: KeyValuePairs<LogKey, String?>) {
        self.init()
        for (key, value) in values {
            if let value { self[key.rawValue] = .string(value) }
        }
    }

    /// The text of a key's value; nil where there is none.
    package func text(_ key: LogKey) -> String? { self[key.rawValue].map { "\($0)" } }
}
