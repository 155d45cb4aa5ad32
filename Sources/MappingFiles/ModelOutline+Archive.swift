import ManagedObjectModel
import MappingModel
import ModelFiles

/// Xcode archives its own editing objects (`XDPMModel`), not an `NSManagedObjectModel`, so that
/// nothing that a version hash needs can be relied upon.
extension ModelOutline {
    /// Reads an archive of Xcode.
    ///
    /// - Throws: `MappingFileError.malformed` where it holds no model.
    init(_ bytes: [UInt8]) throws(MappingFileError) {
        var archive = try MappingFileError.translating { try KeyedArchive(bytes) }
        let entities = try MappingFileError.translating {
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
        self.init(entities: entities)
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
}
