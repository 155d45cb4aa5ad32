import CommandSupport
import ManagedObjectModel
import MappingExpressions
import MappingFiles
import MappingInference
import MappingModel
import RunReports

/// What `godwit mapping check` found.
struct MappingVerdict: Encodable {
    /// The file as the user named it.
    let file: String
    /// Everything that stands in the way; empty for a mapping that can be run.
    let mistakes: [MappingMistake]
    /// The mapping as it will be run, in lines.
    let mapping: [String]
    /// What data must fulfil.
    let conditions: [String]
    let notes: [String]
    /// The notes on what is hardly meant, and the conditions.
    private let warnings: [String]

    private enum CodingKeys: String, CodingKey { case file, mistakes, mapping, conditions, notes }

    /// - Parameters:
    ///   - file: the mapping.
    ///   - source: the model of the stores as they are.
    ///   - destination: the model that they are to have.
    ///   - hashes: of both models.
    ///   - policies: what policies say of themselves that the mapping may name.
    init(
        _ file: MappingFile, from source: Model, to destination: Model,
        hashes: (source: VersionHashes, destination: VersionHashes),
        policies: [PolicyDeclaration] = []
    ) {
        self.file = file.path
        let strangers = file.definition.mistakes(of: hashes)
        guard strangers.isEmpty else {
            mistakes = strangers
            (mapping, conditions, notes, warnings) = ([], [], [], [])
            return
        }
        do throws(MappingMismatch) {
            let inference = try Inference(
                from: source, to: destination, by: file.definition, policies: policies)
            mistakes = []
            mapping = inference.mapping.lines
            conditions = inference.requirements.map(\.condition)
            notes = inference.notes.map(\.description)
            warnings =
                inference.notes.filter(\.isWarning).map(\.description) + conditions
        } catch {
            mistakes = error.mistakes
            mapping = []
            conditions = []
            notes = []
            warnings = []
        }
    }

    /// The verdict for a person.
    var text: String {
        guard mistakes.isEmpty else {
            let count = mistakes.count == 1 ? "1 mistake" : "\(mistakes.count) mistakes"
            let lines = ["\(file): \(count)"] + mistakes.map { "  \($0.helped)" }
            return lines.joined(separator: "\n")
        }
        var lines = ["\(file): the mapping fits the two models"]
        lines += mapping.map { "  \($0)" }
        lines += conditions.map { "  data: \($0)" }
        lines += notes.map { "  note: \($0)" }
        return lines.joined(separator: "\n")
    }

    /// One case for each mistake, or one that passed.
    var cases: [CheckReport.Case] {
        guard !mistakes.isEmpty else {
            return [CheckReport.Case(name: file, file: file, warnings: warnings)]
        }
        return mistakes.map { mistake in
            let place = [mistake.entityMapping, mistake.property].compactMap { $0 }
            return CheckReport.Case(
                name: place.isEmpty ? file : place.joined(separator: "."), file: file,
                line: mistake.position?.line,
                failure: CheckReport.Failure(kind: "mapping", text: mistake.helped))
        }
    }
}

extension MappingDefinition {
    /// The entity mappings that name other versions of their entities than the models have.
    fileprivate func mistakes(
        of hashes: (source: VersionHashes, destination: VersionHashes)
    ) -> [MappingMistake] {
        let own = strangers(hashes)
        guard let first = own.first else { return [] }
        if strangers((hashes.destination, hashes.source)).isEmpty {
            return [
                MappingMistake(
                    in: first, at: nil,
                    "the mapping leads from the second model to the first: name them the other way "
                        + "round")
            ]
        }
        return own.map { mapping in
            let ends = [mapping.source, mapping.destination].compactMap { $0 }
            return MappingMistake(
                in: mapping, at: nil,
                "the mapping is for other versions of the models: sourceHash or destinationHash "
                    + "differs from that of \(ends.joined(separator: " or "))")
        }
    }

    private func strangers(
        _ hashes: (source: VersionHashes, destination: VersionHashes)
    ) -> [EntityMappingDefinition] {
        entityMappings.filter { mapping in
            let sides = [
                (mapping.sourceHash, mapping.source, hashes.source),
                (mapping.destinationHash, mapping.destination, hashes.destination),
            ]
            return sides.contains { hash, entity, model in
                // A name that the model does not have is told with the other mistakes.
                guard let hash, let known = entity.flatMap({ model.entities[$0] }) else {
                    return false
                }
                return known != hash
            }
        }
    }

    /// The mapping in lines of text for a person.
    var lines: [String] {
        let rest = infersRest ? ["everything else is inferred"] : []
        return rest + entityMappings.flatMap(\.lines)
    }
}

extension EntityMappingDefinition {
    fileprivate var lines: [String] {
        let kind =
            type.map { "\($0)" } ?? (source == nil ? "add" : destination == nil ? "remove" : "map")
        let ends = [source, destination].compactMap { $0 }
        let arrow = ends.count == 2 && ends[0] == ends[1] ? ends[0] : ends.joined(separator: " -> ")
        var lines = ["\(kind) \(arrow) (\(effectiveName))"]
        if let policy { lines.append("  policy: \(policy)") }
        if let filter { lines.append("  filter: \(filter.text)") }
        for property in attributes + relationships {
            lines.append("  \(property.destination) = \(property.value.text)")
        }
        return lines
    }
}

extension PropertyMappingDefinition.Value {
    /// The value for a person.
    var text: String {
        switch self {
        case .automatic: return "automatic"
        case .unset: return "unset"
        case .converted(let conversion): return conversion.text
        case .expression(let expression):
            guard let call = ManagerCall(expression) else { return expression.text }
            switch call {
            case .relationship(_, let instances): return "objects made of \(instances.text)"
            case .entityMapping(let name, let instances):
                return "objects that \(name) made of \(instances.text)"
            }
        }
    }
}

/// A mapping as JSON.
struct MappingSummary: Encodable {
    /// One entity mapping.
    struct Entry: Encodable {
        let name: String
        let type: String?
        let source: String?
        let destination: String?
        let filter: String?
        let policy: String?
        let attributes: [String: String]
        let relationships: [String: String]
    }

    let infersRest: Bool
    let entityMappings: [Entry]

    init(_ definition: MappingDefinition) {
        infersRest = definition.infersRest
        entityMappings = definition.entityMappings.map { mapping in
            Entry(
                name: mapping.effectiveName, type: mapping.type.map { "\($0)" },
                source: mapping.source, destination: mapping.destination,
                filter: mapping.filter?.text, policy: mapping.policy,
                attributes: Self.values(mapping.attributes),
                relationships: Self.values(mapping.relationships))
        }
    }

    private static func values(_ properties: [PropertyMappingDefinition]) -> [String: String] {
        var values: [String: String] = [:]
        for property in properties {
            values[property.destination] =
                switch property.value {
                case .automatic: "automatic"
                case .unset: "unset"
                case .converted(let conversion): conversion.text
                case .expression(let expression): expression.text
                }
        }
        return values
    }
}
