import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MigrationPlans
import SafeSQLite

/// A relationship that a policy links by, with what the models say of it.
struct LinkPlace {
    let relationship: Relationship
    let key: PropertyKey
    /// The column of the target's key, and that of its entity; nil for a to-many.
    let column: String?
    let entityColumn: String?
    let inverse: Relationship?

    init(_ name: String, of entity: String, _ context: PolicyContext) throws {
        let (layout, model) = (context.destination, context.destination.model)
        guard let found = model.relationship(name, of: entity) else {
            throw PolicyFailure("\(entity) has no relationship \(context.shown(name))")
        }
        guard !found.relationship.isTransient else {
            throw PolicyFailure("\(entity).\(name) is transient: no store holds its links")
        }
        relationship = found.relationship
        key = PropertyKey(found.owner.name, name)
        column = layout.column(.toOne(key))?.column.name
        entityColumn = layout.column(.toOneEntity(key))?.column.name
        inverse = model.inverse(of: relationship)?.relationship
        guard inverse?.isOrdered != true || relationship.isToMany else {
            throw PolicyFailure(
                "the inverse of \(entity).\(name) is ordered, and places in lists cannot be set")
        }
    }
}

/// A link that a policy sets.
struct PolicyLink {
    private let name: String
    private let object: MadeObject
    private let context: PolicyContext
    private let state: PolicyState
    private let place: LinkPlace

    init(
        _ name: String, of object: MadeObject, _ context: PolicyContext, _ state: PolicyState
    ) throws {
        self.state = state
        self.name = name
        self.object = object
        self.context = context
        place = try context.link(name, object.entity)
    }

    /// Sets the link, and the other side of a one-to-one relationship along.
    func set(_ target: MadeObject?) throws {
        guard !place.relationship.isToMany else { return try add(target) }
        try context.expectChange(of: name, object, state)
        if let target {
            try expectKind(of: target)
            if context.areFound(target.entity), target.origin != .found {
                throw PolicyFailure(
                    "objects of \(target.entity) are found by a key: find the target of "
                        + "\(object.entity).\(name) by its key, too")
            }
        }
        guard let inverse = place.inverse, !inverse.isToMany else {
            return try write(place, of: object, to: target)
        }
        try setBoth(target, inverse)
    }

    private func expectKind(of target: MadeObject) throws {
        let wanted = place.relationship.destination
        guard target.entity == wanted || context.destination.model.isKind(target.entity, of: wanted)
        else {
            throw PolicyFailure(
                "\(object.entity).\(name) leads to objects of \(wanted), and not of "
                    + target.entity)
        }
    }

    /// Links two objects of one source object by a one-to-one relationship.
    private func setBoth(_ target: MadeObject?, _ inverse: Relationship) throws {
        let subject = "\(object.entity).\(name) is one-to-one"
        guard let target, object.origin != .found, target.origin != .found else {
            throw PolicyFailure(
                "\(subject): it can only be set, between objects that come of one source object")
        }
        try context.expectChange(of: inverse.name, target, state)
        let other = try context.link(inverse.name, target.entity)
        for (place, holder) in [(place, object), (other, target)] {
            guard let column = place.column, try context.writer.value(column, of: holder) == nil
            else { throw PolicyFailure("\(subject), and one of the objects is linked already") }
        }
        try write(place, of: object, to: target)
        try write(other, of: target, to: object)
    }

    /// Adds a target to a to-many relationship, by the to-one inverse.
    private func add(_ target: MadeObject?) throws {
        guard let target else {
            throw PolicyFailure("\(object.entity).\(name) is to-many: its links cannot be removed")
        }
        guard let inverse = place.inverse, !inverse.isToMany else {
            throw PolicyFailure(
                "\(object.entity).\(name) has no to-one inverse: many-to-many links cannot be set")
        }
        try expectKind(of: target)
        guard !place.relationship.isOrdered else {
            throw PolicyFailure(
                "\(object.entity).\(name) is ordered, and places in lists cannot be set")
        }
        try PolicyLink(inverse.name, of: target, context, state).set(object)
    }

    private func write(
        _ place: LinkPlace, of holder: MadeObject, to target: MadeObject?
    ) throws {
        guard let column = place.column else { throw PolicyFailure("\(place.key) has no column") }
        try context.writer.set(column, of: holder, to: target.map { .integer($0.key) })
        if let entity = place.entityColumn {
            try context.writer.set(entity, of: holder, to: target.map { .integer($0.number) })
        }
    }
}
