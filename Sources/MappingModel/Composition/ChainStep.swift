package import ManagedObjectModel

/// One step of a chain: the mapping to a version.
package struct ChainStep: Sendable {
    /// The version that it gives, as messages name it.
    package let name: String
    /// That version.
    package let destination: Model
    package let inference: Inference

    package init(name: String, destination: Model, inference: Inference) {
        self.name = name
        self.destination = destination
        self.inference = inference
    }
}

extension Inference {
    /// The steps of a chain as one mapping: objects, values and links come out as if every version
    /// in between had been written.
    ///
    /// - Parameters:
    ///   - source: the model of the stores.
    ///   - name: of that version, for messages.
    ///   - steps: in their order; at least one.
    /// - Returns: the mapping with what every step asks of the data.
    /// - Throws: `ChainError` for a step that needs what the versions in between alone have.
    /// - Complexity: O(steps × entities × properties).
    package static func chain(
        from source: Model, named name: String, _ steps: [ChainStep]
    ) throws(ChainError) -> Inference {
        guard var last = steps.first else {
            return Inference(mapping: .identity(source), requirements: [], notes: [])
        }
        var result = last.inference
        var before = name
        for step in steps.dropFirst() {
            let title = "\(last.name) → \(step.name)"
            var composition = MappingComposition(
                first: result.mapping, second: step.inference.mapping, source: source,
                middle: last.destination, destination: step.destination)
            let mapping = composition.mapping()
            let requirements = composition.requirements(step.inference.requirements)
            guard composition.obstacles.isEmpty else {
                throw ChainError(step: title, reasons: composition.obstacles)
            }
            var earlier = result.earlier
            if !result.requirements.isEmpty {
                if let reason = result.uncountable {
                    throw ChainError(
                        step: title, reasons: ["step \(before) → \(last.name) \(reason)"])
                }
                earlier.append(
                    EarlierStep(
                        name: "\(before) → \(last.name)", mapping: result.mapping,
                        destination: last.destination, requirements: result.requirements))
            }
            var notes = DistinctList<InferenceNote>()
            for note in result.notes + step.inference.notes { notes.append(note) }
            result = Inference(mapping: mapping, requirements: requirements, notes: notes.elements)
            result.earlier = earlier
            (before, last) = (last.name, step)
        }
        return result
    }
}

extension Inference {
    /// Why a later step cannot count what this one asks of the data; nil where it can.
    fileprivate var uncountable: String? {
        if mapping.entityMappings.contains(where: { $0.filter != nil }) {
            return "filters objects, and asks something of the data"
        }
        let constrained = requirements.flatMap { requirement -> [String] in
            if case .unique(_, let attributes) = requirement { attributes } else { [] }
        }
        let isComputed = mapping.entityMappings.flatMap(\.attributes).contains { attribute in
            guard case .expression = attribute.value else { return false }
            return constrained.contains(attribute.destination)
        }
        return isComputed ? "computes values that must be unique" : nil
    }
}
