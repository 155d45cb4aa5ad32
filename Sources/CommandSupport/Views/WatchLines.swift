package import ClusterClient
package import ClusterProtocol
import RunReports

/// Shows what a watch session hears on standard error.
package struct WatchLines: WatchObserver {
    private let view: ClusterView
    private let connection: CoordinatorConnection
    private let run: String?

    /// - Parameters:
    ///   - view: what shows it.
    ///   - connection: where the coordinator is.
    ///   - run: the one that the session follows, whose end the command reports; nil for all.
    package init(_ view: ClusterView, of connection: CoordinatorConnection, run: String?) {
        self.view = view
        self.connection = connection
        self.run = run
    }

    /// Shows what happened to runs.
    package func observe(_ event: WatchEvent) {
        switch event {
        case .status(let report): view.show(report, endingWith: run)
        // The command says at the end what was left out.
        case .note(.run(_, .filesLeftOut)): break
        case .note(let note): view.show(note)
        case .ended(let ended, let failures):
            guard ended != run else { return }
            view.log("\(ended): ended, \(counted(failures, "store")) not migrated")
        }
    }

    /// Shows what happened to the connection.
    package func observe(_ change: WatchConnection) {
        let endpoint = connection.endpoint
        switch change {
        case .silent(let time): again("no message from \(endpoint) for \(time.words)")
        case .lost: again("the connection to \(endpoint) is lost")
        case .handshakeRefused(let refusal):
            again(CommandFailure.text(of: refusal, connection))
        case .connectedAgain: view.log("connected to \(endpoint) again")
        case .endUnknown(let error):
            view.log("could not get details of the run's end: \(CommandFailure(error))")
        }
    }

    private func again(_ reason: String) {
        view.log("\(reason); the run continues; reconnecting")
    }
}

/// Prints what a watch session hears as JSON on standard output.
package struct WatchValues: WatchObserver {
    private let lines: WatchLines

    /// - Parameter lines: shows changes of the connection.
    package init(_ lines: WatchLines) { self.lines = lines }

    /// Prints what happened to runs.
    package func observe(_ event: WatchEvent) throws {
        try Console.printJSONLine(EventEntry(event))
    }

    /// Shows what happened to the connection.
    package func observe(_ change: WatchConnection) { lines.observe(change) }
}

extension WatchSession {
    /// Follows until the run is over or a signal comes, and then takes the view away.
    ///
    /// - Throws: `ClientError`, and what the observer throws.
    package func followed(_ view: ClusterView) throws -> Ending {
        Interruption.shared.atFirstSignal(interrupter)
        defer { view.end() }
        return try follow()
    }
}
