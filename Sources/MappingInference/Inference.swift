package import ManagedObjectModel
package import MappingModel

/// A mapping that follows from two models alone, by the rules of lightweight migration.
package struct Inference: Hashable, Sendable, Codable {
    package var mapping: Mapping
    /// What the data must fulfil, in the order of the entity mappings; no two are equal.
    package var requirements: [DataRequirement]
    /// What a user should know, in the order of the entity mappings; no two are equal.
    package var notes: [InferenceNote]
    /// What the steps before the last one ask, where it is a chain of several; in their order.
    package var earlier: [EarlierStep] = []

    package init(mapping: Mapping, requirements: [DataRequirement], notes: [InferenceNote]) {
        self.mapping = mapping
        self.requirements = requirements
        self.notes = notes
    }

    /// Infers the mapping; equal models give equal results.
    ///
    /// Models with equal version hashes are one version: Core Data opens a store of one with the
    /// other as it is. Names alone pair them, whatever renaming identifiers say.
    ///
    /// - Parameters:
    ///   - source: the model of the store as it is.
    ///   - destination: the model that the store is to have.
    /// - Throws: `InferenceError` with every reason why there is none.
    /// - Complexity: O(entities × properties, inherited ones included).
    package init(from source: Model, to destination: Model) throws(InferenceError) {
        var draft = InferenceDraft(from: source, to: destination)
        draft.pairEntities()
        draft.pairProperties()
        draft.mapEntities()
        let refusals = draft.finish()
        guard refusals.isEmpty else { throw InferenceError(refusals: refusals) }
        self.init(draft)
    }

    /// What a finished draft found.
    init(_ draft: InferenceDraft) {
        self.init(
            mapping: Mapping(entityMappings: draft.mappings),
            requirements: draft.requirements.elements, notes: draft.notes.elements)
    }
}

/// Distinct elements in the order of their first appearance.
struct DistinctList<Element: Hashable> {
    private(set) var elements: [Element] = []
    private var seen: Set<Element> = []

    var isEmpty: Bool { elements.isEmpty }

    mutating func append(_ element: Element) {
        if seen.insert(element).inserted { elements.append(element) }
    }
}

extension Inference {
    /// As much of a mapping as can be inferred, with the reasons why there is no whole one.
    ///
    /// - Parameters:
    ///   - source: the model of the store as it is.
    ///   - destination: the model that the store is to have.
    /// - Returns: refused properties are missing in the mapping.
    /// - Complexity: O(entities × properties, inherited ones included).
    package static func partial(
        from source: Model, to destination: Model
    ) -> (inference: Inference, refusals: [Refusal]) {
        var draft = InferenceDraft(from: source, to: destination)
        draft.pairEntities()
        draft.pairProperties()
        draft.mapEntities()
        let refusals = draft.finish()
        return (Inference(draft), refusals)
    }
}
