import CoreDataStore
import ManagedObjectModel
package import MappingModel
import ValidationScans

extension ValidationScope {
    /// What stores of the source's version can lose, whatever they hold, by name.
    ///
    /// No loss that `Validator.losses(dropsHistory:source:)` counts is missing, but for history.
    /// A store without such values, links or objects loses none of them.
    ///
    /// - Complexity: O(entities × properties); reads no file.
    package var possibleLosses: [Loss.Subject] {
        var scope = self
        scope.splits = possibleSplits
        return scope.lossesOfKinds
    }

    /// Objects for which one filter holds, of every entity with filters: where more of them hold,
    /// no more is lost.
    private var possibleSplits: [SourceSplit] {
        var next = Int64(source.entityOrder.count)
        return source.entityOrder.compactMap { entity in
            let filters = mapping.filters(ofSource: entity)
            guard !filters.isEmpty else { return nil }
            let numbers = filters.indices.map { bit in
                next += 1
                return (Int64(1) << Int64(bit), next)
            }
            return SourceSplit(
                entity: entity, numbers: Dictionary(uniqueKeysWithValues: numbers))
        }
    }

    private var lossesOfKinds: [Loss.Subject] {
        let places = destination.storedLinks.compactMap { LinkLocation($0, scope: self) }
        var subjects: Set<Loss.Subject> = []
        for table in source.tables {
            for kind in kinds(ofFamily: table.rootEntity)
            where source.model.entities[kind.entity]?.isAbstract == false {
                let rules = LossRules(of: kind, in: table, scope: self, places: places)
                if let entity = rules.entity { subjects.insert(entity) }
                for column in rules.columns { subjects.insert(column.subject) }
                subjects.formUnion(rules.replacements)
            }
        }
        for join in source.joinTables where !places.carry(join) {
            subjects.insert(Loss.Subject(linksOf: join.naming, in: source))
        }
        // Objects that have a destination, but none that the relationship can have an end in.
        for place in places {
            for feed in place.feeds where [feed.owner, feed.target].contains(where: loses) {
                if let subject = feed.subject(at: place.key, self) { subjects.insert(subject) }
            }
        }
        return subjects.sorted()
    }

    /// Whether links of objects that have a destination can be dropped at an end.
    private func loses(_ end: EndFates) -> Bool {
        end.possible.contains { number in
            guard end.kept[number] == nil, !end.removed.contains(number) else { return false }
            let stored =
                splits.first { $0.numbers.values.contains(number) }.map(\.entity)
                ?? source.entityOrder[Int(number) - 1]
            return source.model.entities[stored]?.isAbstract == false
        }
    }
}
