import ManagedObjectModel
import MappingModel

/// What of each version's objects arrives in a later version by a mapping.
struct Survivors {
    /// An entity, or a property that its objects have.
    struct Place: Hashable, Comparable {
        let entity: String
        let property: String?

        var name: String { property.map { "\(entity).\($0)" } ?? entity }

        static func < (left: Place, right: Place) -> Bool { left.name < right.name }
    }

    /// The places that something of a place comes to.
    private var arrivals: [Place: Set<Place>] = [:]

    /// - Complexity: O(entity mappings × properties).
    init(of model: Model, _ mapping: Mapping) {
        for mapped in mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination else { continue }
            add(Place(entity: from, property: nil), Place(entity: to, property: nil))
            for attribute in mapped.attributes {
                for (_, before) in model.allAttributes(of: from)
                where Self.reads(attribute.value, before, of: mapped) {
                    let name = String(attribute.destination.prefix { $0 != "." })
                    add(
                        Place(entity: from, property: before.name),
                        Place(entity: to, property: name))
                }
            }
            for link in mapped.relationships {
                for name in [link.source, link.path?.first].compactMap({ $0 }) {
                    add(
                        Place(entity: from, property: name),
                        Place(entity: to, property: link.destination))
                }
            }
        }
    }

    private static func reads(
        _ value: ValueExpression, _ attribute: Attribute, of mapping: EntityMapping
    ) -> Bool {
        if mapping.policy?.carries.contains(attribute.name) == true { return true }
        if value.reads(attribute.name) { return true }
        // An element of a composite attribute.
        return value.sourceName?.hasPrefix(attribute.name + ".") == true
    }

    private mutating func add(_ from: Place, _ to: Place) {
        arrivals[from, default: []].insert(to)
    }

    /// The places of a version of which something comes to one of some places of the later one.
    func places(arrivingAt later: Set<Place>) -> Set<Place> {
        Set(arrivals.filter { !$0.value.isDisjoint(with: later) }.keys)
    }

    /// Everything that objects of a version have.
    static func all(of model: Model) -> Set<Place> {
        var places: Set<Place> = []
        for entity in model.numberedEntities where !entity.isAbstract {
            places.insert(Place(entity: entity.name, property: nil))
            for (_, attribute) in model.allAttributes(of: entity.name)
            where attribute.isStored && attribute.derivation == nil {
                places.insert(Place(entity: entity.name, property: attribute.name))
            }
            for (_, link) in model.allRelationships(of: entity.name) where !link.isTransient {
                places.insert(Place(entity: entity.name, property: link.name))
            }
        }
        return places
    }

    /// The places without those of relationships whose inverse has the links.
    static func completed(_ places: Set<Place>, of model: Model) -> Set<Place> {
        var completed = places
        for entity in model.numberedEntities where !entity.isAbstract {
            for (_, link) in model.allRelationships(of: entity.name) {
                guard let inverse = model.inverse(of: link)?.relationship.name else { continue }
                let isKept = model.family(of: link.destination).contains {
                    places.contains(Place(entity: $0.name, property: inverse))
                }
                if isKept { completed.insert(Place(entity: entity.name, property: link.name)) }
            }
        }
        return completed
    }
}
