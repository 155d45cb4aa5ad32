/// Something that an inferred mapping does and that its user should know; nothing to decide.
///
/// Entities and properties without a destination are no notes: what is lost with them is counted.
package enum InferenceNote: Hashable, Sendable, Codable {
    /// Links of the source relationship to objects of removed entities are dropped.
    case linksDropped(PropertyReference, ofEntities: [String])
    /// Core Data computes the new derived attribute when an object is saved next.
    case derivedLater(PropertyReference)
    /// The derived attribute keeps its values until an object is saved, although its rule changed.
    case derivationChanged(PropertyReference)
    /// The bytes of the transformable attribute are carried, although its transformer changed.
    case transformerChanged(PropertyReference)
    /// The relationship becomes ordered: its links get the order of the keys of their objects.
    case orderAssigned(PropertyReference)
    /// The relationship is no longer ordered: the order of its links is dropped.
    case orderDropped(PropertyReference)
    /// Objects of several source tables come into the table of one root entity, so that keys
    /// change. Core Data itself does not infer this.
    case tablesJoined(root: String, sourceRoots: [String])
    /// A mapping compares values of two kinds, of which none equals another.
    case neverEqual(MappingMistake)

    /// Whether it is hardly meant.
    package var isWarning: Bool { if case .neverEqual = self { true } else { false } }
}

extension InferenceNote: CustomStringConvertible {
    package var description: String {
        switch self {
        case .neverEqual(let place): "\(place)"
        case .linksDropped(let relationship, let entities):
            "links of \(relationship) to objects of \(entities.joined(separator: ", ")) are "
                + "dropped with those objects"
        case .derivedLater(let attribute):
            "\(attribute) is a new derived attribute: Core Data computes it when it next "
                + "saves each object"
        case .derivationChanged(let attribute):
            "the derivation of \(attribute) changed: old values remain until Core Data next saves "
                + "each object"
        case .transformerChanged(let attribute):
            "\(attribute) has another value transformer than before: its bytes are carried over "
                + "unchanged"
        case .orderAssigned(let relationship):
            "\(relationship) becomes ordered: links get the order of their objects' keys"
        case .orderDropped(let relationship):
            "\(relationship) is no longer ordered: the order of its links is dropped"
        case .tablesJoined(let root, let sourceRoots):
            "\(sourceRoots.joined(separator: ", ")) now share the table of \(root), so the URIs of "
                + "some objects change"
        }
    }
}
