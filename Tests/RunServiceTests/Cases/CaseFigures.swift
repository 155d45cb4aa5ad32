import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import MigrationValidation

/// What a number of cases met.
struct CaseFigures: Sendable {
    private(set) var counts: [String: Int] = [:]

    init() {}

    init(
        _ one: RandomCase, _ plan: MigrationPlan, _ before: PlainStore, _ after: PlainStore,
        _ losses: [Loss]
    ) {
        count("cases")
        count("mode \(one.mode.rawValue)")
        for change in one.changes { count("change \(change.rawValue)") }
        count("dangling \(plan.options.dangling.rawValue)")
        count("rows", after.objects.values.reduce(0) { $0 + $1.count })
        count("links", after.relations.values.reduce(0) { $0 + $1.count })
        for kind in Set(losses.map(\.subject.kind)) { count("losing \(kind.rawValue)") }
        if !before.isWhole { count("with links to nothing") }
        if plan.chunks.count > plan.feeds.count + plan.joins.count { count("with cut tables") }
        if plan.feeds.contains(where: { $0.offset > 0 }) { count("with moved keys") }
        if Set(plan.feeds.map(\.sourceTable)).count < plan.feeds.count {
            count("with split tables")
        }
        if !plan.links.isEmpty { count("with link plans") }
        for link in plan.links {
            switch link.purpose {
            case .target: count("link plans: target")
            case .owner: count("link plans: owner")
            case .targetRank: count("link plans: target's place")
            case .ownerRank: count("link plans: owner's place")
            }
        }
        let computed = plan.computedCells
        if !computed.isEmpty { count("with computed values") }
        count("values by SQL", computed.count { ValueSQL($0).expression != nil })
        count("values by Swift", computed.count { ValueSQL($0).expression == nil })
        count("values converted", computed.count { $0.value.expression.isAttempt })
        let links = plan.mapping.entityMappings.flatMap(\.relationships)
        count("paths", links.count { $0.path != nil })
        let feeds = plan.joins.flatMap(\.feeds)
        if !feeds.isEmpty { count("with join feeds") }
        if feeds.contains(where: { !$0.isArithmetic }) { count("with joins looked up") }
        if plan.joins.contains(where: { $0.feeds.count > 1 }) {
            count("with joins of several sources")
        }
        if plan.joins.contains(where: \.isReflexive) { count("with reflexive joins") }
        if plan.joins.contains(where: { $0.ownerOrder != nil || $0.targetOrder != nil }) {
            count("with ordered joins")
        }
    }

    mutating func count(_ name: String, _ number: Int = 1) { counts[name, default: 0] += number }

    mutating func add(_ other: CaseFigures) {
        counts.merge(other.counts) { $0 + $1 }
    }

    subscript(_ name: String) -> Int { counts[name] ?? 0 }

    /// Every count in a line of its own.
    var lines: String {
        counts.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            .joined(separator: "\n")
    }
}

extension RandomCase {
    /// Both models in short, for people.
    var lines: [String] {
        ["from:"] + Self.lines(source) + ["to:"] + Self.lines(destination)
    }

    private static func lines(_ model: Model) -> [String] {
        model.numberedEntities.map { entity in
            let above = entity.parent.map { ": \($0)" } ?? ""
            let was = entity.renamingIdentifier.map { " (was \($0))" } ?? ""
            let properties = entity.relationships.map { relationship in
                let kind = !relationship.isToMany ? "→" : relationship.isOrdered ? "⇉…" : "⇉"
                let was = relationship.renamingIdentifier.map { " (was \($0))" } ?? ""
                return "\(relationship.name)\(was) \(kind) \(relationship.destination)"
                    + ".\(relationship.inverse ?? "-")\(relationship.isOptional ? "" : "!")"
            }
            return "  \(entity.isAbstract ? "abstract " : "")\(entity.name)\(above)\(was) { "
                + properties.joined(separator: ", ") + " }"
        }
    }
}
