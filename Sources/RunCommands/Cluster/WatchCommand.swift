package import ArgumentParser
import ClusterClient
import CommandSupport

/// `godwit watch`.
package struct WatchCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Follows a run of a coordinator to its end.",
        discussion: """
            It reconnects when the coordinator is back. Ctrl-C or another signal stops watch, \
            never the run.
            """)

    @Argument(help: "A run, such as r3. Default: the newest run.")
    package var target: String?

    @OptionGroup
    var connection: ConnectArguments

    @Flag(help: "Print one JSON value per line.")
    var json = false

    package init() {}

    package func run() throws {
        let clock = MonotonicClock.start()
        let coordinator = try ConnectedCoordinator(try connection.connection(), clock: clock)
        let run = try coordinator.run(try ConnectedTarget.run(target))
        let view = ClusterView(isLive: Console.isTerminal && !json, clock: clock)
        let lines = WatchLines(view, of: coordinator.connection, run: run)
        let session = WatchSession(
            coordinator.client, run: run,
            observer: json ? WatchValues(lines) : lines, endsWhenStopped: false)
        let ending = try session.followed(view)
        let end = RunEnd(
            ending, run: run, connection: coordinator.connection, leftOut: session.leftOut,
            failures: session.failures)
        // The events have said it all.
        if json { return }
        for line in end.lines { Console.print(line) }
    }
}
