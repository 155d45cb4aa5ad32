package import Foundation
package import ManagedObjectModel

/// The versions of a bundle, `X.xcdatamodeld` or `X.momd`, read one at a time.
package struct BundleVersions: Sendable {
    /// One version as its file has it.
    package struct Version: Sendable {
        package let name: String
        package let model: Model
        /// As the compiler stored them, by entity; nil for a version of Xcode's own form.
        package let storedHashes: [String: [UInt8]]?
        /// The archive as it was in the file; nil for a version of Xcode's own form.
        package let archive: [UInt8]?

        /// Stored hashes take precedence over computed ones.
        package var hashes: VersionHashes {
            storedHashes.map { VersionHashes(read: $0) } ?? VersionHashes(model)
        }
    }

    private enum Form: Sendable {
        case source, compiled
    }

    private let bundle: URL
    private let form: Form
    /// Names in their natural order.
    package let names: [String]
    /// The version in use, where the bundle names one.
    package let current: String?
    /// The version that is meant; one of those there are.
    package let chosen: String

    /// Lists the versions of a folder of Xcode, `X.xcdatamodeld`.
    ///
    /// - Parameters:
    ///   - bundle: the folder.
    ///   - version: a name; nil for the current version, or for the only one.
    /// - Throws: `ModelError.unreadable` where there is no such version.
    package init(source bundle: URL, version: String?) throws(ModelError) {
        self.bundle = bundle
        form = .source
        names = try ModelBundle.versions(of: bundle)
        chosen = try ModelBundle.choose(version, of: bundle, from: names)
        // What names no version matters only where no version is given.
        do throws(ModelError) {
            current = try ModelBundle.currentVersion(of: bundle)
        } catch {
            current = nil
        }
    }

    /// Lists the versions of a folder of compiled models, `X.momd`.
    ///
    /// - Parameters:
    ///   - bundle: the folder.
    ///   - version: a name; nil for the current version.
    /// - Throws: `ModelError`, as `CompiledModelVersions.read(momd:)` and for a version that is
    ///   not there.
    package init(compiled bundle: URL, version: String?) throws(ModelError) {
        self.bundle = bundle
        form = .compiled
        let versions = try CompiledModelVersions.read(momd: bundle)
        names = versions.names
        current = versions.current
        chosen = try CompiledModel.choose(version, of: bundle, from: versions)
    }

    /// The path of the file that holds a version.
    package func path(of name: String) -> String {
        bundle.appendingPathComponent(name + (form == .source ? ".xcdatamodel/contents" : ".mom"))
            .relativePath
    }

    /// Reads a version.
    ///
    /// - Throws: `ModelError`, as `ModelBundle.read(_:version:)` and
    ///   `CompiledModel.read(momd:version:)`.
    package func read(_ name: String) throws(ModelError) -> Version {
        switch form {
        case .source:
            return Version(
                name: name, model: try ModelBundle.read(bundle, version: name),
                storedHashes: nil, archive: nil)
        case .compiled:
            let compiled = try CompiledModel.read(momd: bundle, version: name)
            return Version(
                name: name, model: compiled.model, storedHashes: compiled.storedHashes,
                archive: compiled.archive)
        }
    }

    /// Names of the versions that are newer than the chosen one.
    package var newer: [String] {
        VersionOrder.newer(than: chosen, current: current, all: names)
    }

    /// Names of the versions that are older than the chosen one, in their natural order.
    package var older: [String] {
        let newer = Set(newer)
        return names.filter { $0 != chosen && !newer.contains($0) }
    }
}
