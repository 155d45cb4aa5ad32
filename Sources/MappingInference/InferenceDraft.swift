import ManagedObjectModel
import MappingModel

/// An inference under way: what has been paired and found so far.
///
/// The steps run in the order in which `Inference` calls them; each lies in a file of its own.
struct InferenceDraft {
    let source: StoredProperties
    let destination: StoredProperties
    /// Whether both models are one version: then renaming identifiers say nothing.
    private let isSameVersion: Bool

    /// Source entity by destination entity.
    var sourceEntity: [String: String] = [:]
    /// Destination entity by source entity.
    var destinationEntity: [String: String] = [:]
    /// Destination entities by source entity, as a mapping file states them.
    var statedDestinations: [String: [String]] = [:]
    /// Destination entities by source entity: more than one where a mapping file says so.
    var destinationEntities: [String: [String]] {
        Dictionary(grouping: sourceEntity.keys) { sourceEntity[$0] ?? "" }
            .merging(statedDestinations) { $0 + $1 }
    }
    /// Source attribute by destination attribute, for every paired destination entity.
    var sourceAttribute: [String: [String: String]] = [:]
    /// Source relationship by destination relationship, for every paired destination entity.
    var sourceRelationship: [String: [String: String]] = [:]
    /// Paths of to-one relationships that a mapping file states, by destination entity and
    /// relationship.
    var statedPaths: [String: [String: [String]]] = [:]
    /// Names of entity mappings that alone make the targets of relationships, by destination
    /// entity and relationship, where several mappings make such objects.
    var linkMapping: [String: [String: String]] = [:]
    /// Where targets of relationships go, by the destinations of the relationships.
    var targetFates: [TargetFateKey: TargetFate] = [:]

    /// The mapping file that directs the draft; nil for inference alone.
    var direction: MappingDefinition?
    /// What that file states, by destination entity.
    var directed: [String: EntityMappingDefinition] = [:]
    /// The destination entities that this draft maps; nil for all, and then it also maps removals.
    var mappedEntities: Set<String>?
    /// What policies say of themselves that the file may name.
    var policies: [PolicyDeclaration] = []
    /// What in that file cannot be run.
    var mistakes: [MappingMistake] = []

    var mappings: [EntityMapping] = []
    var usedNames: Set<String> = []
    var refusals = DistinctList<Refusal>()
    var requirements = DistinctList<DataRequirement>()
    var notes = DistinctList<InferenceNote>()

    init(from source: Model, to destination: Model) {
        self.source = StoredProperties(source)
        self.destination = StoredProperties(destination)
        isSameVersion = VersionHashes(source).entities == VersionHashes(destination).entities
    }

    mutating func refuse(
        _ rule: InferenceRule, _ entity: String, _ property: String?, _ explanation: String,
        remedy: String
    ) {
        refusals.append(
            Refusal(
                rule: rule, entity: entity, property: property, explanation: explanation,
                remedy: remedy))
    }
}

// MARK: - Pairs

extension InferenceDraft {
    private static let identifierRemedy =
        "Give each of them a renaming identifier of its own, or use a version in between."

    /// Finds the source entity of every destination entity.
    mutating func pairEntities() {
        pair(destination.model.numberedEntities, with: source.model.numberedEntities)
    }

    /// Finds the source entity of each of some destination entities among some source entities.
    mutating func pair(_ destinations: [Entity], with sources: [Entity]) {
        let matching = IdentifierMatching(
            destinations: destinations.map { identified($0.name, $0.renamingIdentifier) },
            sources: sources.map { identified($0.name, $0.renamingIdentifier) })
        for (to, from) in matching.sources {
            sourceEntity[to] = from
            destinationEntity[from] = to
        }
        for ambiguity in matching.ambiguities {
            refuse(
                .ambiguousIdentifier, ambiguity.destinations.first ?? "", nil,
                "renaming identifier \(ambiguity.identifier) could join entity "
                    + "\(ambiguity.destinations.joined(separator: " or ")) with source entity "
                    + ambiguity.sources.joined(separator: " or "), remedy: Self.identifierRemedy)
        }
    }

    /// Finds the source property of every stored property of the paired destination entities.
    mutating func pairProperties() {
        for entity in destination.model.numberedEntities {
            guard let from = sourceEntity[entity.name] else { continue }
            let all = identified(destination, entity.name)
            let sources = identified(source, from)
            let inferred = all.filter { infers($0.name, of: entity.name) }
            let matching = IdentifierMatching(destinations: inferred, sources: sources)
            // What a stated property would get is no other one's because it is stated.
            let isComplete = inferred.count == all.count
            let unstated =
                isComplete
                ? matching : IdentifierMatching(destinations: all, sources: sources)
            let taken = Set(
                all.filter { !infers($0.name, of: entity.name) }
                    .compactMap { unstated.sources[$0.name] })
            for ambiguity in matching.ambiguities {
                let property = ambiguity.destinations.first ?? ""
                refuse(
                    .ambiguousIdentifier, owner(of: property, entity.name), property,
                    "renaming identifier \(ambiguity.identifier) could join property "
                        + "\(ambiguity.destinations.joined(separator: " or ")) with source "
                        + "property \(ambiguity.sources.joined(separator: " or "))",
                    remedy: Self.identifierRemedy)
            }
            for (to, name) in matching.sources.sorted(by: { $0.key < $1.key })
            where !isInverseOfPolicy(to, of: entity.name)
                && !isInverseOfPath(
                    to, of: entity.name, reading: source.relationship(name, of: from)?.relationship)
                && (!taken.contains(name) || isAutomatic(to, of: entity.name))
            {
                recordPair(entity.name, to, from, name)
            }
        }
    }

    private mutating func recordPair(
        _ entity: String, _ property: String, _ from: String, _ name: String
    ) {
        let isAttribute = destination.attribute(property, of: entity) != nil
        let wasAttribute = source.attribute(name, of: from) != nil
        guard isAttribute == wasAttribute else {
            let (kind, before) =
                isAttribute ? ("attribute", "relationship") : ("relationship", "attribute")
            return refuse(
                .propertyKindChanged, owner(of: property, entity), property,
                "it is the \(kind) that source \(before) \(from).\(name) would become",
                remedy: "Use another name for the new property, or use a version in between.")
        }
        if isAttribute {
            sourceAttribute[entity, default: [:]][property] = name
        } else {
            sourceRelationship[entity, default: [:]][property] = name
        }
    }

    private func owner(of property: String, _ entity: String) -> String {
        destination.attribute(property, of: entity)?.owner
            ?? destination.relationship(property, of: entity)?.owner ?? entity
    }

    private func identified(_ name: String, _ identifier: String?) -> Identified {
        Identified(name: name, identifier: isSameVersion ? nil : identifier)
    }

    private func identified(
        _ properties: StoredProperties, _ entity: String
    ) -> [Identified] {
        properties.attributes(of: entity).map {
            identified($0.attribute.name, $0.attribute.renamingIdentifier)
        }
            + properties.relationships(of: entity).map {
                identified($0.relationship.name, $0.relationship.renamingIdentifier)
            }
    }
}
