package import Foundation
package import ManagedObjectModel

/// One version of a compiled model: a `.mom` file, alone or out of a `.momd` folder
/// (mapping-model page §3).
package struct CompiledModel: Sendable {
    /// Name of the version: that of its file, without `.mom`.
    package let name: String
    package let model: Model
    /// The archive as it was in the file: what `Z_MODELCACHE` may hold, once compressed.
    package let archive: [UInt8]
    /// 32-byte version hashes by entity, as the compiler stored them; nil for a lone `.mom`.
    package let storedHashes: [String: [UInt8]]?

    /// The largest `.mom` that is read, in bytes.
    package static let sizeLimit = 64 << 20

    /// Reads a lone `.mom` file.
    ///
    /// - Throws: `ModelError.unreadable` where the file cannot be read, else what
    ///   `ModelArchive.read` throws.
    package static func read(mom file: URL) throws(ModelError) -> CompiledModel {
        try read(
            mom: file, name: file.deletingPathExtension().lastPathComponent, storedHashes: nil)
    }

    /// Reads one version out of a `.momd` folder.
    ///
    /// - Parameters:
    ///   - folder: the `.momd`.
    ///   - version: the name of the version; nil for the current one.
    /// - Returns: the version with its stored hashes, where the bundle has some for it.
    /// - Throws: `ModelError.noVersion` where the version does not exist, `.unreadable` where a
    ///   file cannot be read, else what `ModelArchive.read` throws.
    package static func read(
        momd folder: URL, version: String? = nil
    ) throws(ModelError) -> CompiledModel {
        let info = try CompiledModelVersions.read(momd: folder)
        let name = try choose(version, of: folder, from: info)
        let file = folder.appendingPathComponent(name + ".mom")
        return try read(mom: file, name: name, storedHashes: info.hashes[name])
    }

    /// Names of the versions that have a file in a `.momd` folder; none for a folder that cannot be
    /// listed.
    static func names(in folder: URL) -> [String] {
        let files: [String]
        do {
            files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        } catch {
            files = []
        }
        // Names with a dot are what other systems keep beside files.
        return files.filter { $0.hasSuffix(".mom") && !$0.hasPrefix(".") && isFile($0, in: folder) }
            .map { String($0.dropLast(".mom".count)) }
    }

    private static func isFile(_ name: String, in folder: URL) -> Bool {
        let path = folder.appendingPathComponent(name).path
        do {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            return facts[.type] as? FileAttributeType == .typeRegular
        } catch {
            return false
        }
    }

    /// The version that is meant: one that the bundle lists, or one that has a file there.
    static func choose(
        _ version: String?, of folder: URL, from info: CompiledModelVersions
    ) throws(ModelError) -> String {
        let name = version ?? info.current
        let file = folder.appendingPathComponent(name + ".mom")
        guard info.hashes[name] != nil || FileManager.default.fileExists(atPath: file.path),
            !name.contains("/")
        else {
            throw .noVersion(
                "\(folder.relativePath) has no version \(name). "
                    + NameSuggestion.hint(name, info.names))
        }
        return name
    }

    private static func read(
        mom file: URL, name: String, storedHashes: [String: [UInt8]]?
    ) throws(ModelError) -> CompiledModel {
        let archive = try BoundedFile.read(file, limit: sizeLimit)
        return CompiledModel(
            name: name, model: try ModelArchive.read(archive), archive: archive,
            storedHashes: storedHashes)
    }
}

/// What `VersionInfo.plist` of a `.momd` folder says.
package struct CompiledModelVersions: Hashable, Sendable {
    /// Name of the current version.
    package let current: String
    /// By version and entity: 32-byte version hashes.
    package let hashes: [String: [String: [UInt8]]]

    /// All versions, in their natural order.
    package var names: [String] { VersionOrder.sorted(hashes.keys) }

    /// The largest `VersionInfo.plist` that is read, in bytes.
    package static let sizeLimit = 4 << 20
    /// The most dictionaries and arrays in an XML one; the parser recurses into them.
    private static let xmlContainerLimit = 1000

    /// Reads `VersionInfo.plist`, be it binary or XML.
    ///
    /// - Throws: `ModelError.unreadable` where there is none, `ModelError.malformed` where it
    ///   does not name a current version.
    package static func read(momd folder: URL) throws(ModelError) -> CompiledModelVersions {
        let file = folder.appendingPathComponent("VersionInfo.plist")
        let bytes = try BoundedFile.read(file, limit: sizeLimit)
        let list =
            bytes.starts(with: BinaryPropertyList.magic)
            ? try BinaryPropertyList.read(bytes) : try readXML(bytes, file: file)
        guard let current = list["NSManagedObjectModel_CurrentVersionName"]?.text else {
            throw .malformed("\(file.path) does not name a current version")
        }
        var hashes: [String: [String: [UInt8]]] = [:]
        for version in list["NSManagedObjectModel_VersionHashes"]?.entries ?? [] {
            var byEntity: [String: [UInt8]] = [:]
            for entity in version.value.entries ?? [] {
                guard let hash = entity.value.bytes, hash.count == 32 else {
                    throw .malformed(
                        "\(file.path) has a hash of \(version.key).\(entity.key) that is not "
                            + "32 bytes long")
                }
                byEntity[entity.key] = hash
            }
            hashes[version.key] = byEntity
        }
        return CompiledModelVersions(current: current, hashes: hashes)
    }

    private static func readXML(_ bytes: [UInt8], file: URL) throws(ModelError) -> PropertyList {
        let openings = bytes.split(separator: UInt8(ascii: "<")).count {
            $0.starts(with: Array("dict".utf8)) || $0.starts(with: Array("array".utf8))
        }
        guard openings <= xmlContainerLimit else {
            throw .malformed("\(file.path) has more than \(xmlContainerLimit) containers")
        }
        do {
            let value = try PropertyListSerialization.propertyList(
                from: Data(bytes), options: [], format: nil)
            return convert(value)
        } catch {
            throw .malformed("\(file.path) is not a property list: \(error)")
        }
    }

    /// The dictionaries, texts and data of a parsed list; the rest is not asked for.
    private static func convert(_ value: Any) -> PropertyList {
        switch value {
        case let text as String: .string(text)
        case let data as Data: .data(Array(data))
        case let dictionary as [String: Any]:
            .dictionary(
                dictionary.sorted { $0.key < $1.key }
                    .map { PropertyList.Entry($0.key, convert($0.value)) })
        default: .null
        }
    }
}
