import ArgumentParser
import CommandSupport
import DurableFiles
import Foundation
import RunLedger

/// The options of commands that do the work on this machine, which a coordinator's do not have.
protocol LocalOptions: ParsableArguments {
    var workers: Int? { get }
    var state: String? { get }
}

extension LocalOptions {
    /// Checks the options.
    ///
    /// - Throws: `ValidationError`.
    func checkWorkers() throws {
        let limit = LocalArguments.workerLimit
        if let workers, !(1...limit).contains(workers) {
            throw ValidationError("--workers takes 1 to \(limit)")
        }
    }

    /// Jobs at a time.
    var slots: Int {
        let processors = max(1, ProcessInfo.processInfo.activeProcessorCount)
        return workers ?? min(processors, LocalArguments.workerLimit)
    }

    /// The folder of runs.
    ///
    /// - Parameters:
    ///   - arguments: with the paths of stores.
    ///   - output: the folder of the results, if any.
    /// - Returns: what `--state` names, or the place that goes with the stores, without symbolic
    ///   links.
    /// - Throws: `CommandFailure` where the first path cannot be read, and for a link that another
    ///   user has made.
    func stateFolder(
        of arguments: MigrationArguments, output: String?
    ) throws(CommandFailure) -> FilePath {
        try RunArguments.resolved(try place(of: arguments, output: output))
    }

    private func place(
        of arguments: MigrationArguments, output: String?
    ) throws(CommandFailure) -> FilePath {
        if let state { return FilePath(state) }
        let name = FilePath(".godwit")
        if let output { return FilePath(output).appending(name) }
        let first = FilePath(arguments.stores.first ?? arguments.filters.lists.first ?? ".")
        // The folder in which the first path stands, whatever the path is called there.
        let folder = try CommandFailure.translating {
            try FleetArguments.absolute(first).parent
        }
        // One beside the stores is meant, or refused, before any above.
        let beside = folder.appending(name)
        let isThere = try CommandFailure.translating {
            try FileStatus.ifPresentLink(beside.appending(Ledger.fileName)) != nil
        }
        return isThere ? beside : try RunArguments.nearestState(folder)
    }
}

/// Those of `migrate`.
struct LocalArguments: LocalOptions {
    @Option(
        help: """
            Number of worker processes; each runs one job at a time. Default: the number of \
            processors.
            """)
    var workers: Int?

    @Option(
        help: """
            The state folder: the ledger, the reports and, during a run, plans and shards. \
            Default: .godwit in --output; otherwise the nearest one next to the first PATH or in \
            a folder above it, or a new one next to that PATH.
            """)
    var state: String?

    /// The most jobs at a time.
    static let workerLimit = 256

    func validate() throws { try checkWorkers() }
}

/// Those of `plan`, which begins no run.
struct PlanPlace: LocalOptions {
    @Option(
        help: "Number of parallel jobs to plan for. Default: the number of processors.")
    var workers: Int?

    @Option(
        help: """
            The state folder that the later run will use. plan puts temporary files there and \
            removes them at the end. Default: TMPDIR.
            """)
    var state: String?

    func validate() throws { try checkWorkers() }
}
