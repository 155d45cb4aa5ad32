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

        /// Stored hashes take precedence over computed ones.
        package var hashes: VersionHashes {
            storedHashes.map { VersionHashes(read: $0) } ?? VersionHashes(model)
        }
    }

    private enum Form: Sendable {
        case source
        /// Stored hashes by version and entity.
        case compiled([String: [String: [UInt8]]])
    }

    /// The most versions of a bundle; the largest one known has some 70.
    package static let limit = 2000

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
    /// - Throws: `ModelError.noVersion` where there is no such version, or none is current;
    ///   `.unreadable` for a folder that is none, `.unsupported` for more than `limit` versions.
    package init(source bundle: URL, version: String?) throws(ModelError) {
        self.bundle = bundle
        form = .source
        names = try ModelBundle.versions(of: bundle)
        try BundleVersions.check(names, bundle)
        chosen = try ModelBundle.choose(version, of: bundle, from: names)
        // What names no version matters only where no version is given.
        do throws(ModelError) {
            current = try ModelBundle.currentVersion(of: bundle)
        } catch {
            current = nil
        }
    }

    private static func check(_ names: [String], _ bundle: URL) throws(ModelError) {
        guard names.count <= limit else {
            throw .unsupported(
                "\(bundle.relativePath) has \(names.count) versions; at most \(limit) are read")
        }
    }

    /// Lists the versions of a folder of compiled models, `X.momd`.
    ///
    /// - Parameters:
    ///   - bundle: the folder.
    ///   - version: a name; nil for the current version.
    /// - Throws: `ModelError`, as `CompiledModelVersions.read(momd:)`; `.noVersion` for a version
    ///   that is not there, `.unsupported` for more than `limit` versions.
    package init(compiled bundle: URL, version: String?) throws(ModelError) {
        self.bundle = bundle
        let versions = try CompiledModelVersions.read(momd: bundle)
        form = .compiled(versions.hashes)
        // A bundle need not list the hashes of all its files.
        names = VersionOrder.sorted(
            Set(versions.names).union(CompiledModel.names(in: bundle)).filter { !$0.contains("/") })
        try BundleVersions.check(names, bundle)
        current = versions.current
        chosen = try CompiledModel.choose(version, of: bundle, from: versions)
    }

    private func file(_ name: String) -> URL {
        switch form {
        case .source: bundle.appendingPathComponent(name + ".xcdatamodel")
        case .compiled: bundle.appendingPathComponent(name + ".mom")
        }
    }

    /// The path of the file that holds a version.
    package func path(of name: String) -> String {
        let place = file(name)
        guard case .source = form else { return place.relativePath }
        return place.appendingPathComponent("contents").relativePath
    }

    /// Reads a version.
    ///
    /// - Parameter name: one of the names.
    /// - Returns: the version.
    /// - Throws: `ModelError`, as `XMLModelReader.read(_:)` and `CompiledModel.read(mom:)`.
    package func read(_ name: String) throws(ModelError) -> Version {
        switch form {
        case .source:
            return Version(
                name: name, model: try XMLModelReader.read(file(name)), storedHashes: nil)
        case .compiled(let hashes):
            return Version(
                name: name, model: try CompiledModel.read(mom: file(name)).model,
                storedHashes: hashes[name])
        }
    }

    /// Names of the versions that are newer than the chosen one.
    package var newer: [String] {
        VersionOrder.newer(than: chosen, current: current, all: names)
    }
}
