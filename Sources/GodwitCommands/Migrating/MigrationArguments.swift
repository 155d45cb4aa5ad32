import ArgumentParser
import CoreDataStore
import ManagedObjectModel
import MigrationEngine

/// The options that `plan` and `migrate` share.
struct MigrationArguments: ParsableArguments {
    @Argument(
        help: """
            Database files of stores, folders that hold stores, and patterns (*, ?, [a-z], **).
            """)
    var stores: [String] = []

    @Option(
        name: .customLong("stores"),
        help: "A file that names stores or folders, one a line; may be repeated.")
    var lists: [String] = []

    @Option(help: "Take only files of folders whose path fits this pattern; may be repeated.")
    var include: [String] = []

    @Option(help: "Leave out files of folders whose path fits this pattern; may be repeated.")
    var exclude: [String] = []

    @Option(
        name: .customLong("to"),
        help: """
            The destination model: .xcdatamodel, .xcdatamodeld[:VERSION], .mom, .momd[:VERSION], \
            a template store made by the new app version, or self (rewrite at the same version).
            """)
    var to: ModelArgument

    @Option(name: .customLong("from"), help: "The source model, for stores that hold none.")
    var from: ModelArgument?

    @Option(help: "auto, whole or partitioned (evolve is not available in this version).")
    var strategy = StrategyArgument.auto

    @Option(
        help: """
            How tables are cut: auto, key, entity or uuid:<Entity>.<attribute>; uuid: may be \
            repeated.
            """)
    var partition: [PartitionArgument] = []

    @Option(
        help: """
            Bytes that a chunk may hold, 4096 or more, such as 1MiB; 64MiB without it. This and \
            --partition mean --strategy partitioned.
            """)
    var chunkBytes: ByteSize?

    @Option(help: "What becomes of persistent history: drop or keep.")
    var history = HistoryPolicy.drop

    @Option(help: "What becomes of references to objects that are gone: keep or nullify.")
    var dangling = DanglingPolicy.keep

    @Flag(help: "Keep references to external data files that are not there.")
    var allowMissingExternal = false

    @Flag(help: "Hard-link external data files instead of copying them.")
    var linkExternal = false

    @Option(help: "The Core Data version to write as, 637 or later, such as 1522.")
    var framework: Int?

    @Flag(help: "Print JSON.")
    var json = false

    /// The least bytes of a chunk: a page, below which cutting costs and bounds nothing.
    static let leastChunkBytes: Int64 = 4096

    func validate() throws {
        // Stores of earlier versions hold no model, and nobody could read the result without it.
        if let framework, !(637...1_000_000).contains(framework) {
            throw ValidationError("--framework takes a version from 637 on, such as 1522")
        }
        if let chunkBytes, chunkBytes.bytes < Self.leastChunkBytes {
            throw ValidationError(
                "--chunk-bytes takes \(Self.leastChunkBytes) bytes, a page, or more")
        }
        guard !stores.isEmpty || !lists.isEmpty else {
            throw ValidationError("name at least one store, folder or list of stores")
        }
    }

    /// What the engine is told.
    ///
    /// - Throws: `CommandFailure` with status 64 for options that this version does not have or
    ///   that exclude each other.
    func options() throws(CommandFailure) -> PlanOptions {
        var chosen = try strategy.strategy()
        if !partition.isEmpty || chunkBytes != nil {
            // Who says how to cut wants it cut, however small the store is.
            guard chosen != .whole else {
                throw .usage(
                    "--strategy whole cuts nothing: leave out --partition and --chunk-bytes")
            }
            chosen = .partitioned
        }
        return PlanOptions(
            strategy: chosen, partition: try PartitionArgument.mode(partition),
            chunkBytes: chunkBytes?.bytes ?? PlanOptions.standardChunkBytes, history: history,
            dangling: dangling,
            allowsMissingExternalData: allowMissingExternal, linksExternalData: linkExternal,
            framework: framework.map { FrameworkVersion($0) })
    }
}
