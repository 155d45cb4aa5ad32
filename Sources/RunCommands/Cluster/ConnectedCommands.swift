import ArgumentParser
import ClusterClient
import ClusterProtocol
import CommandSupport

// What commands on runs do where --connect names a coordinator instead of a state folder.

extension StatusCommand {
    /// Shows where a coordinator's runs and workers stand.
    func show(_ connection: CoordinatorConnection) throws {
        let run = try ConnectedTarget.run(arguments.target)
        let report = try ConnectedCoordinator(connection).status(of: run)
        if json { return try Console.printJSON(ClusterEntry(report)) }
        let runs = report.runs.sorted { RunNumber($1.run) < RunNumber($0.run) }
        if runs.isEmpty { Console.print("no runs yet; start one with godwit submit") }
        for run in runs {
            for line in ClusterPicture.block(of: run, width: 80) { Console.print(line) }
        }
        Console.print("")
        if report.workers.isEmpty {
            Console.print("no worker is connected")
        } else {
            for line in WorkerTable.lines(report.workers) { Console.print(line) }
        }
    }
}

extension CancelCommand {
    /// Gives up a coordinator's run, which has to be named.
    func cancel(_ connection: CoordinatorConnection) throws {
        guard let run = try ConnectedTarget.run(arguments.target) else {
            throw CommandFailure.usage("name the run to cancel, such as r3")
        }
        try ConnectedCoordinator(connection).perform(.cancel(run: run))
        Console.print("run \(run) is cancelled; stores that it swapped stay swapped")
    }
}

extension ReplayCommand {
    /// Has a coordinator run again what failed.
    func replay(_ connection: CoordinatorConnection) throws {
        guard workers == nil, !noWait else {
            throw CommandFailure.usage(
                "--workers and --no-wait cannot be used with --connect: the run keeps its own "
                    + "settings")
        }
        let target = try ConnectedTarget.run(arguments.target)
        let coordinator = try ConnectedCoordinator(connection)
        let run = try coordinator.run(target)
        let accepted = try coordinator.begin(
            .replay(run: run, store: choice.store), of: run)
        if json { return try Console.printJSON(AcceptedRun(run: accepted)) }
        Console.print("the replay of run \(accepted) has started")
        Console.print("follow it with: godwit watch \(accepted) \(connection.options)")
    }
}

extension SwapCommand {
    /// Has a coordinator swap in what waits for it.
    func swap(_ connection: CoordinatorConnection) throws {
        let target = try ConnectedTarget.run(arguments.target)
        let coordinator = try ConnectedCoordinator(connection)
        let run = try coordinator.run(target)
        let accepted = try coordinator.begin(.swap(run: run, store: choice.store), of: run)
        Console.print("run \(accepted) is swapping in its waiting results")
        Console.print("follow it with: godwit watch \(accepted) \(connection.options)")
    }
}
