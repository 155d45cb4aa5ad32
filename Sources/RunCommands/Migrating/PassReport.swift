import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import RunReports
import SafeSQLite

/// What a plan says of one entity mapping of a mapping file.
///
/// Its JSON is documented in `docs/reference/json.md`.
struct PassReport: Hashable, Sendable, Codable {
    /// What works out a value or finds a link.
    enum Maker: String, Hashable, Sendable, Codable {
        /// The value or the key stands in the source row.
        case row
        case sql = "SQL"
        case swift = "Swift"
        /// A join table is copied.
        case join
        case linkStage = "link stage"
        /// The migration policy.
        case policy
    }

    /// Objects that the migration policy makes.
    struct Creation: Hashable, Sendable, Codable {
        var entity: String
        /// The most of them for one source object.
        var most: Int
        /// The keys reserved for them.
        var firstKey: Int64
        var lastKey: Int64
        /// Attributes by which objects are found first, in the link stage once for all chunks.
        var foundBy: [String]
    }

    /// A destination property that is more than the source property of its name.
    struct Property: Hashable, Sendable, Codable {
        var name: String
        /// The expression or source; null for no value and no links.
        var value: String?
        var maker: Maker
    }

    var name: String
    var source: String
    var destination: String
    var filter: String?
    /// What evaluates the filter; null without one.
    var filterMaker: Maker?
    /// Objects of the source entity, and those of them that the mapping takes.
    var sourceRows: Int64
    var rows: Int64
    /// Destination key = source key + offset.
    var keyOffset: Int64
    var properties: [Property]
    /// The class of the migration policy; null without one.
    var policy: String?
    var creates: [Creation]

    init?(_ pass: PassMove, of plan: MigrationPlan) {
        let mapping = plan.mapping.entityMappings[pass.mapping]
        guard let source = mapping.source, let destination = mapping.destination else {
            return nil
        }
        name = mapping.name
        self.source = source
        self.destination = destination
        keyOffset = pass.offset
        sourceRows = plan.sourceRows[source] ?? 0
        let entities = plan.feeds.flatMap(\.entities).filter { $0.pass == pass.mapping }
        rows = entities.reduce(0) { $0 + plan.rows(of: $1) }
        filter = mapping.filter?.text
        let cells = plan.computedCells
        let maker = { (expression: MappingExpression) in
            let value = ComputedValue(expression, of: source, in: plan.sourceModel)
            let cell = cells.first { $0.value == value }
            return cell.flatMap { ValueSQL($0).expression } == nil ? Maker.swift : .sql
        }
        filterMaker = (mapping.filter?.sourceExpression).map(maker)
        policy = mapping.policy?.className
        creates = (plan.policies.first { $0.mapping == pass.mapping }?.blocks ?? []).map { block in
            Creation(
                entity: block.objects.entity, most: Int(clamping: block.most),
                firstKey: block.base + 1, lastKey: block.objects.keys.upper ?? block.base,
                foundBy: block.key.map(\.attribute))
        }
        properties =
            mapping.attributes.compactMap { Self.property($0, maker) }
            + mapping.relationships.compactMap { relationship in
                mapping.policy?.sets.contains(relationship.destination) == true
                    ? Property(name: relationship.destination, value: nil, maker: .policy)
                    : Self.property(relationship, from: source, to: destination, in: plan)
            }
    }

    private static func property(
        _ attribute: AttributeMapping, _ maker: (MappingExpression) -> Maker
    ) -> Property? {
        let name = attribute.destination
        switch attribute.value {
        case .source(let source):
            return source == name ? nil : Property(name: name, value: source, maker: .row)
        case .sourceOrDefault, .constant:
            return Property(name: name, value: attribute.value.text, maker: .sql)
        case .expression(let expression):
            return Property(name: name, value: expression.text, maker: maker(expression))
        case .policy(let expression):
            return Property(name: name, value: expression?.text, maker: .policy)
        case .null: return Property(name: name, value: nil, maker: .row)
        }
    }

    private static func property(
        _ relationship: RelationshipMapping, from entity: String, to destination: String,
        in plan: MigrationPlan
    ) -> Property? {
        let name = relationship.destination
        let made = relationship.mapping.map { ", made by \($0)" } ?? ""
        if let path = relationship.path {
            let keys = ["$source"] + path
            return Property(
                name: name, value: keys.joined(separator: ".") + made, maker: .sql)
        }
        guard let source = relationship.source,
            let owner = plan.sourceModel.relationship(source, of: entity)?.owner
        else {
            let inverse = setInverse(of: name, destination, in: plan)
            return Property(
                name: name, value: inverse.map { "its inverse \($0)" }, maker: .row)
        }
        let relation = "\(owner.name).\(source)"
        var maker = Maker.row
        if plan.joins.contains(where: { $0.feeds.contains { $0.relation.name == relation } }) {
            maker = .join
        }
        if plan.links.contains(where: { $0.relation.name == relation }) { maker = .linkStage }
        guard source != name || maker == .linkStage || !made.isEmpty else { return nil }
        return Property(name: name, value: "$source.\(source)\(made)", maker: maker)
    }
}

extension PassReport {
    /// The other side of a relationship that has no links of its own, where that side has some.
    private static func setInverse(
        of name: String, _ entity: String, in plan: MigrationPlan
    ) -> String? {
        guard let found = plan.destinationModel.relationship(name, of: entity),
            let inverse = found.relationship.inverse
        else { return nil }
        let isSet = plan.mapping.entityMappings.contains { mapping in
            guard let owner = mapping.destination,
                plan.destinationModel.relationship(inverse, of: owner)?.relationship.inverse == name
            else { return false }
            return mapping.relationships.contains {
                $0.destination == inverse && ($0.source != nil || $0.path != nil)
            }
        }
        return isSet ? "\(found.relationship.destination).\(inverse)" : nil
    }

    /// A note on a filter that takes none of the objects that there are; nil for any other.
    var filterNote: String? {
        guard filter != nil, rows == 0, sourceRows > 0 else { return nil }
        return "the filter of entity mapping \(name) takes none of \(grouped(sourceRows)) objects "
            + "of \(source)"
    }

    /// The entity mapping for a terminal: a line, and one for each property.
    var lines: [String] {
        let taken =
            filter.map { " where \($0) (\(filterMaker?.rawValue ?? ""))" } ?? ""
        let moved = keyOffset == 0 ? "" : ", keys moved by \(grouped(keyOffset))"
        let of = rows == sourceRows ? "" : " of \(grouped(sourceRows))"
        let by = policy.map { ", with policy \($0)" } ?? ""
        return [
            "- \(name): \(grouped(rows))\(of) \(source) → \(destination)\(taken)\(moved)\(by)"
        ]
            + properties.map { property in
                let value = property.value.map { "\($0) (\(property.maker.rawValue))" }
                let nothing = property.maker == .policy ? "set by the policy" : "nothing"
                return "    \(property.name) = \(value ?? nothing)"
            }
            + creates.map { created in
                let found =
                    created.foundBy.isEmpty
                    ? "" : ", found by \(created.foundBy.joined(separator: ", ")) (link stage)"
                return "    creates \(created.entity): at most \(created.most) for each object, "
                    + "keys \(grouped(created.firstKey)) to \(grouped(created.lastKey))\(found)"
            }
    }
}
