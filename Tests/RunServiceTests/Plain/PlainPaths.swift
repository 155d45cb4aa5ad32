import CoreDataStore
import ExpressionEvaluation
import ManagedObjectModel
import MappingExpressions
import MappingModel

/// Links that entity mappings state by paths of to-one relationships.
extension PlainPasses {
    /// Where a path leads an object.
    struct PathEnd {
        /// The relationship of the destination, by the entity that declares it.
        let relationship: PropertyKey
        let target: PlainReference
        /// What makes the target; nil where nothing does that the relationship takes.
        let maker: EntityMapping?
    }

    /// The paths of an entity mapping that lead an object to another one.
    func pathEnds(of mapped: EntityMapping, _ object: PlainReference) -> [PathEnd] {
        mapped.relationships.compactMap { stated in
            guard let path = stated.path, !path.isEmpty, let to = mapped.destination,
                let found = model.relationship(stated.destination, of: to),
                let target = end(of: path, object)
            else { return nil }
            let maker = passes(target.key, of: target.entity).first { made in
                (stated.mapping ?? made.name) == made.name
                    && made.destination.map {
                        model.isKind($0, of: found.relationship.destination)
                    } == true
            }
            return PathEnd(
                relationship: PropertyKey(found.owner.name, stated.destination), target: target,
                maker: maker)
        }
    }

    private func end(of path: [String], _ object: PlainReference) -> PlainReference? {
        do throws(ExpressionError) {
            let value = try ExpressionEvaluator(PlainEvaluation(store: store), now: 0).value(
                of: .keyPath(.variable("source"), path), variables: ["source": .object(object)])
            guard case .object(let target) = value else { return nil }
            return target
        } catch {
            return nil
        }
    }

    /// The links of a relationship that an entity mapping states by a path, in the keys of the
    /// destination.
    func pathLinks(of mapped: EntityMapping, at key: PropertyKey) -> [PlainLink] {
        guard let from = mapped.source, mapped.relationships.contains(where: { $0.path != nil })
        else { return [] }
        var links: [PlainLink] = []
        for (owner, object) in store.objects[store.root(of: from)] ?? [:]
        where passes(owner, of: object.entity).contains(where: { $0.name == mapped.name }) {
            let ends = pathEnds(of: mapped, PlainReference(entity: object.entity, key: owner))
            for end in ends where end.relationship == key {
                guard let maker = end.maker else { continue }
                links.append(
                    PlainLink(
                        owner: owner + offset(of: mapped),
                        target: end.target.key + offset(of: maker)))
            }
        }
        return links
    }
}
