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
    package func isForOthers(than source: Model, _ destination: Model) -> Bool {
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
    package func fits(_ source: VersionHashes, _ destination: VersionHashes) -> Bool {
        definition.entityMappings.allSatisfy { mapping in
            Self.agrees(mapping.sourceHash, mapping.source, source)
                && Self.agrees(mapping.destinationHash, mapping.destination, destination)
        }
    }

    private static func agrees(
        _ hash: [UInt8]?, _ entity: String?, _ hashes: VersionHashes
    ) -> Bool {
        guard let hash, let entity else { return true }
        return hashes.entities[entity] == hash
    }
}
