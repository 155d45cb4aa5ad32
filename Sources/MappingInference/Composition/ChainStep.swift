package import ManagedObjectModel
package import MappingModel

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

/// The first steps of a chain as one mapping.
package struct JoinedSteps: Sendable {
    /// From the first version to the one that the last joined step gives.
    package let inference: Inference
    /// How many steps it holds, at least one of a chain that has any.
    package let count: Int
    /// Why the step after them cannot be joined; nil where all steps are.
    package let obstacle: ChainError?

    /// Joins as many steps as possible: objects, values and links come out as if every version in
    /// between had been written.
    ///
    /// - Parameters:
    ///   - source: the model of the stores.
    ///   - name: of that version, for messages.
    ///   - steps: in their order.
    /// - Complexity: O(steps × entities × properties).
    package init(from source: Model, named name: String, _ steps: [ChainStep]) {
        guard var last = steps.first else {
            let identity = Inference(mapping: .identity(source), requirements: [], notes: [])
            self.init(inference: identity, count: 0, obstacle: nil)
            return
        }
        var result = last.inference
        var before = name
        for (count, step) in steps.enumerated().dropFirst() {
            let title = "\(last.name) → \(step.name)"
            var composition = MappingComposition(
                first: result.mapping, second: step.inference.mapping, source: source,
                middle: last.destination, destination: step.destination)
            let mapping = composition.mapping()
            let requirements = composition.requirements(step.inference.requirements)
            var reasons = composition.obstacles
            if reasons.isEmpty, !result.requirements.isEmpty, let reason = result.uncountable {
                reasons = ["step \(before) → \(last.name) \(reason)"]
            }
            guard reasons.isEmpty else {
                self.init(
                    inference: result, count: count,
                    obstacle: ChainError(step: title, reasons: reasons))
                return
            }
            var earlier = result.earlier
            if !result.requirements.isEmpty {
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
        self.init(inference: result, count: steps.count, obstacle: nil)
    }

    private init(inference: Inference, count: Int, obstacle: ChainError?) {
        self.inference = inference
        self.count = count
        self.obstacle = obstacle
    }
}

extension Inference {
    /// Why a later step cannot count what this one asks of the data; nil where it can.
    fileprivate var uncountable: String? {
        if mapping.entityMappings.contains(where: { $0.filter != nil }) {
            return "filters objects, and has a rule for the data"
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

/// What a step before the last one of a chain asks of the data.
package struct EarlierStep: Hashable, Sendable, Codable {
    /// Such as `1 → 2`.
    package var name: String
    /// From the stores' version to the one that the step gives.
    package var mapping: Mapping
    /// That version.
    package var destination: ManagedObjectModel.Model
    /// In the terms of both.
    package var requirements: [DataRequirement]
}
