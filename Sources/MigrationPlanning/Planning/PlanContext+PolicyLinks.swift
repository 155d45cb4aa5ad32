import CoreDataStore
import ManagedObjectModel
import MappingModel
import MigrationPlans
import SafeSQLite

/// Rows of join tables that policies make.
extension PlanContext {
    /// What is recorded of the many-to-many links that policies set.
    var policyLinks: [PolicyLinks] {
        destination.joinTables.compactMap { join in
            let passes = policyPasses.filter { $0.joins.contains(join.name) }
            guard !passes.isEmpty else { return nil }
            return PolicyLinks(
                table: join,
                naming: Self.end(join.namingColumn, join.naming, passes, destination.model),
                inverse: Self.end(join.inverseColumn, join.inverse, passes, destination.model),
                isWhole: passes.contains { pass in
                    mapping.entityMappings[pass.mapping].policy?.sets(
                        join, of: pass.objects.entity, in: destination.model) == true
                })
        }
    }

    private static func end(
        _ column: String, _ side: PropertyKey, _ passes: [PolicyPass], _ model: Model
    ) -> PolicyLinks.End {
        let blocks = passes.flatMap(\.blocks).filter {
            model.isKind($0.objects.entity, of: side.entity)
        }
        var found: [PolicyRows.Found] = []
        for kind in blocks.compactMap(\.found) where !found.contains(kind) { found.append(kind) }
        return PolicyLinks.End(
            column: column, inserted: blocks.filter(\.key.isEmpty).map(\.objects.keys),
            found: found)
    }

    /// Refuses a join table into which one policy puts objects that it finds by a key, and another
    /// one the same kind of objects as they are: a link's record could not say which is meant.
    static func refuseDifferentTargets(
        _ passes: [PolicyPass], _ destination: StoreLayout
    ) throws(PlanError) {
        for join in destination.joinTables {
            let writers = passes.filter { $0.joins.contains(join.name) }
            for side in [join.naming, join.inverse] {
                let kinds = writers.map { pass in
                    Set(
                        pass.blocks.filter {
                            !$0.key.isEmpty
                                && destination.model.isKind($0.objects.entity, of: side.entity)
                        }.map(\.objects.entity))
                }
                guard let place = kinds.firstIndex(where: { $0 != kinds[0] }) else { continue }
                throw .unsupported(
                    "policies \(writers[0].className) and \(writers[place].className) both link "
                        + "by \(side), and only one of them finds such objects by a key: let "
                        + "both find them")
            }
        }
    }
}

extension PolicyDeclaration {
    /// Whether the policy says that it sets links of objects of an entity in a join table.
    fileprivate func sets(_ join: JoinTableLayout, of entity: String, in model: Model) -> Bool {
        [join.naming, join.inverse].contains { side in
            sets.contains(side.property) && model.isKind(entity, of: side.entity)
        }
    }

    /// Whether the policy may link objects in a join table: those of an entity, or those that it
    /// inserts.
    func links(
        _ join: JoinTableLayout, from entity: String, in model: Model
    ) -> Bool {
        sets(join, of: entity, in: model)
            || creates.contains { created in
                created.key.isEmpty
                    && [join.naming, join.inverse].contains {
                        model.isKind(created.entity, of: $0.entity)
                    }
            }
    }
}
