package import ManagedObjectModel
import ModelFiles

/// The model that stores are migrated to, with what its origin knows beyond the model itself.
package struct DestinationModel: Sendable {
    package let model: Model
    /// Hashes as a store or a compiled model names them; computed where neither does.
    package let hashes: VersionHashes
    /// The deflated archive for `Z_MODELCACHE`.
    package let modelCache: [UInt8]
    /// The framework version of a template store; nil for other origins.
    package let templateFramework: FrameworkVersion?
    /// `NSStoreModelVersionIdentifiers` in the order in which they are written.
    package private(set) var identifiers: [String]

    /// - Throws: `ModelError` when the model cannot be written as an archive.
    /// - Parameters:
    ///   - model: the destination.
    ///   - storedHashes: from a template store or a compiled model; they take precedence.
    ///   - modelCache: as a template store holds it; written from the model where nil.
    ///   - templateFramework: of a template store.
    package init(
        model: Model, storedHashes: [String: [UInt8]]? = nil, modelCache: [UInt8]? = nil,
        templateFramework: FrameworkVersion? = nil
    ) throws(ModelError) {
        self.model = model
        identifiers = model.versionIdentifiers
        hashes = storedHashes.map { VersionHashes(read: $0) } ?? VersionHashes(model)
        if let modelCache {
            self.modelCache = modelCache
        } else {
            self.modelCache = try Deflate.compress(ModelArchive.write(model))
        }
        self.templateFramework = templateFramework
    }

    /// The destination of `--to self`: the store's own model.
    ///
    /// Its version identifiers are those of the store's metadata, also where the model was given
    /// and has others.
    package init(of store: SourceStore) throws(ModelError) {
        let identifiers = store.metadata.versionIdentifiers
        var model = store.model
        if identifiers.sorted() != model.versionIdentifiers {
            model = try Model(
                entities: model.numberedEntities, versionIdentifiers: identifiers,
                configurations: model.configurations)
        }
        try self.init(
            model: model, storedHashes: store.metadata.versionHashes,
            modelCache: store.modelCache)
        self.identifiers = identifiers
    }

    /// The destination that a template store shows.
    package init(template store: SourceStore) throws(ModelError) {
        try self.init(
            model: store.model, storedHashes: store.metadata.versionHashes,
            modelCache: store.modelCache, templateFramework: store.metadata.framework)
    }

    /// The framework version to write a store as.
    ///
    /// - Parameters:
    ///   - asked: by the user; wins.
    ///   - source: of the store; used where no template tells, if it is new enough.
    /// - Returns: what was asked for, else the template's, else the newer one of the source's
    ///   and the newest verified.
    package func framework(
        asked: FrameworkVersion?, source: FrameworkVersion
    ) -> FrameworkVersion {
        asked ?? templateFramework ?? max(source, .newestVerified)
    }
}
