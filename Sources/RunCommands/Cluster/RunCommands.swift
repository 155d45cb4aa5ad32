import ArgumentParser
import ClusterClient
import ClusterProtocol
import CommandSupport
import RunReports

/// `godwit pause`.
package struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Pauses a run of a coordinator: it starts no more jobs.",
        discussion: "Running jobs finish, and their results count.")

    @Argument(help: "The run, such as r3.")
    var target: String

    @OptionGroup
    var connection: ConnectArguments

    func run() throws {
        let coordinator = try ConnectedCoordinator(try connection.connection())
        try coordinator.perform(.pause(run: target))
        Console.print(
            "run \(target) is paused; resume it with: godwit resume \(target) "
                + coordinator.connection.options)
    }
}

/// `godwit resume`.
package struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Resumes a paused or stopped run of a coordinator.",
        discussion:
            "Also resumes a run that stopped automatically, for example because of --max-failures.")

    @Argument(help: "The run, such as r3.")
    var target: String

    @OptionGroup
    var connection: ConnectArguments

    func run() throws {
        let coordinator = try ConnectedCoordinator(try connection.connection())
        try coordinator.perform(.resume(run: target))
        Console.print("run \(target) is resumed")
    }
}

/// `godwit drain`.
package struct DrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Makes a worker finish its jobs and exit.")

    @Argument(help: "The worker's name, as godwit workers and godwit status show it.")
    var worker: String

    @OptionGroup
    var connection: ConnectArguments

    func run() throws {
        let coordinator = try ConnectedCoordinator(try connection.connection())
        try Self.check(worker, among: try coordinator.workers())
        try coordinator.perform(.drain(worker: worker))
        Console.print("worker \(worker) finishes its jobs and exits")
    }

    /// The most names that a refusal lists.
    private static let mostNames = 50

    /// Checks that there is such a worker.
    ///
    /// - Throws: `CommandFailure` with status 64 and the names of those that are there.
    static func check(_ name: String, among workers: [WorkerStatus]) throws(CommandFailure) {
        guard !workers.contains(where: { $0.name == name && $0.state != .gone }) else { return }
        let here = workers.filter { $0.state != .gone }.map(\.name).sorted()
        guard !here.isEmpty else {
            throw .usage("there is no worker \(name): no worker is connected")
        }
        var names = here.prefix(mostNames).joined(separator: ", ")
        if here.count > mostNames {
            names += " and \(grouped(here.count - mostNames)) more, which godwit workers lists"
        }
        throw .usage("there is no worker \(name). Connected workers: \(names)")
    }
}

/// `godwit workers`.
package struct WorkersCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "workers", abstract: "Lists the workers of a coordinator.")

    @OptionGroup
    var connection: ConnectArguments

    @Flag(help: "Print JSON.")
    var json = false

    func run() throws {
        let coordinator = try ConnectedCoordinator(try connection.connection())
        let workers = try coordinator.workers()
        if json { return try Console.printJSON(workers.map(ClusterEntry.Worker.init)) }
        guard !workers.isEmpty else {
            Console.print(
                "no worker is connected; start one with: godwit work --root NAME=FOLDER "
                    + coordinator.connection.workerOptions)
            return
        }
        for line in WorkerTable.lines(workers) { Console.print(line) }
    }
}

/// `godwit throttle`.
package struct ThrottleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "throttle",
        abstract: "Limits the speed of a run of a coordinator, or of all runs together.",
        discussion:
            "The limits apply from the next job. If you omit a limit, throttle removes it.")

    @Argument(help: "A run, such as r3. Default: all runs together.")
    var target: String?

    @OptionGroup
    var connection: ConnectArguments

    @Option(help: "Maximum number of jobs at a time.")
    var jobs: Int?

    @Option(help: "Maximum bytes of stores per second, such as 20MiB.")
    var bytesPerSecond: ByteSize?

    @Flag(help: "Remove the limits.")
    var off = false

    func validate() throws {
        let isLimited = jobs != nil || bytesPerSecond != nil
        guard isLimited != off else {
            throw ValidationError("give --jobs, --bytes-per-second or both, or --off")
        }
        if let jobs, !(1...MessageLimits.index).contains(jobs) {
            throw ValidationError(
                "--jobs must be at least 1. To start no jobs, use godwit pause")
        }
        if let bytesPerSecond, bytesPerSecond.bytes > MessageLimits.amount {
            throw ValidationError(
                "--bytes-per-second is too large. To remove the limit, use --off")
        }
    }

    func run() throws {
        let coordinator = try ConnectedCoordinator(try connection.connection())
        try coordinator.perform(
            .throttle(
                ThrottleSettings(
                    run: target, bytesPerSecond: bytesPerSecond?.bytes, jobs: jobs)))
        let what = target.map { "run \($0)" } ?? "all runs together"
        var limits: [String] = []
        if let jobs { limits.append("\(counted(jobs, "job")) at a time") }
        if let bytesPerSecond { limits.append("\(bytesPerSecond.words)/s") }
        Console.print("\(what): \(limits.isEmpty ? "no limit" : limits.joined(separator: ", "))")
    }
}
