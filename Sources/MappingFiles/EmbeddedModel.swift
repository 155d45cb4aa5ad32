package import ManagedObjectModel
import ModelFiles

/// What a mapping file of Xcode keeps of a model: the names in it.
///
/// Xcode archives its own editing objects (`XDPMModel`), not an `NSManagedObjectModel`, so that
/// nothing that a version hash needs can be relied upon.
package struct EmbeddedModel: Hashable, Sendable {
    /// One entity by the names that it declares itself.
    package struct Entity: Hashable, Sendable {
        /// Names of attributes, relationships and fetched properties.
        package let properties: Set<String>
        /// Name of the parent entity; nil for a root.
        package let parent: String?
    }

    /// By name.
    package let entities: [String: Entity]

    /// Reads an archive of Xcode.
    ///
    /// - Throws: `MappingFileError.malformed` where it holds no model.
    init(_ bytes: [UInt8]) throws(MappingFileError) {
        var archive = try MappingFileError.translating { try KeyedArchive(bytes) }
        entities = try MappingFileError.translating {
            let root = try archive.root()
            guard root.className == "XDPMModel",
                let package = try archive.object(root["_xd_rootPackage"])
            else { throw ModelError.malformed("the archive holds a \(root.className), no model") }
            var entities: [String: Entity] = [:]
            for (name, reference) in try archive.dictionary(package["XDBucketForClassesstorage"]) {
                guard let entity = try archive.object(reference) else { continue }
                let properties = try archive.dictionary(
                    entity["XDBucketForOwnedAttributesstorage"])
                entities[name] = Entity(
                    properties: Set(properties.map(\.key)),
                    parent: try Self.parent(of: entity, in: &archive))
            }
            return entities
        }
    }

    private static func parent(
        of entity: ArchivedObject, in archive: inout KeyedArchive
    ) throws(ModelError) -> String? {
        for reference in try archive.list(entity["XDBucketForGeneralizationsstorage"]) {
            guard let link = try archive.object(reference),
                let general = try archive.object(link["_general"])
            else { continue }
            return try archive.text(general["_name"])
        }
        return nil
    }

    /// Names of the entities that a model has and this one lacks, or the other way round, or whose
    /// declared properties or parents differ; sorted.
    package func differences(from model: Model) -> [String] {
        Set(entities.keys).union(model.entities.keys).filter { name in
            guard let own = entities[name], let other = model.entities[name] else { return true }
            let names =
                other.attributes.map(\.name) + other.relationships.map(\.name)
                + other.fetchedProperties
            return other.parent != own.parent || own.properties != Set(names)
        }.sorted()
    }
}
