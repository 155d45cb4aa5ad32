package import ClusterClient

extension ConnectedCoordinator {
    /// A coordinator over a connection of this command's own.
    ///
    /// - Throws: `ClientError`.
    package init(
        _ connection: CoordinatorConnection,
        clock: @escaping @Sendable () -> Double = MonotonicClock.start()
    ) throws(ClientError) {
        try self.init(connection, clock: clock, routingID: CoordinatorClient.randomID)
    }
}

extension CoordinatorClient {
    /// A routing id that no other client has.
    @Sendable package static func randomID() -> String { RandomText.hexadecimal(bytes: 16) }
}

/// The target of a command over a connection: a run, for the rest is the coordinator's.
package enum ConnectedTarget {
    /// The run that an argument names.
    ///
    /// - Throws: `CommandFailure` with status 64 for the path of a store, which only a state
    ///   folder knows.
    package static func run(_ target: String?) throws(CommandFailure) -> String? {
        guard let target, target.contains("/") else { return target }
        throw .usage(
            "with --connect a target is a run, such as r3; to select one store, use --store "
                + "NUMBER (godwit watch shows the numbers)")
    }
}
