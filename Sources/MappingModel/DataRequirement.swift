/// Something that the data of a source store must fulfil for an inferred mapping to be valid.
///
/// The models alone do not decide it: the store is asked, and a count above 0 of what breaks
/// the requirement refuses the store. Source entities are meant exactly, without their
/// sub-entities, which have requirements of their own.
package enum DataRequirement: Hashable, Sendable, Codable {
    /// The source entity has no objects. Counted: its objects.
    case noObjects(entity: String, reason: AbsenceReason)
    /// Every object has a value for the source attribute. Counted: objects without one.
    case noMissingValue(source: PropertyReference, destination: PropertyReference)
    /// Every object has at most one link in the source to-many relationship. Counted: objects
    /// with more.
    case atMostOne(source: PropertyReference, destination: PropertyReference)
    /// Every object has a number of links within bounds. Counted: objects with another number.
    case linkCount(
        source: PropertyReference, destination: PropertyReference, bounds: LinkBounds)
    /// No two links that the destination relationship gets lead to one object, from whatever
    /// source entity and relationship they come. Counted: objects with more than one.
    case distinctTargets(source: PropertyReference, destination: PropertyReference)
    /// No link of the source relationship leads to an object of exactly one of these source
    /// entities. Counted: links that do.
    case noTargets(
        source: PropertyReference, destination: PropertyReference, ofEntities: [String])
    /// No link of the source relationship leads to an object that the filters of its entity's
    /// mappings leave out. Counted: links that do.
    case noFilteredTargets(source: PropertyReference, destination: PropertyReference)
    /// The stated path of every object leads to an object that arrives. Counted: objects whose
    /// path does not.
    ///
    /// `maker`: the entity mapping that makes the target; nil for any.
    case pathLeads(
        entity: String, path: [String], destination: PropertyReference, maker: String?)
    /// Objects of the destination entity and of those that inherit from it differ in these
    /// destination attributes, objects without a value aside. Counted: objects that equal an
    /// earlier one.
    case unique(entity: String, attributes: [String])
}

/// Why a source entity must have no objects.
package enum AbsenceReason: Hashable, Sendable, Codable {
    /// This destination attribute is new, required and without a default value.
    case requiredAttribute(PropertyReference)
    /// A mapping gives this required destination attribute null.
    case statedNull(PropertyReference)
    /// This destination relationship is new and required.
    case requiredRelationship(PropertyReference)
    /// This destination entity is abstract.
    case abstractEntity(String)
}

extension DataRequirement {
    /// The rule behind it in a few words.
    package var rule: String {
        switch self {
        case .noObjects(_, .requiredAttribute): "new required attribute without default"
        case .noObjects(_, .statedNull): "null for a required attribute"
        case .noObjects(_, .requiredRelationship): "new required relationship"
        case .noObjects(_, .abstractEntity): "entity becomes abstract"
        case .noMissingValue: "attribute becomes required without default"
        case .atMostOne: "to-many relationship becomes to-one"
        case .linkCount: "number of links restricted"
        case .distinctTargets: "targets of one object only"
        case .noTargets: "objects leave the relationship's destination"
        case .noFilteredTargets: "filters leave out objects that links need"
        case .pathLeads: "path of a required relationship"
        case .unique: "new uniqueness constraint"
        }
    }

    /// What to tell the user when data break the requirement.
    ///
    /// - Parameter count: how many objects or links break it, as each case counts them.
    /// - Returns: names, count, rule and remedy in two sentences.
    package func refusal(count: Int) -> String {
        "\(breach(count)) (rule: \(rule)). \(remedy), or use a version in between."
    }

    /// What the data must fulfil, told without a store: names, rule and remedy.
    package var condition: String { "\(demand) (rule: \(rule)). \(remedy)." }

    private var demand: String {
        switch self {
        case .noObjects(let entity, let reason):
            "a store must have no object of \(entity): \(reason.text)"
        case .noMissingValue(let source, let destination):
            "every object must have a value for \(source): \(destination) is required and has no "
                + "default value"
        case .atMostOne(let source, let destination):
            "no object may have several links in \(source): \(destination) is to-one"
        case .linkCount(let source, let destination, let bounds):
            "\(destination) limits the links that each object has in \(source): \(bounds.text)"
        case .distinctTargets(let source, let destination):
            "\(source) must link each object at most once: \(destination) allows no more"
        case .noTargets(let source, let destination, let entities):
            "\(source) must have no link to objects of \(entities.joined(separator: ", ")): "
                + "\(destination) cannot lead to them"
        case .noFilteredTargets(let source, let destination):
            "\(source) must have no link to an object that filters leave out: \(destination) needs "
                + "its links"
        case .pathLeads(let entity, let path, let destination, _):
            "\(Self.text(path)) of every object of \(entity) must lead to an object: "
                + "\(destination) is required"
        case .unique(let entity, let attributes):
            "no two objects of \(entity) may be equal in \(attributes.joined(separator: ", "))"
        }
    }

