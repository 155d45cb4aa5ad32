import ClusterVocabulary
import Jobs

/// What checkers must remember that neither the ledger nor the world does.
struct CheckerMemory {
    /// When each open attempt's lease last began to run, in true time.
    private(set) var renewals: [String: Int64] = [:]
    private var coordinatorBegan: Int64 = 0

    /// The connection by which the coordinator's present start welcomed each worker.
    private var welcomes: [String: ConnectionID] = [:]

    mutating func coordinatorStarted(_ now: Int64) {
        coordinatorBegan = now
        welcomes = [:]
    }

    mutating func welcomed(_ worker: String, _ connection: ConnectionID) {
        welcomes[worker] = connection
    }

    func isWelcome(_ worker: String, _ connection: ConnectionID) -> Bool {
        welcomes[worker] == connection
    }

    mutating func renewed(_ attempt: String, _ now: Int64) { renewals[attempt] = now }

    mutating func ended(_ attempt: String) { renewals[attempt] = nil }

    /// How long the attempt's lease has run without being renewed; a new start of the coordinator
    /// renews all.
    func age(of attempt: String, now: Int64) -> Int64 {
        now - max(renewals[attempt] ?? 0, coordinatorBegan)
    }
}
