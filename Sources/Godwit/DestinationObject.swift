import MigrationEngine

/// An object of the store that is being made.
///
/// A policy can change the destination object of its source object, objects that it inserted for
/// it, and an object that it found and that is new. Objects that other entity mappings make can be
/// linked, and no more.
public struct DestinationObject {
    let portion: PolicyPortion
    let object: MadeObject

    /// The name of its entity.
    public var entity: String { object.entity }
    /// Its primary key: the number behind `p` in its URI.
    ///
    /// An object that was found by its key may get another one in the end.
    public var key: Int64 { object.key }

    /// The value that an attribute has now; nil for none.
    public func value(_ attribute: String) throws -> Value? {
        try portion.value(attribute, ofDestination: object).map { Value($0) }
    }

    /// Sets an attribute.
    ///
    /// - Throws: an error for an attribute that is not there, that ``PolicyEffects/sets`` does not
    ///   name, or that cannot hold such a value.
    public func set(_ attribute: String, to value: Value?) throws {
        try portion.set(attribute, of: object, to: value?.engineValue)
    }

    /// Links the object with another one.
    ///
    /// A to-one relationship gets the object as its only target. For a to-many relationship whose
    /// inverse is to-one, the other object's inverse is set. A many-to-many relationship gets one
    /// link more, or none where the two are linked already; one of the two must be the destination
    /// object of the source object in hand, or inserted for it.
    ///
    /// In an ordered relationship of such an object, the other one takes the next place.
    ///
    /// - Parameters:
    ///   - relationship: its name.
    ///   - other: the target; nil takes the target of a to-one away.
    /// - Throws: an error for a relationship that is not there, that ``PolicyEffects/sets`` does
    ///   not name, or that cannot lead to such an object; also for places in lists of other
    ///   objects.
    public func associate(_ relationship: String, with other: DestinationObject?) throws {
        try portion.link(relationship, of: object, to: other?.object)
    }
}
