package import ManagedObjectModel
import MappingExpressions
package import MappingModel

/// A mapping file that the user gave, and for which stores it is.
package struct MappingChoice: Hashable, Sendable, Codable {
    /// The file as the user named it, for messages.
    package var name: String
    package var definition: MappingDefinition
    /// The models that the file was made for, where it has their names.
    package var source: ModelOutline?
    package var destination: ModelOutline?

    package init(
        name: String, definition: MappingDefinition, source: ModelOutline? = nil,
        destination: ModelOutline? = nil
    ) {
        self.name = name
        self.definition = definition
        self.source = source
        self.destination = destination
    }

    /// Whether the file was made for models with other names than these.
    func isForOthers(than source: Model, _ destination: Model) -> Bool {
        let differing = [
            self.source?.differences(from: source),
            self.destination?.differences(from: destination),
        ]
        return differing.contains { $0?.isEmpty == false }
    }

    /// Whether the file names the versions that it is for.
    package var isBound: Bool {
        definition.entityMappings.contains { $0.sourceHash != nil || $0.destinationHash != nil }
    }

    /// Whether a value depends on when a run began.
    package var usesNow: Bool {
        definition.entityMappings.flatMap { $0.attributes + $0.relationships }.contains {
            guard case .expression(let expression) = $0.value else { return false }
            return ExpressionInspection(expression).usesNow
        }
    }

    /// Whether a migration policy takes part.
    package var hasPolicies: Bool {
        definition.entityMappings.contains { $0.policy != nil }
    }

    /// Whether every version hash in the file is that of the model's entity.
    func fits(_ source: VersionHashes, _ destination: VersionHashes) -> Bool {
        definition.entityMappings.allSatisfy { mapping in
            Self.agrees(mapping.sourceHash, mapping.source, source)
                && Self.agrees(mapping.destinationHash, mapping.destination, destination)
        }
    }

    /// Whether the file names these two versions.
    package func isFor(_ source: MappedWay.End, _ destination: MappedWay.End) -> Bool {
        if isBound { return fits(source.hashes, destination.hashes) }
        return self.source != nil && self.destination != nil
            && !isForOthers(than: source.model, destination.model)
    }

    private static func agrees(
        _ hash: [UInt8]?, _ entity: String?, _ hashes: VersionHashes
    ) -> Bool {
        guard let hash, let entity else { return true }
        return hashes.entities[entity] == hash
    }
}

extension [MappingChoice] {
    /// The one mapping for stores of a version.
    ///
    /// A file that names versions is for those alone, and one of Xcode for models with the names
    /// of its copies. Another one is for every version that has its entities and properties; it
    /// comes after those that name versions.
    ///
    /// - Parameters:
    ///   - source: the stores' hashes.
    ///   - destination: those of the model to which they go.
    ///   - models: both models.
    ///   - infer: completes a mapping file; throws where it does not fit the models.
    /// - Returns: the mapping completed, with its file; nil where all files are for other
    ///   versions, and where source and destination are one version.
    /// - Throws: `EngineError.noMapping` where several files fit, and `MappingMismatch` where one
    ///   that names no version has mistakes.
    package func chosen(
        from source: VersionHashes, to destination: VersionHashes,
        models: (source: Model, destination: Model),
        infer: (MappingDefinition) throws(MappingMismatch) -> Inference
    ) throws -> (choice: MappingChoice, inference: Inference)? {
        guard !isEmpty, source.entities != destination.entities else { return nil }
        let bound = filter { $0.isBound && $0.fits(source, destination) }
        if let first = bound.first {
            guard bound.count == 1 else { throw Self.ambiguous(bound) }
            return (first, try infer(first.definition))
        }
        var fitting: [(choice: MappingChoice, inference: Inference)] = []
        var mismatch: MappingMismatch?
        for choice in self
        where !choice.isBound && !choice.isForOthers(than: models.source, models.destination) {
            do throws(MappingMismatch) {
                fitting.append((choice, try infer(choice.definition)))
            } catch {
                if mismatch == nil { mismatch = error.named(choice.name) }
            }
        }
        guard fitting.count < 2 else { throw Self.ambiguous(fitting.map(\.choice)) }
        if fitting.isEmpty, let mismatch { throw mismatch }
        return fitting.first
    }

    private static func ambiguous(_ choices: [MappingChoice]) -> EngineError {
        .noMapping(
            "several mappings fit the same versions: "
                + choices.map(\.name).joined(separator: ", ") + ". Give one of them")
    }
}
