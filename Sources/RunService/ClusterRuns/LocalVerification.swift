package import CoreDataStore
package import DurableFiles
package import ManagedObjectModel
import MappingInference
package import MappingModel
import MigrationEngine
import MigrationPlanning
package import MigrationPlans
package import MigrationValidation
import SafeSQLite
package import StateFolders
import StoreFileChecks
package import StoreRuns
import ValidationScans

/// The validation stage alone: a store against the result of its migration by any program.
package struct LocalVerification: Sendable {
    /// The original.
    package var source: FilePath
    /// The result.
    package var destination: FilePath
    /// What the result should be; nil takes the model that it holds.
    package var choice: DestinationChoice?
    /// The source's model, for a store that holds none.
    package var sourceModel: Model?
    /// What was asked for references to objects that are gone.
    package var dangling: DanglingPolicy
    /// Mapping files; the one for the source's version counts.
    package var mappings: [MappingChoice]
    /// The versions that the migration went through.
    package var ways = VersionWays()

    package init(
        source: FilePath, destination: FilePath, choice: DestinationChoice? = nil,
        sourceModel: Model? = nil, dangling: DanglingPolicy = .keep,
        mappings: [MappingChoice] = []
    ) {
        self.source = source
        self.destination = destination
        self.choice = choice
        self.sourceModel = sourceModel
        self.dangling = dangling
        self.mappings = mappings
    }

    /// Compares the stores on the caller's thread; neither is changed.
    ///
    /// - Parameters:
    ///   - scratch: an existing folder of our own for snapshots of stores not at rest.
    ///   - opened: told the source and the destination before they are compared.
    /// - Returns: what was found; inherited faults do not make it unequal.
    /// - Throws: `RunError` where a store or a model cannot be used, also where the result is
    ///   not of the model that it should be of.
    package func run(
        scratch: FilePath, opened: (SourceStore, SourceStore) -> Void = { _, _ in }
    ) throws(RunError) -> ValidationReport {
        try RunError.translating { try compare(scratch: scratch, opened: opened) }
    }

    private func compare(
        scratch: FilePath, opened: (SourceStore, SourceStore) -> Void
    ) throws -> ValidationReport {
        var original = try open(source, given: sourceModel, in: scratch.appending("source"))
        let given: Model? =
            switch choice {
            case .itself: original.model
            case .model(let model): model.model
            case nil: nil
            }
        let result = try openResult(given: given, in: scratch.appending("destination"))
        opened(original, result)
        let way = try way(original, result)
        let mapping = way?.legs.last?.inference.mapping ?? Mapping.identity(original.model)
        var written: [WrittenStore] = []
        if let way, way.legs.count > 1 {
            let planned = try stepped(original, result, in: scratch.appending("steps"))
            (original, written) = (planned.source, planned.written)
        }
        let extras = try ExtraObjectTrial(store: original, destination: result.layout).outcomes()
        let scope = ValidationScope(
            source: original.layout, destination: result.layout, mapping: mapping,
            highestKeys: try highestKeys(of: original), splits: try splits(of: original, mapping),
            dangling: dangling, hashes: expectedHashes(result),
            keptObjects: extras.filter(\.isKept).map(\.object))
        let files = ValidationFiles(
            source: original.database, sourceExternalData: original.externalData,
            destination: result.database, destinationExternalData: result.externalData)
        return try Validator(scope: scope, files: files).run().after(written)
    }

    /// The store that the last steps begin with, made again where steps need that it is written.
    private func stepped(
        _ original: SourceStore, _ result: SourceStore, in folder: FilePath
    ) throws -> PlannedStore {
        try DurableFileSystem().makeFolder(folder)
        var model = try DestinationModel(template: result)
        if case .model(let chosen) = choice { model = chosen }
        var options = options
        options.strategy = .whole
        options.dangling = dangling
        options.allowsMissingExternalData = true
        options.history = result.hasHistory ? .keep : .drop
        options.framework = result.metadata.framework
        let output = folder.appending("result.sqlite")
        return try StorePreparation(
            store: original.path,
            request: RunRequest(
                destination: .model(model), sourceModel: sourceModel, options: options,
                output: folder, state: folder, inputs: [original.path], slots: 1,
                waitsForRoom: false),
            places: StorePaths(
                folder: folder, mark: "verify", number: 1, result: StoreLocation(output)),
            files: DurableFileSystem(), cache: MigrationCache(), slots: 1, checksPages: false,
            steps: .written(PolicyLibrary())
        ).prepare()
    }

    /// Which objects of the source the filters of a mapping tell apart.
    private func splits(
        of store: SourceStore, _ mapping: Mapping
    ) throws(StoreError) -> [SourceSplit] {
        let connection = try store.connect()
        let splits = try SplitSearch.splits(
            in: connection, layout: store.layout, mapping: mapping)
        try connection.close()
        return splits
    }

    private func open(
        _ path: FilePath, given: Model?, in folder: FilePath
    ) throws -> SourceStore {
        try DurableFileSystem().makeFolder(folder)
        // A path as the user gave it; from here on no link is followed.
        let real = try DurableFileSystem(links: .followed).resolve(path)
        return try StoreOpener().open(StoreLocation(real), scratch: folder, given: given)
    }

    /// The same for the result, whose model comes from another option.
    private func openResult(given: Model?, in folder: FilePath) throws -> SourceStore {
        do {
            return try open(destination, given: given, in: folder)
        } catch let error as StoreError {
            switch error {
            case .modelDiffers(let path, let entities):
                throw RunError.resultOfOtherModel(path, entities: entities)
            case .modelMissing(let path): throw RunError.resultWithoutModel(path)
            default: throw error
            }
        }
    }

    private var options: PlanOptions {
        var options = PlanOptions()
        options.mappings = mappings
        options.ways = ways
        return options
    }

    /// How the original becomes the result; nil where stores of one version were rewritten: then
    /// every property comes from itself.
    private func way(_ original: SourceStore, _ result: SourceStore) throws -> MappedWay? {
        if original.metadata.versionHashes == result.metadata.versionHashes { return nil }
        return try MappedWay(
            from: MappedWay.End(
                name: "of the store", model: original.model,
                hashes: VersionHashes(read: original.metadata.versionHashes)),
            to: MappedWay.End(
                name: "of the result", model: result.model,
                hashes: VersionHashes(read: result.metadata.versionHashes)),
            options: options, cache: PlanningCache())
    }

    private func expectedHashes(_ result: SourceStore) -> VersionHashes {
        if case .model(let model) = choice { return model.hashes }
        return VersionHashes(read: result.metadata.versionHashes)
    }

    /// The highest key ever used in each table: offsets of keys follow from it.
    private func highestKeys(of store: SourceStore) throws(StoreError) -> [String: Int64] {
        let connection = try store.connect()
        var keys: [String: Int64] = [:]
        for table in store.layout.tables {
            let used = try connection.integer(
                "SELECT max(Z_PK) FROM \(SQLText.quoted(table.name))")
            let number = Int64(store.layout.number(of: table.rootEntity) ?? 0)
            let given = store.primaryKeys.row(number: number)?.maximum ?? 0
            keys[table.name] = max(used ?? 0, given)
        }
        try connection.close()
        return keys
    }
}
