import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlanning
import SafeSQLite

/// What is known of one entity mapping with a policy while a chunk is copied.
struct PolicyContext {
    let file: LaidOutPlan
    let pass: PolicyPass
    let policy: PolicyDeclaration
    let connection: Connection
    let writer: MadeObjectWriter

    var plan: MigrationPlan { file.plan }
    var destination: StoreLayout { file.destination }

    /// Refuses a change that the policy does not declare.
    func expectChange(of name: String, _ object: MadeObject, _ state: PolicyState) throws {
        try state.expectOwn(object, name)
        switch object.origin {
        case .mapped:
            guard policy.sets.contains(name) else {
                throw PolicyFailure(
                    "it sets \(object.entity).\(shown(name)), which it does not declare")
            }
        case .inserted: return
        case .found:
            guard !isKey(name, of: object.entity) else {
                throw PolicyFailure(
                    "it changes \(object.entity).\(name), by which it finds objects")
            }
        case .elsewhere:
            throw PolicyFailure(
                "it sets \(shown(name)) of an object of \(object.entity) that another mapping "
                    + "makes: only a policy of that mapping can")
        }
    }

    /// The column of an attribute.
    func attributeColumn(_ name: String, _ entity: String) throws -> ColumnLayout {
        guard let attribute = destination.model.attribute(name, of: entity)?.attribute else {
            throw PolicyFailure("\(entity) has no attribute \(shown(name))")
        }
        if let reason = PolicyCheck.refusal(of: attribute) {
            throw PolicyFailure("it sets \(entity).\(name): \(reason)")
        }
        let column = destination.model.ancestry(of: entity).lazy.compactMap {
            destination.column(.attribute(PropertyKey($0.name, name)))?.column
        }.first
        guard let column else { throw PolicyFailure("\(entity).\(name) has no column") }
        return column
    }

    /// The type of an attribute.
    func type(of name: String, _ entity: String) -> AttributeType {
        destination.model.attribute(name, of: entity)?.attribute.type ?? .undefined
    }

    /// A value as its column holds it.
    func cell(
        _ value: DefaultValue?, _ name: String, _ entity: String
    ) throws -> StoredCell? {
        guard let value else { return nil }
        do throws(ExpressionError) {
            return try StoredCell(value, as: type(of: name, entity))
        } catch {
            throw PolicyFailure("it sets \(entity).\(name): \(error)")
        }
    }

    /// A name that a policy uses, for messages: one that no model has may be what a user wrote.
    func shown(_ name: String) -> String {
        file.source.model.knows(name) || destination.model.knows(name)
            ? name : "(a name that no model has)"
    }

    private func isKey(_ name: String, of entity: String) -> Bool {
        pass.blocks.contains { block in
            block.objects.entity == entity && block.key.contains { $0.attribute == name }
        }
    }

    /// Whether objects of an entity are found by a key.
    func areFound(_ entity: String) -> Bool {
        pass.blocks.contains { $0.objects.entity == entity && !$0.key.isEmpty }
    }
}

/// A to-one relationship of an object that a policy links.
struct PolicyLink {
    private let name: String
    private let object: MadeObject
    private let context: PolicyContext
    private let state: PolicyState
    private let relationship: Relationship
    private let key: PropertyKey

    init(
        _ name: String, of object: MadeObject, _ context: PolicyContext, _ state: PolicyState
    ) throws {
        self.state = state
        self.name = name
        self.object = object
        self.context = context
        let model = context.destination.model
        guard let found = model.relationship(name, of: object.entity) else {
            throw PolicyFailure("\(object.entity) has no relationship \(context.shown(name))")
        }
        guard !found.relationship.isTransient else {
            throw PolicyFailure("\(object.entity).\(name) is transient: no store holds its links")
        }
        relationship = found.relationship
        key = PropertyKey(found.owner.name, name)
    }

    /// Sets the link, and the other side of a one-to-one relationship along.
    func set(_ target: MadeObject?) throws {
        let model = context.destination.model
        guard !relationship.isToMany else { return try add(target) }
        try context.expectChange(of: name, object, state)
        if let target {
            guard model.isKind(target.entity, of: relationship.destination) else {
                throw PolicyFailure(
                    "\(object.entity).\(name) leads to objects of \(relationship.destination), and "
                        + "not of \(target.entity)")
            }
            if context.areFound(target.entity), target.origin != .found {
                throw PolicyFailure(
                    "objects of \(target.entity) are found by a key: find the target of "
                        + "\(object.entity).\(name) by its key, too")
            }
        }
        guard let (owner, inverse) = model.inverse(of: relationship) else {
            return try write(key, of: object, to: target)
        }
        if inverse.isOrdered {
            throw PolicyFailure(
                "the inverse of \(object.entity).\(name) is ordered, and places in lists cannot be "
                    + "set")
        }
        guard !inverse.isToMany else { return try write(key, of: object, to: target) }
        try setBoth(target, PropertyKey(owner.name, inverse.name))
    }

    /// Links two objects of one source object by a one-to-one relationship.
    private func setBoth(_ target: MadeObject?, _ inverse: PropertyKey) throws {
        let subject = "\(object.entity).\(name) is one-to-one"
        guard let target, object.origin != .found, target.origin != .found else {
            throw PolicyFailure(
                "\(subject): it can only be set, between objects that come of one source object")
        }
        try context.expectChange(of: inverse.property, target, state)
        for (key, holder) in [(key, object), (inverse, target)] {
            guard let column = context.destination.column(.toOne(key))?.column,
                try context.writer.value(column.name, of: holder) == nil
            else { throw PolicyFailure("\(subject), and one of the objects is linked already") }
        }
        try write(key, of: object, to: target)
        try write(inverse, of: target, to: object)
    }

    /// Adds a target to a to-many relationship, by the to-one inverse.
    private func add(_ target: MadeObject?) throws {
        guard let target else {
            throw PolicyFailure("\(object.entity).\(name) is to-many: nothing takes its links away")
        }
        guard let inverse = context.destination.model.inverse(of: relationship)?.relationship,
            !inverse.isToMany
        else {
            throw PolicyFailure(
                "\(object.entity).\(name) has no to-one inverse: many-to-many links cannot be set")
        }
        let model = context.destination.model
        guard model.isKind(target.entity, of: relationship.destination) else {
            throw PolicyFailure(
                "\(object.entity).\(name) leads to objects of \(relationship.destination), and not "
                    + "of \(target.entity)")
        }
        try PolicyLink(inverse.name, of: target, context, state).set(object)
    }

    private func write(
        _ key: PropertyKey, of holder: MadeObject, to target: MadeObject?
    ) throws {
        let layout = context.destination
        guard let column = layout.column(.toOne(key))?.column else {
            throw PolicyFailure("\(key) has no column")
        }
        try context.writer.set(column.name, of: holder, to: target.map { .integer($0.key) })
        if let number = layout.column(.toOneEntity(key))?.column {
            try context.writer.set(number.name, of: holder, to: target.map { .integer($0.number) })
        }
    }
}

extension Model {
    /// Whether an entity or a property has a name.
    func knows(_ name: String) -> Bool {
        entities[name] != nil
            || entities.values.contains { entity in
                entity.attributes.contains { $0.name == name }
                    || entity.relationships.contains { $0.name == name }
            }
    }
}
