package import ClusterTables
import ClusterVocabulary

extension StateLogs {
    /// Listed transitions that were never taken, a line each; for people and for tests.
    package var missingText: [String] {
        texts("worker", workers) + texts("attempt", attempts) + texts("job", jobs)
            + texts("store", stores) + texts("run", runs) + texts("life", lives)
    }

    private func texts<State>(_ name: String, _ log: StateLog<State>) -> [String] {
        log.missing.map { "\(name): \($0.from) to \($0.to), \($0.cause)" }
    }
}
