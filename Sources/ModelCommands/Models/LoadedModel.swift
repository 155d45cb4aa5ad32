package import CoreDataStore
package import ManagedObjectModel
package import ModelFiles

/// A model with what its origin knows beyond the model itself.
package struct LoadedModel {
    package let model: Model
    /// Hashes as the origin stores them; nil where it stores none.
    package let storedHashes: [String: [UInt8]]?
    /// The deflated archive for `Z_MODELCACHE`, where the origin has one.
    let modelCache: [UInt8]?
    /// The framework version of a store.
    let framework: FrameworkVersion?
    /// Reads the versions of the bundle that it comes from.
    package let reader: VersionReader?
    /// The bundle that it comes from.
    package var versions: BundleVersions? { reader?.bundle }
    /// What the user should know of the model, in words.
    package let warnings: [String]

    init(
        model: Model, name: String, storedHashes: [String: [UInt8]]? = nil,
        modelCache: [UInt8]? = nil, framework: FrameworkVersion? = nil,
        versions: BundleVersions? = nil
    ) {
        self.model = model
        self.storedHashes = storedHashes
        self.modelCache = modelCache
        self.framework = framework
        reader = versions.map { VersionReader($0) }
        warnings = LoadedModel.warnings(of: model, name: name, storedHashes: storedHashes)
    }

    /// Stored hashes take precedence over computed ones.
    package var hashes: VersionHashes {
        storedHashes.map { VersionHashes(read: $0) } ?? VersionHashes(model)
    }

    /// The model as the destination of a migration.
    package func destination() throws(ModelError) -> DestinationModel {
        try DestinationModel(
            model: model, storedHashes: storedHashes, modelCache: modelCache,
            templateFramework: framework)
    }

    private static func warnings(
        of model: Model, name: String, storedHashes: [String: [UInt8]]?
    ) -> [String] {
        let computed = VersionHashes(model)
        guard let storedHashes else {
            guard !computed.unconfirmed.isEmpty else { return [] }
            let entities = computed.unconfirmed.keys.sorted()
            return [
                "\(name): Godwit could not confirm how Core Data computes the version hashes of "
                    + "\(list(entities)). To be sure, give the compiled .momd or a template store"
            ]
        }
        let differing = computed.differences(from: storedHashes)
        guard !differing.isEmpty else { return [] }
        return [
            "\(name): its stored version hashes of \(list(differing)) differ from those "
                + "computed from the model; the stored ones are used"
        ]
    }

    private static func list(_ names: [String]) -> String {
        let shown = names.prefix(5).joined(separator: ", ")
        return names.count > 5 ? "\(shown) and \(names.count - 5) more" : shown
    }
}
