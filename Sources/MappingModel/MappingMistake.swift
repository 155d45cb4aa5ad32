import ManagedObjectModel

/// Why a mapping file does not fit two models; every mistake that was found.
package struct MappingMismatch: Error, Hashable, Sendable, Codable {
    /// In the order of the file; not empty.
    package var mistakes: [MappingMistake]
    /// The file as the user named it; nil where it has no name.
    package var file: String?

    package init(mistakes: [MappingMistake], file: String? = nil) {
        self.mistakes = mistakes
        self.file = file
    }

    /// Whether nothing is wrong but that the process does not carry a policy.
    package var isOfPoliciesAlone: Bool { mistakes.allSatisfy { $0.missingPolicy != nil } }

    /// The same mismatch, of a file.
    package func named(_ file: String) -> MappingMismatch {
        MappingMismatch(mistakes: mistakes, file: file)
    }
}

extension MappingMismatch: CustomStringConvertible {
    package var description: String {
        "mapping \(file.map { "\($0) " } ?? "")does not fit the two models:\n"
            + mistakes.map { "- \($0)" }.joined(separator: "\n")
    }
}

/// One mistake in a mapping, or something in it that Godwit does not support.
package struct MappingMistake: Error, Hashable, Sendable, Codable {
    /// Name of the entity mapping; nil where the whole file is meant.
    package var entityMapping: String?
    /// Name of a destination property; nil where the entity mapping itself is meant.
    package var property: String?
    /// Where it stands in its file; nil in files without lines.
    package var position: FilePosition?
    /// What is wrong, with the nearest valid name where there is one.
    package var text: String
    /// The class of a policy that the process does not carry, where that is the mistake.
    package var missingPolicy: String?

    package init(
        entityMapping: String? = nil, property: String? = nil, position: FilePosition? = nil,
        text: String
    ) {
        self.entityMapping = entityMapping
        self.property = property
        self.position = position
        self.text = text
    }
}

extension MappingMistake {
    /// A mistake at the place of a property, or of the entity mapping itself.
    package init(
        in mapping: EntityMappingDefinition, at property: PropertyMappingDefinition?, _ text: String
    ) {
        self.init(
            entityMapping: mapping.effectiveName, property: property?.destination,
            position: property?.position ?? mapping.position, text: text)
    }

    /// A policy that the process does not carry.
    ///
    /// - Parameters:
    ///   - policy: its class.
    ///   - mapping: that names it.
    ///   - selectors: of the methods that the mapping calls.
    ///   - carried: the classes of those that it carries.
    package init(
        missing policy: String, of mapping: EntityMappingDefinition, calling selectors: [String],
        carried: [String]
    ) {
        let called = selectors.isEmpty ? "" : " (called: \(selectors.joined(separator: ", ")))"
        let hint =
            carried.isEmpty
            ? "Give this command the executable of a worker that carries it"
            : NameSuggestion.hint(policy, carried, noun: "policies")
        self.init(
            in: mapping, at: nil,
            "migration policy \(policy)\(called) is code of the app, and this command does not "
                + "carry it. " + hint)
        missingPolicy = policy
    }

    /// A mistake at the place of a filter.
    package init(inFilterOf mapping: EntityMappingDefinition, _ text: String) {
        self.init(
            entityMapping: mapping.effectiveName,
            position: mapping.filterPosition ?? mapping.position, text: "filter: \(text)")
    }
}

extension MappingMistake: CustomStringConvertible {
    package var description: String {
        let place = [entityMapping, property].compactMap { $0 }.joined(separator: ".")
        let parts = [position.map { "\($0)" }, place.isEmpty ? nil : place].compactMap { $0 }
        return (parts + [text]).joined(separator: ": ")
    }
}
