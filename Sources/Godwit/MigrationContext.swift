import ManagedObjectModel
import MigrationEngine

/// What a policy can do beside reading its source object and changing its destination object.
public struct MigrationContext {
    let portion: PolicyPortion

    /// Inserts an object, with the default values of its attributes.
    ///
    /// - Parameter entity: one that ``PolicyEffects/creates`` names as inserted.
    /// - Returns: the new object.
    /// - Throws: an error for another entity, and for more objects than are declared.
    public func insert(_ entity: String) throws -> DestinationObject {
        DestinationObject(portion: portion, object: try portion.insert(entity))
    }

    /// Finds the object with these values, or inserts it.
    ///
    /// It comes out once for the whole store, although chunks run apart: where several chunks
    /// insert it, the one for the lowest source object stays, with the values that `configure` gave
    /// it there. An object that came from the source by an entity mapping, or that another policy
    /// inserted, stays before all of them. Only `configure` can change the object. A policy finds
    /// the objects of one entity in one of its hooks.
    ///
    /// - Parameters:
    ///   - entity: one that ``PolicyEffects/creates`` names as found.
    ///   - key: the values of exactly the declared attributes.
    ///   - configure: sets the other properties of an object that is new.
    /// - Returns: the object.
    /// - Throws: an error for another entity or other attributes, and what `configure` throws.
    public func findOrInsert(
        _ entity: String, key: [String: Value?],
        configure: (DestinationObject) throws -> Void = { _ in }
    ) throws -> DestinationObject {
        let values = key.mapValues { $0?.engineValue }
        let found = try portion.find(entity, key: values)
        let object = DestinationObject(portion: portion, object: found.object)
        if found.isNew { try portion.configure(found.object) { try configure(object) } }
        return object
    }

    /// The destination objects that entity mappings make of a source object.
    ///
    /// - Parameters:
    ///   - source: any object of the source.
    ///   - mapping: the name of the entity mapping; nil for any.
    /// - Returns: one for each entity mapping that takes the object; they can be linked to.
    /// - Throws: an error where the object cannot be read.
    public func destinationObjects(
        for source: SourceObject, mapping: String? = nil
    ) throws -> [DestinationObject] {
        try portion.destinations(of: source.object, by: mapping).map {
            DestinationObject(portion: portion, object: $0)
        }
    }
}
