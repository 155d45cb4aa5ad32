package import ManagedObjectModel
package import MappingModel

/// Looks for versions in between that keep what a migration in one step loses.
package struct IntermediateRenameSearch {
    /// A version of the model.
    package struct Version {
        package let name: String
        package let model: Model
        /// Its renaming identifiers, by place and name.
        fileprivate let identifiers: [String: String]
        /// Names of all entities and properties, and their renaming identifiers.
        fileprivate let keys: Set<String>

        package init(name: String, model: Model) {
            self.name = name
            self.model = model
            identifiers = model.renamingIdentifiers
            keys = model.names.union(identifiers.values)
        }

        /// Whether it has a renaming identifier that another version has not in the same place.
        package func renames(beyond other: Version) -> Bool {
            identifiers.contains { place, identifier in other.identifiers[place] != identifier }
        }

        /// Renaming identifiers that lead to a later version in two steps and not in one: of what
        /// that version has, without the identifier in the same place.
        package func identifiers(notRepeatedBy other: Version) -> Set<String> {
            let found = identifiers.filter { place, identifier in
                other.identifiers[place] != identifier
                    && other.keys.contains(place.split(separator: ".").last.map(String.init) ?? "")
            }
            return Set(found.values)
        }
    }

    private let source: Version
    private let destination: Version
    private let infer: (Version, Version) -> Inference?

    /// A search for one version of the stores.
    ///
    /// - Parameters:
    ///   - source: the version of the stores.
    ///   - destination: to which they go.
    ///   - infer: gives the mapping between two versions, nil where there is none.
    package init(
        from source: Version, to destination: Version,
        infer: @escaping (Version, Version) -> Inference?
    ) {
        self.source = source
        self.destination = destination
        self.infer = infer
    }

    /// Everything that one step loses and that two steps by one of these versions keep.
    ///
    /// A version counts only where no store can fail on the way by it, and where the way by it
    /// keeps all that one step keeps as it is: no default fills a missing value, and no order
    /// changes.
    ///
    /// - Parameter versions: in between, in their order, with the identifiers that the destination
    ///   does not repeat.
    /// - Returns: by what the source calls it, `Entity.property` or `Entity`; the first version
    ///   counts.
    /// - Complexity: O(names) for each version; three inferences for each of those whose
    ///   identifiers name something that goes, `candidateLimit` of them.
    package func renames(
        through versions: some Sequence<(version: Version, identifiers: Set<String>)>
    ) -> [String: IntermediateRename] {
        let keys = source.model.keys(missingIn: destination.model)
        var candidates = versions.filter { !keys.isDisjoint(with: $0.identifiers) }.map(\.version)
        // Most renames stay in the versions after them: of many versions the ends are tried.
        let half = Self.candidateLimit / 2
        if candidates.count > 2 * half { candidates.removeSubrange(half..<candidates.count - half) }
        guard !candidates.isEmpty, let inference = infer(source, destination) else { return [:] }
        let direct = Arrivals(of: source.model, inference.mapping)
        var renames: [String: IntermediateRename] = [:]
        for version in candidates {
            guard let first = infer(source, version), first.isPlain,
                let second = infer(version, destination), second.isPlain
            else { continue }
            let there = Arrivals(of: source.model, first.mapping)
            let after = Arrivals(of: version.model, second.mapping)
            let kept = there.followed(by: after)
            guard direct.places.keys.allSatisfy({ kept.places[$0] != nil }) else { continue }
            add(kept, there, lostBy: direct, in: version, to: &renames)
        }
        return renames
    }

    /// The most versions in between that are tried for one version of the stores.
    private static let candidateLimit = 8

    private func add(
        _ kept: Arrivals, _ there: Arrivals, lostBy direct: Arrivals, in version: Version,
        to renames: inout [String: IntermediateRename]
    ) {
        for entity in source.model.numberedEntities {
            let members = source.model.family(of: entity.name).filter { !$0.isAbstract }
            let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            for property in [nil] + names.map(Optional.some) {
                // What an entity loses is its own objects; a property, those of all members.
                let places = (property == nil ? [entity].filter { !$0.isAbstract } : members)
                    .map { Arrivals.Place(entity: $0.name, property: property) }
                let lost = places.filter { direct.places[$0] == nil }
                // An entity without its properties is not kept.
                if property == nil,
                    !names.allSatisfy({ own in
                        kept.places[.init(entity: entity.name, property: own)] != nil
                    })
                {
                    continue
                }
                let name = entity.name + (property.map { ".\($0)" } ?? "")
                guard let first = lost.first, lost.allSatisfy({ kept.places[$0] != nil }),
                    let place = there.places[first], renames[name] == nil,
                    place.property != property || place.entity != first.entity
                else { continue }
                renames[name] = IntermediateRename(
                    version: version.name, name: version.model.name(of: place))
            }
        }
    }
}

