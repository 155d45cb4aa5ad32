import CoreDataStore
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import SafeSQLite

/// What is known of one entity mapping with a policy while a chunk is copied.
///
/// An object: it is handed on for every value of every row.
final class PolicyContext {
    let file: LaidOutPlan
    let pass: PolicyPass
    let policy: PolicyDeclaration
    let connection: Connection
    let writer: MadeObjectWriter
    private let sets: Set<String>
    /// By entity and name, what was found in the model.
    private var columns: [String: [String: ColumnLayout]] = [:]
    private var types: [String: [String: AttributeType]] = [:]
    private var links: [String: [String: LinkPlace]] = [:]

    init(
        file: LaidOutPlan, pass: PolicyPass, policy: PolicyDeclaration, connection: Connection,
        writer: MadeObjectWriter
    ) {
        self.file = file
        self.pass = pass
        self.policy = policy
        self.connection = connection
        self.writer = writer
        sets = Set(policy.sets)
    }

    var plan: MigrationPlan { file.plan }
    var destination: StoreLayout { file.destination }

    /// Refuses a change that the policy does not declare.
    func expectChange(of name: String, _ object: MadeObject, _ state: PolicyState) throws {
        try state.expectOwn(object)
        switch object.origin {
        case .mapped:
            guard sets.contains(name) else {
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

    /// Whether many-to-many links of an object can be set.
    func canLink(_ object: MadeObject, by name: String, _ state: PolicyState) -> Bool {
        state.hook != .validate && state.isOwn(object)
            && (object.origin == .inserted || sets.contains(name))
    }

    /// Whether the mapping fills a column of an entity table.
    func isFilled(_ column: String, of table: String) -> Bool {
        plan.links.contains { $0.table == table && $0.orderColumn == column }
            || plan.feeds.contains { feed in
                feed.destinationTable == table
                    && feed.columns.contains { $0.name == column && !$0.cells.isEmpty }
            }
    }

    /// Whether the mapping fills a join table.
    func isFilled(_ join: JoinTableLayout) -> Bool {
        plan.joins.contains { $0.table == join.name && !$0.feeds.isEmpty }
    }

    /// The column of an attribute.
    func attributeColumn(_ name: String, _ entity: String) throws -> ColumnLayout {
        if let known = columns[entity]?[name] { return known }
        guard let attribute = destination.model.attribute(name, of: entity)?.attribute else {
            throw PolicyFailure("\(entity) has no attribute \(shown(name))")
        }
        if let reason = PolicyDeclaration.refusal(of: attribute) {
            throw PolicyFailure("it sets \(entity).\(name): \(reason)")
        }
        guard let column = destination.column(ofAttribute: name, of: entity)?.column else {
            throw PolicyFailure("\(entity).\(name) has no column")
        }
        columns[entity, default: [:]][name] = column
        return column
    }

    /// The place of a relationship.
    func link(_ name: String, _ entity: String) throws -> LinkPlace {
        if let known = links[entity]?[name] { return known }
        let found = try LinkPlace(name, of: entity, self)
        links[entity, default: [:]][name] = found
        return found
    }

    /// The type of an attribute.
    func type(of name: String, _ entity: String) -> AttributeType {
        if let known = types[entity]?[name] { return known }
        let found = destination.model.attribute(name, of: entity)?.attribute.type ?? .undefined
        types[entity, default: [:]][name] = found
        return found
    }

    /// A value as its column holds it.
    func cell(
        _ value: DefaultValue?, _ name: String, _ entity: String
    ) throws -> StoredCell? {
        guard let value else { return nil }
        let cell: StoredCell?
        do throws(ExpressionError) {
            cell = try StoredCell(value, as: type(of: name, entity))
        } catch {
            throw PolicyFailure("it sets \(entity).\(name): \(error)")
        }
        guard case .blob(let bytes)? = cell, try attributeColumn(name, entity).isExternal else {
            return cell
        }
        return .blob([ExternalReference.inlinePrefix] + bytes)
    }

    /// The value that a cell of the destination holds.
    func value(_ cell: StoredCell?, _ name: String, _ entity: String) throws -> DefaultValue? {
        var cell = cell
        if case .blob(let bytes)? = cell, try attributeColumn(name, entity).isExternal {
            switch bytes.withUnsafeBytes({ ExternalReference($0) }) {
            case .inline: cell = .blob(Array(bytes.dropFirst()))
            // What has no prefix was there before the flag was.
            case .malformed: break
            case .file:
                throw PolicyFailure(
                    "the value of \(entity).\(name) lies in a file: read it of the source object")
            }
        }
        return cell?.value(type(of: name, entity))
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
