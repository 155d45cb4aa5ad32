package import ManagedObjectModel
package import MappingInference
package import MappingModel
package import MigrationPlans

extension MappingChoice {
    /// Whether the file names these two versions.
    package func isFor(_ source: MappedWay.End, _ destination: MappedWay.End) -> Bool {
        if isBound { return fits(source.hashes, destination.hashes) }
        return self.source != nil && self.destination != nil
            && !isForOthers(than: source.model, destination.model)
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
                + choices.map(\.name).joined(separator: ", ") + ". Give one of them, or add the "
                + "hashes of their versions (sourceHash, destinationHash): a scaffold with hashes "
                + "shows them")
    }
}
