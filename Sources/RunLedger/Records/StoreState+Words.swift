import Jobs

extension StoreState {
    /// What the ledger's event of a change begins with; kept in ledgers, so it never changes.
    func words(becoming next: StoreState) -> String { rawValue + StoreState.becoming(next) }

    /// What an event that reports a store's new state ends with.
    static func becoming(_ next: StoreState) -> String { " → \(next.rawValue)" }
}
