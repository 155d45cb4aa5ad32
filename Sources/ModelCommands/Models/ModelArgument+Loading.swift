package import CommandSupport
import CoreDataStore
package import DurableFiles
import Foundation
import ManagedObjectModel
import ModelFiles
import RunReports
import SafeSQLite

extension ModelArgument {
    /// What a model may be, for messages.
    package static let acceptedForms = """
        A model is an .xcdatamodel, an .xcdatamodeld[:VERSION], a .mom, a .momd[:VERSION], or a \
        store that holds its model
        """

    /// Reads the model that the argument names.
    ///
    /// - Parameters:
    ///   - option: through which the argument came, such as `--to`; messages name it.
    ///   - scratch: an existing folder for the snapshot of a store that is not at rest.
    ///   - checksPages: whether all pages of a store are checked before its model is trusted.
    /// - Returns: the model with what its origin knows beyond it.
    /// - Throws: `CommandFailure` with status 64 for a path at which nothing can be read and for
    ///   `self`, 65 for a file that is no model or whose model cannot be used.
    package func load(
        option: String? = nil, scratch: FilePath, checksPages: Bool = true
    ) throws(CommandFailure) -> LoadedModel {
        let label = option.map { "\($0) \(text)" } ?? text
        return try CommandFailure.translating {
            do {
                return try read(label, scratch: scratch, checksPages: checksPages)
            } catch ModelError.noVersion(let text) {
                throw CommandFailure.usage(option.map { "\($0): \(text)" } ?? text)
            } catch let error as ModelError {
                throw CommandFailure(.badData, "\(label): \(error)")
            } catch let error as StoreError {
                throw failure(error, label)
            }
        }
    }

    private func read(
        _ label: String, scratch: FilePath, checksPages: Bool
    ) throws -> LoadedModel {
        switch form {
        case .itself:
            throw CommandFailure.usage("\(label) must be a model here, not self")
        case .source(let path):
            return LoadedModel(model: try XMLModelReader.read(try url(path, label)), name: text)
        case .sourceBundle(let path, let version):
            let bundle = try url(path, label)
            let versions = try BundleVersions(source: bundle, version: version)
            return LoadedModel(
                model: try ModelBundle.read(bundle, version: versions.chosen), name: text,
                versions: versions)
        case .compiled(let path):
            return try loaded(CompiledModel.read(mom: try url(path, label)), versions: nil)
        case .compiledBundle(let path, let version):
            let bundle = try url(path, label)
            return try loaded(
                CompiledModel.read(momd: bundle, version: version),
                versions: BundleVersions(compiled: bundle, version: version))
        case .store(let path):
            guard try checkedStatus(FilePath(path), label).isRegularFile else {
                throw CommandFailure.usage("\(label) is not a model. \(Self.acceptedForms)")
            }
            return try stored(FilePath(path), scratch: scratch, checksPages: checksPages)
        }
    }

    private func loaded(
        _ compiled: CompiledModel, versions: BundleVersions?
    ) throws(ModelError) -> LoadedModel {
        LoadedModel(
            model: compiled.model, name: text, storedHashes: compiled.storedHashes,
            modelCache: try Deflate.compress(compiled.archive), versions: versions)
    }

    private func stored(
        _ path: FilePath, scratch: FilePath, checksPages: Bool
    ) throws -> LoadedModel {
        let folder = scratch.appending("model")
        try DurableFileSystem().makeFolder(folder)
        defer { ScratchFolder.discard(folder) }
        let real = try DurableFileSystem(links: .followed).resolve(path)
        let store = try StoreOpener().open(
            StoreLocation(real), scratch: folder, checksPages: checksPages)
        return LoadedModel(
            model: store.model, name: text, storedHashes: store.metadata.versionHashes,
            modelCache: store.modelCache, framework: store.metadata.framework)
    }

    /// What is wrong with a file that was read as a store because its name is no model's.
    private func failure(_ error: StoreError, _ label: String) -> CommandFailure {
        switch error {
        case .notAStore(_, let reason):
            CommandFailure(
                .badData, "no model can be read from \(label): \(reason). \(Self.acceptedForms)")
        case .modelMissing:
            CommandFailure(
                .badData,
                "\(label) is a store that holds no model. \(Self.acceptedForms)")
        case .unsupported, .inputOutput, .outOfSpace, .layoutUnknown, .layoutDiffers, .modelDiffers,
            .externalDataMissing, .inUse, .changed, .cancelled:
            CommandFailure(CommandStatus(error), "\(label): \(error)")
        }
    }

    private func url(_ path: String, _ label: String) throws(CommandFailure) -> URL {
        _ = try checkedStatus(FilePath(path), label)
        return URL(fileURLWithPath: path)
    }

    /// The status of a path that can be read.
    ///
    /// - Throws: `CommandFailure` with status 64 where nothing is there or may be read.
    private func checkedStatus(
        _ path: FilePath, _ label: String
    ) throws(CommandFailure) -> FileStatus {
        let files = DurableFileSystem(links: .followed)
        do throws(DurableFileError) {
            let status = try FileStatus(of: path)
            if status.isRegularFile { _ = try files.openForReading(path) }
            if status.isFolder { _ = try files.names(in: path) }
            return status
        } catch {
            if error.isMissing { throw .usage("\(label) does not exist; name a model") }
            throw .usage("\(label) cannot be read: \(error)")
        }
    }
}
