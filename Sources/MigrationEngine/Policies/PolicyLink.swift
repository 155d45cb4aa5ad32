import CoreDataStore
import ManagedObjectModel
import MappingExpressions
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
    /// The column of the object's place in the ordered inverse; nil where there is none.
    let orderColumn: String?
    /// The table of a many-to-many.
    let join: JoinTableLayout?

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
        orderColumn = layout.column(.order(key))?.column.name
        join = layout.joinTable(of: key)
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
            try expectFound(target, as: "the target of \(object.entity).\(name)")
        }
        if place.inverse?.isOrdered == true { return try setPlaced(target) }
        guard let inverse = place.inverse, !inverse.isToMany else {
            return try write(place, of: object, to: target)
        }
        try setBoth(target, inverse)
    }

    /// Refuses an object of a kind that is found by a key, but was not: it could be a second one.
    private func expectFound(_ target: MadeObject, as role: String) throws {
        guard context.areFound(target.entity), target.origin != .found else { return }
        throw PolicyFailure(
            "objects of \(target.entity) are found by a key: find \(role) by its key, too")
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

    /// Links an object that is new with the object in whose list it takes the next place.
    private func setPlaced(_ target: MadeObject?) throws {
        let subject = "the inverse of \(object.entity).\(name) is ordered"
        guard object.origin == .inserted, target.map(state.isOwn) != false,
            let order = place.orderColumn, let inverse = place.inverse
        else {
            throw PolicyFailure(
                "\(subject): it can only be set between a new object and one that comes of the "
                    + "same source object")
        }
        guard !context.isFilled(order, of: object.table) else {
            throw PolicyFailure("\(subject), and the mapping gives places in the list, too")
        }
        try write(place, of: object, to: target)
        guard let target else { return try context.writer.set(order, of: object, to: nil) }
        let list = PolicyState.List(
            holder: target.key, table: target.table,
            relationship: PropertyKey(place.relationship.destination, inverse.name))
        try context.writer.set(order, of: object, to: .integer(state.nextPlace(in: list)))
        state.take(list)
    }

    /// Adds a target to a to-many relationship.
    private func add(_ target: MadeObject?) throws {
        guard let target else {
            throw PolicyFailure("\(object.entity).\(name) is to-many: its links cannot be removed")
        }
        guard let inverse = place.inverse else {
            throw PolicyFailure(
                "\(object.entity).\(name) is to-many and has no inverse: its links cannot be set")
        }
        try expectKind(of: target)
        if let join = place.join { return try add(target, inverse, to: join) }
        try PolicyLink(inverse.name, of: target, context, state).set(object)
    }

    /// Adds a row to the table of a many-to-many relationship.
    ///
    /// One end must come of the source object in hand: then no other chunk makes the same link.
    private func add(
        _ target: MadeObject, _ inverse: Relationship, to join: JoinTableLayout
    ) throws {
        let other = try context.link(inverse.name, target.entity)
        let isHolder = context.canLink(object, by: name, state)
        guard isHolder || context.canLink(target, by: inverse.name, state) else {
            try context.expectChange(of: name, object, state)
            throw PolicyFailure(
                "\(object.entity).\(name) is many-to-many: link it from an object that comes of "
                    + "the source object in hand")
        }
        let (holder, held) = isHolder ? (object, target) : (target, object)
        let (own, far) = isHolder ? (place, other) : (other, place)
        try expectFound(held, as: "the other end of \(own.key)")
        guard !far.relationship.isOrdered else {
            throw PolicyFailure(
                "\(far.key) is ordered: its places can only be set from its own objects")
        }
        let isNaming = join.naming == own.key
        var row = isNaming ? [holder.key, held.key] : [held.key, holder.key]
        let list = PolicyState.List(
            holder: holder.key, table: holder.table, relationship: own.key)
        if own.relationship.isOrdered {
            guard !context.isFilled(join) else {
                throw PolicyFailure(
                    "\(own.key) is ordered, and the mapping gives places in its lists, too")
            }
            row.append(state.nextPlace(in: list))
        }
        if try context.writer.link(join, row) { state.take(list) }
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
