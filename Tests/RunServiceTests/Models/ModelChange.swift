import ManagedObjectModel
import TestSupport

/// The kinds of changes from one version of a model to the next.
enum ModelChange: String, CaseIterable, Sendable {
    case renameEntity, swapEntityNames, addEntity, removeEntity, addCommonParent, splitToRoot
    case reparent, flipAbstract
    case addAttribute, removeAttribute, renameAttribute, flipOptional, flipExternal
    case pullUpAttribute, pushDownAttribute, mergeAttributes
    case addRelationship, removeRelationship, renameRelationship, flipToMany, flipOrder
    case dropInverse, addInverse, pullUpRelationship, pushDownRelationship, mergeRelationships
    case widenDestination, narrowDestination

    /// How often a kind is drawn, compared with the others.
    private var weight: Int {
        switch self {
        case .mergeRelationships: 6
        case .addCommonParent, .flipToMany, .flipOrder: 3
        case .renameEntity, .removeEntity, .splitToRoot, .reparent, .dropInverse, .addInverse,
            .pullUpRelationship, .mergeAttributes, .widenDestination:
            2
        default: 1
        }
    }

    /// Every kind as often as its weight says.
    static let weighted: [ModelChange] = allCases.flatMap {
        Array(repeating: $0, count: $0.weight)
    }
}

/// Makes the next version of a model by changes that inference can follow, as a rule.
enum ModelMutation {
    /// - Returns: the new model and the changes that were made.
    /// - Throws: `ModelError` where the changes do not fit each other.
    static func next(
        of model: Model, using random: inout SeededGenerator
    ) throws -> (model: Model, changes: Set<ModelChange>) {
        var draft = ModelDraft(model, random: random)
        var changes: Set<ModelChange> = []
        for _ in 0..<Int.random(in: 2...12, using: &draft.random) {
            guard let change = draft.pick(ModelChange.weighted) else { continue }
            // A change that finds nothing to change, or spoils the model, is not made.
            var trial = draft
            let isMade = trial.make(change)
            draft.random = trial.random
            guard isMade, trial.entities.indices.allSatisfy(trial.hasCleanLines) else { continue }
            draft = trial
            changes.insert(change)
        }
        random = draft.random
        return (try draft.model(), changes.union(draft.made))
    }
}

extension ModelDraft {
    fileprivate mutating func make(_ change: ModelChange) -> Bool {
        switch change {
        case .renameEntity: renameEntity()
        case .swapEntityNames: swapEntityNames()
        case .addEntity: addEntity()
        case .removeEntity: removeEntity()
        case .addCommonParent: addCommonParent()
        case .splitToRoot: splitToRoot()
        case .reparent: reparent()
        case .flipAbstract: flipAbstract()
        case .addAttribute: addAttribute()
        case .removeAttribute: removeAttribute()
        case .renameAttribute: renameAttribute()
        case .flipOptional: flipOptional()
        case .flipExternal: flipExternal()
        case .pullUpAttribute: pullUpAttribute()
        case .pushDownAttribute: pushDownAttribute()
        case .mergeAttributes: mergeAttributes()
        case .addRelationship: addRelationship()
        case .removeRelationship: removeRelationship()
        case .renameRelationship: renameRelationship()
        case .flipToMany: flipToMany()
        case .flipOrder: flipOrder()
        case .dropInverse: dropInverse()
        case .addInverse: addInverse()
        case .pullUpRelationship: pullUpRelationship()
        case .pushDownRelationship: pushDownRelationship()
        case .mergeRelationships: mergeRelationships()
        case .widenDestination: moveDestination(up: true)
        case .narrowDestination: moveDestination(up: false)
        }
    }
}