extension Inference {
    /// Whether the mapping asks nothing of the data and changes nothing that a user should know.
    fileprivate var isPlain: Bool { requirements.isEmpty && notes.isEmpty }
}

/// Where the objects and properties of every concrete entity arrive by a mapping; those that go are
/// missing.
private struct Arrivals {
    /// An entity, or a property that its objects have.
    struct Place: Hashable {
        let entity: String
        let property: String?
    }

    private(set) var places: [Place: Place] = [:]

    private init(places: [Place: Place]) { self.places = places }

    init(of model: Model, _ mapping: Mapping) {
        for mapped in mapping.entityMappings {
            guard let from = mapped.source, let to = mapped.destination,
                model.entities[from]?.isAbstract == false
            else { continue }
            places[Place(entity: from, property: nil)] = Place(entity: to, property: nil)
            for one in mapped.attributes {
                guard case .source(let name) = one.value else { continue }
                places[Place(entity: from, property: name)] =
                    Place(entity: to, property: one.destination)
            }
            for one in mapped.relationships {
                guard let name = one.source else { continue }
                places[Place(entity: from, property: name)] =
                    Place(entity: to, property: one.destination)
            }
        }
    }

    func followed(by next: Arrivals) -> Arrivals {
        Arrivals(places: places.compactMapValues { next.places[$0] })
    }
}

extension Model {
    /// A property by the entity that declares it.
    fileprivate func name(of place: Arrivals.Place) -> String {
        guard let property = place.property else { return place.entity }
        let owner =
            attribute(property, of: place.entity)?.owner
            ?? relationship(property, of: place.entity)?.owner
        return "\(owner?.name ?? place.entity).\(property)"
    }

    /// Renaming identifiers that say more than the name beside them, by `Entity.property` or
    /// `Entity`.
    fileprivate var renamingIdentifiers: [String: String] {
        var identifiers: [String: String] = [:]
        for entity in entities.values {
            if let identifier = entity.renamingIdentifier, identifier != entity.name {
                identifiers[entity.name] = identifier
            }
            let items =
                entity.attributes.map { ($0.name, $0.renamingIdentifier) }
                + entity.relationships.map { ($0.name, $0.renamingIdentifier) }
            for (name, identifier) in items {
                guard let identifier, identifier != name else { continue }
                identifiers["\(entity.name).\(name)"] = identifier
            }
        }
        return identifiers
    }

    /// Names of all entities and properties.
    fileprivate var names: Set<String> {
        var names = Set(entities.keys)
        for entity in entities.values {
            names.formUnion(entity.attributes.map(\.name))
            names.formUnion(entity.relationships.map(\.name))
        }
        return names
    }

    /// What renames may name: names, and renaming identifiers, of all that another model does not
    /// have in the same place under the same name.
    fileprivate func keys(missingIn other: Model) -> Set<String> {
        var keys: Set<String> = []
        for entity in entities.values {
            let there = other.entities[entity.name]
            if there == nil { keys.formUnion([entity.name, entity.renamingIdentifier ?? ""]) }
            let names = Set(
                (there?.attributes.map(\.name) ?? []) + (there?.relationships.map(\.name) ?? []))
            let items =
                entity.attributes.map { ($0.name, $0.renamingIdentifier) }
                + entity.relationships.map { ($0.name, $0.renamingIdentifier) }
            for (name, identifier) in items where !names.contains(name) {
                keys.formUnion([name, identifier ?? ""])
            }
        }
        return keys.filter { !$0.isEmpty }
    }
}
