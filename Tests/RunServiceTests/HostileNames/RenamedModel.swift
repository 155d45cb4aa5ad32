import ManagedObjectModel
import StoreForge
import TestSupport

/// A random model whose names are replaced by hostile ones, one for one.
struct RenamedModel<Random: RandomNumberGenerator> {
    private var random: Random
    private let canary: String
    private var names: [String: String] = [:]
    private var taken: Set<String> = []

    /// Makes a model.
    ///
    /// - Throws: `ModelError` where the names do not make a model.
    static func make(
        using random: inout Random, canary: String
    ) throws(ModelError) -> Model {
        let ordinary = try RandomModel.make(using: &random, entities: 1...3)
        var renaming = RenamedModel(random: random, canary: canary)
        var entities: [Entity] = []
        for entity in ordinary.numberedEntities { entities.append(renaming.renamed(entity)) }
        random = renaming.random
        return try Model(
            entities: entities, versionIdentifiers: [renaming.fresh()],
            configurations: [renaming.fresh(): entities.map(\.name)])
    }

    /// The same model with one more attribute, so that there is something to do.
    static func next(after model: Model, using random: inout Random, canary: String) throws -> Model
    {
        var entities = model.numberedEntities
        entities[0].attributes.append(
            Attribute(
                name: "more " + HostileNames.make(using: &random, canary: canary), type: .string))
        return try Model(entities: entities, versionIdentifiers: ["next"])
    }

    private init(random: Random, canary: String) {
        self.random = random
        self.canary = canary
    }

    private mutating func fresh() -> String {
        HostileNames.make(using: &random, canary: canary)
    }

    /// The new name, the same one each time; names differ in more than case.
    private mutating func renamed(_ name: String) -> String {
        if let known = names[name] { return known }
        var made = fresh()
        while !taken.insert(made.uppercased()).inserted { made += "\(taken.count)" }
        names[name] = made
        return made
    }

    private mutating func renamed(_ entity: Entity) -> Entity {
        var entity = entity
        entity.name = renamed(entity.name)
        entity.parent = entity.parent.map { renamed($0) }
        entity.className = fresh()
        entity.renamingIdentifier = nil
        for index in entity.attributes.indices {
            entity.attributes[index].name = renamed(entity.attributes[index].name)
            if let derivation = entity.attributes[index].derivation {
                let steps = derivation.expression.split(separator: ".").map(String.init)
                entity.attributes[index].derivation?.expression =
                    steps.map { $0.hasPrefix("@") ? $0 : renamed($0) }.joined(separator: ".")
            }
        }
        for index in entity.relationships.indices {
            entity.relationships[index].name = renamed(entity.relationships[index].name)
            entity.relationships[index].destination = renamed(
                entity.relationships[index].destination)
            entity.relationships[index].inverse = entity.relationships[index].inverse.map {
                renamed($0)
            }
        }
        for index in entity.fetchIndexes.indices { rename(&entity.fetchIndexes[index]) }
        entity.compoundIndexes = entity.compoundIndexes.map { $0.map { renamed($0) } }
        entity.uniquenessConstraints = entity.uniquenessConstraints.map { $0.map { renamed($0) } }
        return entity
    }

    private mutating func rename(_ index: inout FetchIndex) {
        index.name = fresh()
        for place in index.elements.indices {
            guard case .property(let name) = index.elements[place].target else { continue }
            index.elements[place].target = .property(renamed(name))
        }
        index.partialPredicate = index.partialPredicate.map { renamed($0) }
    }

    private mutating func renamed(_ predicate: Predicate) -> Predicate {
        switch predicate {
        case .compare(let property, let comparison, let value):
            return .compare(property: renamed(property), comparison, value)
        case .and(let parts): return .and(parts.map { renamed($0) })
        case .or(let parts): return .or(parts.map { renamed($0) })
        case .not(let part): return .not(renamed(part))
        case .unsupported: return predicate
        }
    }
}
