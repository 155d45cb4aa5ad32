package import ManagedObjectModel
package import MappingModel

/// How stores of one version become the destination: in one step, or by a chain of steps that
/// come to one mapping.
package struct MappedWay: Sendable {
    package let inference: Inference
    /// The mapping files that it is made of, in the order of their steps; nil where all of it is
    /// inferred.
    package let mappingName: String?
    /// Names of the versions in between, in their order.
    package let steps: [String]

    /// One end of a way.
    package struct End: Sendable {
        package let name: String
        package let model: Model
        package let hashes: VersionHashes

        package init(name: String, model: Model, hashes: VersionHashes) {
            self.name = name
            self.model = model
            self.hashes = hashes
        }
    }

    /// Finds the mapping of every step, and makes one of them.
    ///
    /// - Parameters:
    ///   - source: the version of the stores.
    ///   - destination: to which they go.
    ///   - options: mapping files, policies and the versions in between.
    ///   - cache: what is known of stores of the same app.
    /// - Throws: `InferenceError` and `MappingMismatch` for a single step; `EngineError.noMapping`
    ///   where several mapping files fit, for a step of a chain that has no mapping, and for steps
    ///   that cannot be joined.
    package init(
        from source: End, to destination: End, options: PlanOptions, cache: PlanningCache
    ) throws {
        let stops = options.ways[source.hashes.digest].map {
            End(name: $0.name, model: $0.model, hashes: VersionHashes(read: $0.hashes))
        }
        var search = StepSearch(options: options, cache: cache)
        guard !stops.isEmpty else {
            let only: Inference
            do {
                only = try search.step(from: source, to: destination)
            } catch let error as InferenceError {
                throw search.mismatch ?? error
            }
            if let mismatch = search.mismatch { throw mismatch }
            self.init(inference: only, mappingName: search.files.first, steps: [])
            return
        }
        var steps: [ChainStep] = []
        var before = source
        // A stop may be the destination's own version with renaming identifiers that it has not.
        for stop in stops + [destination] where stop.hashes.entities != before.hashes.entities {
            let inference = try Self.named("\(before.name) → \(stop.name)") {
                try search.step(from: before, to: stop)
            }
            steps.append(
                ChainStep(name: stop.name, destination: stop.model, inference: inference))
            before = stop
        }
        if let mismatch = search.mismatch { throw mismatch }
        do throws(ChainError) {
            self.init(
                inference: try .chain(from: source.model, named: source.name, steps),
                mappingName: search.files.isEmpty ? nil : search.files.joined(separator: ", "),
                steps: steps.map(\.name).filter { $0 != destination.name })
        } catch {
            throw EngineError.noMapping("\(error)\nMigrate to the version before it first")
        }
    }

    /// The mapping of one step: by the mapping file for its versions, or inferred.
    ///
    /// - Throws: as for a chain, apart from files without hashes, which may be for another step.
    package static func step(
        from source: End, to destination: End, options: PlanOptions, cache: PlanningCache
    ) throws -> Inference {
        var search = StepSearch(options: options, cache: cache)
        return try search.step(from: source, to: destination)
    }

    private init(inference: Inference, mappingName: String?, steps: [String]) {
        self.inference = inference
        self.mappingName = mappingName
        self.steps = steps
    }

    /// Finds a step of a chain; errors name it.
    private static func named(
        _ step: String, _ body: () throws -> Inference
    ) throws(EngineError) -> Inference {
        do {
            let inference = try body()
            let isEmpty = !inference.mapping.entityMappings.contains {
                $0.source != nil && $0.destination != nil
            }
            if isEmpty { throw EngineError.noMapping("the two models have no entity in common") }
            return inference
        } catch EngineError.noMapping(let text) {
            throw .noMapping("step \(step): \(text)")
        } catch let error as InferenceError {
            throw .noMapping(
                "step \(step) has no mapping: \(error). Give a mapping file for these versions")
        } catch {
            throw .noMapping("step \(step): \(error)")
        }
    }
}

/// Finds the mapping of one step after the other.
private struct StepSearch {
    let options: PlanOptions
    let cache: PlanningCache
    /// The mapping files that steps took.
    private(set) var files: [String] = []
    /// The steps that were taken, by their ends.
    private var steps: [Step] = []

    private struct Step {
        let source: MappedWay.End
        let destination: MappedWay.End
        var hasFile = false
    }

    init(options: PlanOptions, cache: PlanningCache) {
        self.options = options
        self.cache = cache
    }

    /// What is wrong with a file that names no version and that no step took: as the step sees it
    /// that it fits best.
    var mismatch: MappingMismatch? {
        for choice in options.mappings where !choice.isBound && !files.contains(choice.name) {
            let open = steps.filter { !$0.hasFile }
            let mistakes = (open.isEmpty ? steps : open).compactMap {
                mismatch(choice, from: $0.source, to: $0.destination)
            }
            let nearest = mistakes.min { $0.mistakes.count < $1.mistakes.count }
            // In a single step, another file may be for the versions.
            guard let nearest, files.isEmpty || steps.count > 1 else { continue }
            return nearest.named(choice.name)
        }
        return nil
    }

    private func mismatch(
        _ choice: MappingChoice, from source: MappedWay.End, to destination: MappedWay.End
    ) -> MappingMismatch? {
        guard source.hashes.entities != destination.hashes.entities,
            !choice.isForOthers(than: source.model, destination.model)
        else { return nil }
        do throws(MappingMismatch) {
            _ = try cache.inference(
                from: source.model, to: destination.model, by: choice.definition,
                policies: options.policies)
            return nil
        } catch {
            return error
        }
    }

    mutating func step(
        from source: MappedWay.End, to destination: MappedWay.End
    ) throws -> Inference {
        steps.append(Step(source: source, destination: destination))
        do {
            let chosen = try options.mappings.chosen(
                from: source.hashes, to: destination.hashes,
                models: (source.model, destination.model)
            ) { definition throws(MappingMismatch) in
                try cache.inference(
                    from: source.model, to: destination.model, by: definition,
                    policies: options.policies)
            }
            if let chosen {
                files.append(chosen.choice.name)
                steps[steps.count - 1].hasFile = true
                return chosen.inference
            }
        } catch let error as MappingMismatch {
            // One that names these versions is for them; the others may be for another step.
            guard error.file != nil else { throw error }
        }
        return try cache.inference(from: source.model, to: destination.model)
    }
}
