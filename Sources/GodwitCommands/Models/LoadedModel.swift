import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel

/// A model with what its origin knows beyond the model itself.
struct LoadedModel {
    let model: Model
    /// Hashes as the origin stores them; nil where it stores none.
    let storedHashes: [String: [UInt8]]?
    /// The deflated archive for `Z_MODELCACHE`, where the origin has one.
    let modelCache: [UInt8]?
    /// The framework version of a store.
    let framework: FrameworkVersion?
    /// What the user should know of the model, in words.
    let warnings: [String]

    init(
        model: Model, name: String, storedHashes: [String: [UInt8]]? = nil,
        modelCache: [UInt8]? = nil, framework: FrameworkVersion? = nil
    ) {
        self.model = model
        self.storedHashes = storedHashes
        self.modelCache = modelCache
        self.framework = framework
        warnings = LoadedModel.warnings(of: model, name: name, storedHashes: storedHashes)
    }

    /// Stored hashes take precedence over computed ones.
    var hashes: VersionHashes {
        storedHashes.map { VersionHashes(read: $0) } ?? VersionHashes(model)
    }

    /// The model as the destination of a migration.
    func destination() throws(ModelError) -> DestinationModel {
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
                "\(name): the version hashes of \(list(entities)) follow rules that no known "
                    + "store proves; give the compiled .momd or a template store to be sure"
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

extension ModelArgument {
    /// Reads the model that the argument names.
    ///
    /// - Parameters:
    ///   - scratch: an existing folder for the snapshot of a store that is not at rest.
    ///   - given: the model of a store that holds none.
    ///   - checksPages: whether all pages of a store are checked before its model is trusted.
    /// - Returns: the model with what its origin knows beyond it.
    /// - Throws: `CommandFailure` with status 64 for what is no model at all and for `self`,
    ///   65 for a model that cannot be used.
    func load(
        scratch: FilePath, given: Model? = nil, checksPages: Bool = true
    ) throws(CommandFailure) -> LoadedModel {
        try CommandFailure.translating {
            switch form {
            case .itself:
                throw CommandFailure.usage("self is no model here: name one")
            case .source(let path):
                return LoadedModel(model: try XMLModelReader.read(try url(path)), name: text)
            case .sourceBundle(let path, let version):
                return LoadedModel(
                    model: try ModelBundle.read(try url(path), version: version), name: text)
            case .compiled(let path):
                return try compiled(try CompiledModel.read(mom: try url(path)))
            case .compiledBundle(let path, let version):
                return try compiled(try CompiledModel.read(momd: try url(path), version: version))
            case .store(let path):
                return try stored(
                    FilePath(path), scratch: scratch, given: given, checksPages: checksPages)
            }
        }
    }

    private func compiled(_ compiled: CompiledModel) throws(ModelError) -> LoadedModel {
        LoadedModel(
            model: compiled.model, name: text, storedHashes: compiled.storedHashes,
            modelCache: try Deflate.compress(compiled.archive))
    }

    private func stored(
        _ path: FilePath, scratch: FilePath, given: Model?, checksPages: Bool
    ) throws -> LoadedModel {
        guard try FileStatus(of: path).isRegularFile else {
            throw CommandFailure.usage(
                "\(path) is neither a model (.xcdatamodel, .xcdatamodeld, .mom, .momd) nor a store")
        }
        let folder = scratch.appending("model")
        try DurableFileSystem().makeFolder(folder)
        defer { ScratchFolder.discard(folder) }
        let store = try StoreOpener().open(
            path, scratch: folder, given: given, checksPages: checksPages)
        return LoadedModel(
            model: store.model, name: text, storedHashes: store.metadata.versionHashes,
            modelCache: store.modelCache, framework: store.metadata.framework)
    }

    /// The URL of a model file.
    ///
    /// - Throws: `CommandFailure` with status 64 where nothing is there.
    private func url(_ path: String) throws(CommandFailure) -> URL {
        do {
            guard try FileStatus.ifPresent(FilePath(path)) != nil else {
                throw CommandFailure.usage("\(FilePath(path)) does not exist; name a model")
            }
        } catch let failure as CommandFailure {
            throw failure
        } catch {
            throw CommandFailure(.inputOutput, "\(error)")
        }
        return URL(fileURLWithPath: path)
    }
}
