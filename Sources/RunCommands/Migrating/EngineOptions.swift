import ArgumentParser
import CommandSupport
import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import ModelCommands
import RunReports

/// The options that say how a store is migrated.
struct EngineOptions: ParsableArguments {
    @Option(help: "How to migrate a store. auto chooses by its size.")
    var strategy = StrategyArgument.auto

    @Option(
        help: """
            How to split tables into chunks: auto, key, entity or uuid:<Entity>.<attribute>. \
            Repeat the option for several uuid attributes.
            """)
    var partition: [PartitionArgument] = []

    @Option(
        help: """
            Maximum size of a chunk, at least 4096 bytes, such as 1MiB. Default: 64MiB. \
            --chunk-bytes and --partition imply --strategy partitioned.
            """)
    var chunkBytes: ByteSize?

    @Option(help: "Drop or keep persistent history.")
    var history = HistoryPolicy.drop

    @Option(help: "Keep or nullify references to missing objects.")
    var dangling = DanglingPolicy.keep

    @OptionGroup
    var losses: LossOptions

    @Flag(help: "Also migrate stores whose version is newer than the destination.")
    var allowOlder = false

    @Flag(help: "Migrate stores with missing external data files and keep the references.")
    var allowMissingExternal = false

    @Flag(help: "With --output: hard-link external data files instead of copying them.")
    var linkExternal = false

    @Option(
        help:
            "The Core Data framework version to record in results, 637 or later, such as 1522.")
    var framework: Int?

    /// The least bytes of a chunk: a page, below which cutting costs and bounds nothing.
    static let leastChunkBytes: Int64 = 4096

    /// Refuses links to external data where there is no other folder to make them in.
    ///
    /// - Parameter output: the folder of the results; nil for a swap in place.
    /// - Throws: `ValidationError`.
    func checkLinks(output: String?) throws {
        guard linkExternal, output == nil else { return }
        throw ValidationError(
            "--link-external needs --output: in place, external data files stay where they are")
    }

    func validate() throws {
        // Stores of earlier versions hold no model, without which no program reads the result.
        if let framework, !(637...1_000_000).contains(framework) {
            throw ValidationError("--framework must be 637 or later, such as 1522")
        }
        if let chunkBytes, chunkBytes.bytes < Self.leastChunkBytes {
            throw ValidationError(
                "--chunk-bytes must be at least \(Self.leastChunkBytes) (one page)")
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
                    "--strategy whole cannot be used with --partition and --chunk-bytes")
            }
            chosen = .partitioned
        }
        return PlanOptions(
            strategy: chosen, partition: try PartitionArgument.mode(partition),
            chunkBytes: chunkBytes?.bytes ?? PlanOptions.standardChunkBytes, history: history,
            dangling: dangling,
            allowsMissingExternalData: allowMissingExternal, linksExternalData: linkExternal,
            framework: framework.map { FrameworkVersion($0) },
            losses: losses.policy())
    }
}