    private func breach(_ count: Int) -> String {
        switch self {
        case .noObjects(let entity, let reason):
            "entity \(entity) has \(count) \(count == 1 ? "object" : "objects"), but \(reason.text)"
        case .noMissingValue(let source, let destination):
            "\(Self.objects(count, of: source)) without a value, but \(destination) is required "
                + "and gets no default value"
        case .atMostOne(let source, let destination):
            "\(Self.objects(count, of: source)) with several links, but \(destination) is to-one"
        case .linkCount(let source, let destination, let bounds):
            "\(Self.objects(count, of: source)) with a number of links that \(destination) does "
                + "not allow: \(bounds.text)"
        case .distinctTargets(let source, let destination):
            "relationship \(source) links \(count) \(count == 1 ? "object" : "objects") more than "
                + "once, but \(destination) allows each object only once"
        case .noTargets(let source, let destination, let entities):
            "relationship \(source) has \(count) \(count == 1 ? "link" : "links") to objects of "
                + "\(entities.joined(separator: ", ")), which \(destination) cannot lead to"
        case .noFilteredTargets(let source, let destination):
            "relationship \(source) has \(count) \(count == 1 ? "link" : "links") to objects that "
                + "filters leave out, but \(destination) needs its links"
        case .pathLeads(let entity, let path, let destination, _):
            "entity \(entity) has \(count) \(count == 1 ? "object" : "objects") of which "
                + "\(Self.text(path)) leads to no object, but \(destination) is required"
        case .unique(let entity, let attributes):
            "entity \(entity) would have \(count) \(count == 1 ? "object" : "objects") equal to "
                + "another one in \(attributes.joined(separator: ", "))"
        }
    }

    private static func text(_ path: [String]) -> String {
        (["$source"] + path).joined(separator: ".")
    }

    private static func objects(_ count: Int, of source: PropertyReference) -> String {
        "\(source) has \(count) \(count == 1 ? "object" : "objects")"
    }

    private var remedy: String {
        switch self {
        case .noObjects(_, .requiredAttribute(let attribute)):
            "Give \(attribute) a default value or make it optional in the destination model"
        case .noObjects(_, .statedNull(let attribute)):
            "State a value for \(attribute) in the mapping, or make it optional in the destination "
                + "model"
        case .noObjects(_, .requiredRelationship(let relationship)):
            "Make \(relationship) optional in the destination model"
        case .noObjects(_, .abstractEntity(let entity)):
            "Make \(entity) concrete in the destination model"
        case .noMissingValue(_, let attribute):
            "Give \(attribute) a default value in the destination model or in a mapping "
                + "(default: …), make it optional"
        case .atMostOne(_, let relationship):
            "Make \(relationship) to-many in the destination model"
        case .linkCount(_, let relationship, _):
            "Widen the bounds of \(relationship) in the destination model"
        case .distinctTargets(_, let relationship):
            "Give \(relationship) a to-many inverse in the destination model"
        case .noTargets(_, let relationship, _):
            "In the destination model, set the destination of \(relationship) to a common parent "
                + "entity"
        case .noFilteredTargets(_, let relationship):
            "Make \(relationship) optional in the destination model, or filter its owners, too"
        case .pathLeads(_, _, let relationship, _):
            "Make \(relationship) optional in the destination model, or filter its owners"
        case .unique(let entity, _):
            "Remove the uniqueness constraint of \(entity) or the duplicates"
        }
    }
}

extension AbsenceReason {
    fileprivate var text: String {
        switch self {
        case .requiredAttribute(let attribute):
            "\(attribute) is new and required and has no default value"
        case .statedNull(let attribute): "\(attribute) is required and the mapping gives it null"
        case .requiredRelationship(let relationship): "\(relationship) is new and required"
        case .abstractEntity(let entity): "destination entity \(entity) is abstract"
        }
    }
}
