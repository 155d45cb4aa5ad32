import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Whether links and paths lead to objects that the destination gets.
extension RequirementCount {
    /// The links that count for a number of links: those to objects that are not there are dropped
    /// where the user wants that.
    ///
    /// - Parameters:
    ///   - source: the relationship of exactly this entity.
    ///   - destination: the relationship that the links become.
    /// - Returns: nil for a relationship that the layout does not have.
    func arrivingLinks(
        _ source: PropertyReference, at destination: PropertyReference
    ) -> SQLText? {
        let found = links(source, towards: destination.entity, arrivingAt: destination)
        guard dangling == .nullify, let found,
            let target = layout.model.relationship(source.property, of: source.entity)?
                .relationship.destination,
            let table = layout.table(of: target)?.name
        else { return found }
        return "SELECT o, t FROM (\(found)) WHERE t IN (SELECT Z_PK FROM \(SQLText.quoted(table)))"
    }

    /// Objects whose path leads to nothing that the destination gets, as what follows `FROM`.
    ///
    /// `maker`: the entity mapping that makes the target; nil for any.
    func pathless(
        _ entity: String, _ keys: [String], _ destination: PropertyReference, _ maker: String?
    ) -> SQLText? {
        guard let path = SourcePath(toOne: keys, of: entity, in: layout),
            let own = layout.table(of: entity)?.name,
            let rows = rows(
                of: entity, towards: destination.entity,
                where: { mapped in
                    mapped.relationships.contains {
                        $0.destination == destination.property && $0.path == keys
                    }
                }),
            let target = layout.model.target(ofPath: keys, from: entity),
            let table = layout.table(of: target)
        else { return nil }
        let numbers = arriving(target, destination, maker)
        var arrives: SQLText = numbers.isEmpty ? "0" : "1"
        // All rows of a table of one entity are that entity's, whatever they name.
        if layout.onlyEntity(of: table) == nil || splits.contains(where: { $0.table == table.name })
        {
            let number = SplitNumbers(splits, cells: splits.computedCells)
                .number(of: SourceRow("a", schema: ""), in: table.name)
            arrives = "\(number) IN (\(.list(numbers)))"
        }
        let key = path.sql(from: SourceRow(.quoted(own), schema: ""))
        return "\(rows) AND NOT EXISTS (SELECT 1 FROM \(SQLText.quoted(table.name)) a "
            + "WHERE a.Z_PK = (\(key)) AND \(arrives))"
    }

    /// The numbers of rows of which an object comes that a destination relationship can lead to.
    private func arriving(
        _ target: String, _ destination: PropertyReference, _ maker: String?
    ) -> [Int64] {
        guard
            let wanted = destinationModel.relationship(
                destination.property, of: destination.entity)?.relationship.destination
        else { return [] }
        return layout.model.family(of: target).flatMap { member -> [Int64] in
            let makers = mapping.entityMappings.filter { mapped in
                mapped.source == member.name && (maker == nil || maker == mapped.name)
                    && mapped.destination.map { destinationModel.isKind($0, of: wanted) } == true
            }
            if let split = splits.first(where: { $0.entity == member.name }) {
                return split.kinds.filter { kind in
                    makers.contains { mapping.takes($0, mask: kind.mask) }
                }.map(\.number)
            }
            guard !makers.isEmpty, let number = layout.number(of: member.name) else { return [] }
            return [Int64(number)]
        }
    }
}
