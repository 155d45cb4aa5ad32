package import ManagedObjectModel

/// A version in between that renames what a migration in one step loses.
///
/// A renaming identifier of that version names the old property; the destination no longer
/// repeats it. A migration by that version first keeps the data.
package struct IntermediateRename: Hashable, Sendable, Codable {
    /// Name of the version.
    package let version: String
    /// What the destination calls it: `Entity.property`, or `Entity`.
    package let name: String

    package init(version: String, name: String) {
        self.version = version
        self.name = name
    }
}

extension IntermediateRename: CustomStringConvertible {
    package var description: String {
        "version \(version) renames it to \(name): migrate to that version first to keep it"
    }
}

/// Follows entities and properties through the versions of a model, one inference after the other.
package struct RenameTrail {
    /// A version of the model.
    package struct Version {
        package let name: String
        package let model: Model
        /// Its renaming identifiers, by place and name.
        fileprivate let identifiers: [String: String]

        package init(name: String, model: Model) {
            self.name = name
            self.model = model
            identifiers = model.renamingIdentifiers
        }
    }

    private let source: Model
    private let steps: [Step]

    fileprivate struct Step {
        /// The version that the step leads to.
        let version: String
        let mapping: Mapping
        let model: Model
    }

    /// Everything that versions in between keep under another name and that one step loses.
    ///
    /// - Parameters:
    ///   - source: where the way begins.
    ///   - versions: in between, in their order; one that nothing leads to is passed over.
    ///   - destination: where the way ends.
    ///   - infer: gives the mapping between two versions, nil where there is none.
    /// - Returns: by what the source calls it, `Entity.property` or `Entity`.
    /// - Complexity: O(versions × names) where no version in between renames what goes.
    package static func renames(
        from source: Version, through versions: some Collection<Version>, to destination: Version,
        infer: (Version, Version) -> Inference?
    ) -> [String: IntermediateRename] {
        var identifiers: Set<String> = []
        for version in versions {
            // One that the destination repeats leads there in one step.
            for (place, identifier) in version.identifiers
            where destination.identifiers[place] != identifier {
                identifiers.insert(identifier)
            }
        }
        guard !identifiers.isEmpty,
            source.model.keys(missingIn: destination.model).contains(where: identifiers.contains),
            let direct = infer(source, destination),
            let trail = RenameTrail(from: source, through: versions, to: destination, infer)
        else { return [:] }
        return trail.renames(
            lostBy: Step(version: "", mapping: direct.mapping, model: destination.model))
    }

    private init?(
        from source: Version, through versions: some Collection<Version>, to destination: Version,
        _ infer: (Version, Version) -> Inference?
    ) {
        self.source = source.model
        var version = source
        var steps: [Step] = []
        for next in Array(versions) + [destination] {
            guard let mapping = infer(version, next)?.mapping else { continue }
            steps.append(Step(version: next.name, mapping: mapping, model: next.model))
            version = next
        }
        guard version.name == destination.name else { return nil }
        self.steps = steps
    }

    private func renames(lostBy straight: Step) -> [String: IntermediateRename] {
        var renames: [String: IntermediateRename] = [:]
        for entity in source.numberedEntities {
            if !entity.isAbstract, RenameTrail.follow(entity.name, [straight]) == nil {
                renames[entity.name] = RenameTrail.follow(entity.name, steps)
            }
            let names = entity.attributes.map(\.name) + entity.relationships.map(\.name)
            for name in names {
                let place = Place(entity: entity.name, property: name)
                guard follow(place, [straight]) == nil else { continue }
                renames["\(entity.name).\(name)"] = follow(place, steps)
            }
        }
        return renames.filter { !$0.value.version.isEmpty }
    }

    fileprivate struct Place {
        var entity: String
        var property: String
    }

    /// Where an entity arrives; its version is empty where it keeps its name.
    private static func follow(_ entity: String, _ steps: [Step]) -> IntermediateRename? {
        var name = entity
        var version = ""
        for step in steps {
            guard
                let next = step.mapping.entityMappings.first(where: { $0.source == name })?
                    .destination
            else { return nil }
            if next != name, version.isEmpty { version = step.version }
            name = next
        }
        return IntermediateRename(version: version, name: name)
    }

    /// Where a property arrives, as an entity that has it carries it.
    private func follow(_ start: Place, _ steps: [Step]) -> IntermediateRename? {
        for member in source.family(of: start.entity) where !member.isAbstract {
            var place = Place(entity: member.name, property: start.property)
            var version = ""
            let arrives = steps.allSatisfy { step in
                guard let next = step.next(of: place) else { return false }
                if next.property != place.property, version.isEmpty { version = step.version }
                place = next
                return true
            }
            guard arrives, let last = steps.last else { continue }
            let owner =
                last.model.attribute(place.property, of: place.entity)?.owner
                ?? last.model.relationship(place.property, of: place.entity)?.owner
            return IntermediateRename(
                version: version, name: "\(owner?.name ?? place.entity).\(place.property)")
        }
        return nil
    }
}

extension RenameTrail.Step {
    fileprivate func next(of place: RenameTrail.Place) -> RenameTrail.Place? {
        for mapped in mapping.entityMappings where mapped.source == place.entity {
            guard let destination = mapped.destination else { continue }
            let attribute = mapped.attributes.first { $0.value.sourceName == place.property }
            let relationship = mapped.relationships.first { $0.source == place.property }
            if let property = attribute?.destination ?? relationship?.destination {
                return RenameTrail.Place(entity: destination, property: property)
            }
        }
        return nil
    }
}

extension Model {
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
