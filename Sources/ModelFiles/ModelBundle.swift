package import Foundation
package import ManagedObjectModel

/// A folder of model versions, `X.xcdatamodeld`.
package enum ModelBundle {
    /// The hidden file that names the version in use.
    private static let currentVersionFile = ".xccurrentversion"
    /// Bytes that it may have: it holds one file name.
    private static let currentVersionLimit = 4096

    /// Reads one version.
    ///
    /// - Parameters:
    ///   - bundle: the folder.
    ///   - version: a name with or without `.xcdatamodel`; nil for the current version, or for
    ///     the only one.
    /// - Returns: the model of that version.
    /// - Throws: `ModelError.noVersion` where there is no such version, naming those there are,
    ///   and what `XMLModelReader.read(_:)` throws.
    package static func read(_ bundle: URL, version: String? = nil) throws(ModelError) -> Model {
        let all = try versions(of: bundle)
        let chosen = try choose(version, of: bundle, from: all)
        return try XMLModelReader.read(bundle.appendingPathComponent(chosen + ".xcdatamodel"))
    }

    /// Names of the versions without their extension, in their natural order.
    ///
    /// - Throws: `ModelError.unreadable` where the folder is none, or holds no version.
    package static func versions(of bundle: URL) throws(ModelError) -> [String] {
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: bundle.path)
        } catch {
            throw .unreadable("\(bundle.path)\(BoundedFile.reason(of: error))")
        }
        let versions = names.filter { $0.hasSuffix(".xcdatamodel") }
            .map { String($0.dropLast(".xcdatamodel".count)) }
        guard !versions.isEmpty else {
            throw .unreadable("\(bundle.path) holds no .xcdatamodel folder")
        }
        return VersionOrder.sorted(versions)
    }

    /// Name of the current version without its extension; nil where none is named.
    ///
    /// - Throws: `ModelError.unreadable` or `ModelError.malformed` for a file that names none in
    ///   the way it should.
    package static func currentVersion(of bundle: URL) throws(ModelError) -> String? {
        let file = bundle.appendingPathComponent(currentVersionFile)
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        let bytes = try BoundedFile.read(file, limit: currentVersionLimit)
        let list: Any
        do {
            list = try PropertyListSerialization.propertyList(
                from: Data(bytes), options: [], format: nil)
        } catch {
            throw .malformed("\(file.path) is not a property list; name the version instead")
        }
        let name = (list as? [String: Any])?["_XCCurrentVersionName"] as? String
        return name.map(withoutExtension)
    }

    private static func withoutExtension(_ name: String) -> String {
        name.hasSuffix(".xcdatamodel") ? String(name.dropLast(".xcdatamodel".count)) : name
    }

    /// The version that is meant, always one of those there are, so that no name leads out of
    /// the folder.
    static func choose(
        _ version: String?, of bundle: URL, from all: [String]
    ) throws(ModelError) -> String {
        if let version {
            let name = withoutExtension(version)
            guard all.contains(name) else {
                throw .noVersion(
                    "\(bundle.relativePath) has no version \(name). "
                        + NameSuggestion.hint(name, all))
            }
            return name
        }
        if all.count == 1 { return all[0] }
        let example =
            "Name one as \(bundle.relativePath):\(all[all.count - 1]). "
            + NameSuggestion.list(all)
        guard let current = try currentVersion(of: bundle) else {
            throw .noVersion("\(bundle.relativePath) names no current version. \(example)")
        }
        guard all.contains(current) else {
            throw .noVersion(
                "the current version \(current) of \(bundle.relativePath) does not exist. "
                    + example)
        }
        return current
    }
}
