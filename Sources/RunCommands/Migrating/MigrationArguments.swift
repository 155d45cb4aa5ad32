import ArgumentParser
import CommandSupport
import CoreDataStore
import MigrationPlans
import ModelCommands

/// The options that `plan` and `migrate` share.
struct MigrationArguments: ParsableArguments {
    @Argument(
        help: """
            Database files of stores, folders that hold stores, and patterns (*, ?, [a-z], **).
            """)
    var stores: [String] = []

    @OptionGroup(title: MigrationArguments.main)
    var models: ModelOptions

    @OptionGroup(title: "STORES IN FOLDERS")
    var filters: StoreFilters

    @OptionGroup(title: "HOW STORES ARE MIGRATED")
    var engine: EngineOptions

    /// The title of the section with the options that are used most.
    static let main = "MAIN OPTIONS"

    var to: ModelArgument { models.to }
    var from: ModelArgument? { models.from }

    func validate() throws {
        guard !stores.isEmpty || !filters.lists.isEmpty else {
            throw ValidationError("name at least one store, folder or list of stores")
        }
    }

    /// What the engine is told.
    ///
    /// - Returns: the options of a plan.
    /// - Throws: `CommandFailure` with status 64 for options that this version does not have or
    ///   that exclude each other.
    func options() throws(CommandFailure) -> PlanOptions { try engine.options() }
}

/// The models of a migration.
struct ModelOptions: ParsableArguments {
    @Option(
        name: .customLong("to"),
        help: """
            The destination model: .xcdatamodel, .xcdatamodeld[:VERSION], .mom, .momd[:VERSION], \
            a template store made by the new app version, or self (rewrite at the same version).
            """)
    var to: ModelArgument

    @Option(name: .customLong("from"), help: "The source model, for stores that hold none.")
    var from: ModelArgument?

    @OptionGroup
    var mappings: MappingOptions

    @OptionGroup
    var via: ViaOption
}

/// Where results go.
package struct OutputOption: ParsableArguments {
    @Option(
        help: """
            The folder of the results; Godwit creates it if needed. Default: Godwit swaps stores \
            in place.
            """)
    var output: String?
}
