package import ManagedObjectModel
package import MappingInference
import MappingModel
package import MigrationPlans

/// How stores of one version become the destination: in one step, or by a chain of steps.
///
/// Steps that can be joined are one mapping, a leg of the way. Each leg but the last gives a store
/// that is written, because the step after it needs what that version alone has.
package struct MappedWay: Sendable {
    /// In their order, at least one.
    package let legs: [Leg]

    /// Steps that are one mapping.
    package struct Leg: Sendable {
        package let inference: Inference
        /// In their order, at least one.
        package fileprivate(set) var steps: [PlanStep]
        /// The version that the last step gives.
        package let destination: End
        /// What runs on the store that it gives, in this order; nothing for the last leg.
        package let programs: [StepProgram]

        /// The mapping files that it is made of, in the order of their steps; nil where all of it
        /// is inferred.
        package var mappingName: String? {
            let names = steps.compactMap(\.mapping)
            return names.isEmpty ? nil : names.joined(separator: ", ")
        }
    }

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

    /// Finds the mapping of every step, and joins those that can be joined.
    ///
    /// - Parameters:
    ///   - source: the version of the stores.
    ///   - destination: to which they go.
    ///   - options: mapping files, policies and the versions in between.
    ///   - cache: what is known of stores of the same app.
    /// - Throws: `InferenceError` and `MappingMismatch` for a single step; `EngineError.noMapping`
    ///   where several mapping files fit, and for a step of a chain that has no mapping.
    package init(
        from source: End, to destination: End, options: PlanOptions, cache: PlanningCache
    ) throws {
        let stops =
            options.ways[source.hashes.digest].map {
                Stop(
                    end: End(
                        name: $0.name, model: $0.model, hashes: VersionHashes(read: $0.hashes)),
                    directions: $0.directions ?? StepDirections())
            } + [
                Stop(end: destination, directions: options.ways.lastDirections ?? StepDirections())
            ]
        var search = StepSearch(options: options, cache: cache)
        let isThere = source.hashes.entities == destination.hashes.entities
        guard stops.count > 1 || (!isThere && !stops[0].directions.isEmpty) else {
            let only: Step
            do {
                only = try search.step(from: source, to: destination)
            } catch let error as InferenceError {
                throw search.mismatch ?? error
            }
            if let mismatch = search.mismatch { throw mismatch }
            legs = Self.joined([only], from: source)
            return
        }
        let steps = try Self.steps(stops, from: source, &search)
        if let mismatch = search.mismatch { throw mismatch }
        try Self.refuseRepetition(steps, from: source.name, options.mappings)
        var legs = Self.joined(steps, from: source)
        if let last = steps.last?.destination.name, last != destination.name {
            // The last stop's version is the destination's, under another name.
            legs[legs.count - 1].steps.append(PlanStep(version: destination.name))
        }
        self.legs = legs
    }

    /// A version on the way, or the destination.
    private struct Stop {
        let end: End
        let directions: StepDirections
    }

    /// The steps from stop to stop; a store that a program is to change, and that no step gives, is
    /// a step of its own.
    private static func steps(
        _ stops: [Stop], from source: End, _ search: inout StepSearch
    ) throws -> [Step] {
        var steps: [Step] = []
        var before = source
        for stop in stops {
            let (end, directions) = (stop.end, stop.directions)
            // A stop may be the destination's own version with renaming identifiers that it has
            // not.
            guard
                end.hashes.entities != before.hashes.entities || !directions.isEmpty
            else { continue }
            if let program = directions.before {
                if steps.isEmpty { steps.append(Step(staying: source)) }
                steps[steps.count - 1].programs.append(program)
            }
            var step = Step(staying: end)
            if end.hashes.entities != before.hashes.entities || directions.mapping != nil {
                step = try named("\(before.name) → \(end.name)") {
                    try search.step(from: before, to: end, by: directions.mapping)
                }
            }
            step.programs = [directions.after].compactMap { $0 }
            steps.append(step)
            before = end
        }
        if steps.last?.programs.isEmpty == false { steps.append(Step(staying: before)) }
        return steps
    }

    /// The mapping of a step, and the file that it comes from.
    fileprivate struct Step {
        let inference: Inference
        let file: String?
        let destination: End
        /// Whether the file is of this step alone.
        var isDirected = false
        /// What runs on the store that it gives.
        var programs: [StepProgram] = []

        init(inference: Inference, file: String?, destination: End, isDirected: Bool = false) {
            self.inference = inference
            self.file = file
            self.destination = destination
            self.isDirected = isDirected
        }

        /// The step that leaves a store as it is.
        init(staying end: End) {
            self.init(
                inference: Inference(mapping: .identity(end.model), requirements: [], notes: []),
                file: nil, destination: end)
        }
    }

    /// Refuses a file that several steps would take: what it computes would be computed again from
    /// its own result.
    private static func refuseRepetition(
        _ steps: [Step], from source: String, _ mappings: [MappingChoice]
    ) throws(EngineError) {
        for choice in mappings {
            var titles: [String] = []
            var before = source
            for step in steps {
                if step.file == choice.name, !step.isDirected {
                    titles.append("\(before) → \(step.destination.name)")
                }
                before = step.destination.name
            }
            guard titles.count > 1 else { continue }
            throw .noMapping(
                "\(choice.name) fits the steps \(titles.joined(separator: " and ")), so Godwit "
                    + "would apply it in each of them. Add the hashes of entities that differ "
                    + "between these versions (sourceHash, destinationHash)")
        }
    }

    /// As few legs as possible.
    private static func joined(_ steps: [Step], from source: End) -> [Leg] {
        var legs: [Leg] = []
        var rest = steps[...]
        var before = source
        repeat {
            // Steps are joined up to the next store that a program changes.
            let end = rest.firstIndex { !$0.programs.isEmpty }.map { $0 + 1 } ?? rest.endIndex
            let joined = JoinedSteps(
                from: before.model, named: before.name,
                rest[..<end].map {
                    ChainStep(
                        name: $0.destination.name, destination: $0.destination.model,
                        inference: $0.inference)
                })
            let taken = rest.prefix(joined.count)
            rest = rest.dropFirst(joined.count)
            before = taken.last?.destination ?? before
            let programs = taken.last?.programs ?? []
            let reason = joined.obstacle?.description ?? StepProgram.reasonToWrite(programs)
            legs.append(
                Leg(
                    inference: joined.inference,
                    steps: taken.enumerated().map { place, step in
                        PlanStep(
                            version: step.destination.name, mapping: step.file,
                            reasonToWrite: place + 1 == joined.count ? reason : nil)
                    }, destination: before, programs: programs))
        } while !rest.isEmpty
        return legs
    }

    /// The mapping of one step: by the mapping file for its versions, or inferred.
    ///
    /// - Throws: as for a chain, apart from files without hashes, which may be for another step.
    package static func step(
        from source: End, to destination: End, options: PlanOptions, cache: PlanningCache
    ) throws -> Inference {
        var search = StepSearch(options: options, cache: cache)
        return try search.step(from: source, to: destination).inference
    }

    /// Finds a step of a chain; errors name it.
    private static func named(
        _ name: String, _ body: () throws -> Step
    ) throws(EngineError) -> Step {
        do {
            let step = try body()
            let isEmpty = !step.inference.mapping.entityMappings.contains {
                $0.source != nil && $0.destination != nil
            }
            if isEmpty { throw EngineError.noMapping("the two models have no entity in common") }
            return step
        } catch EngineError.noMapping(let text) {
            throw .noMapping("step \(name): \(text)")
        } catch let error as InferenceError {
            // Each refusal says what to do.
            throw .noMapping("step \(name) has no mapping: \(error)")
        } catch {
            throw .noMapping("step \(name): \(error)")
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
    private var steps: [Tried] = []

    private struct Tried {
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

    /// Finds the mapping of a step.
    ///
    /// `choice`: the mapping file of this step alone; nil takes one for the versions.
    mutating func step(
        from source: MappedWay.End, to destination: MappedWay.End, by choice: MappingChoice? = nil
    ) throws -> MappedWay.Step {
        if let choice { return try directed(choice, from: source, to: destination) }
        steps.append(Tried(source: source, destination: destination))
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
                return MappedWay.Step(
                    inference: chosen.inference, file: chosen.choice.name,
                    destination: destination)
            }
        } catch let error as MappingMismatch {
            // One that names these versions is for them; the others may be for another step.
            guard error.file != nil else { throw error }
        }
        return MappedWay.Step(
            inference: try cache.inference(from: source.model, to: destination.model), file: nil,
            destination: destination)
    }

    private mutating func directed(
        _ choice: MappingChoice, from source: MappedWay.End, to destination: MappedWay.End
    ) throws -> MappedWay.Step {
        steps.append(Tried(source: source, destination: destination, hasFile: true))
        do throws(MappingMismatch) {
            return MappedWay.Step(
                inference: try cache.inference(
                    from: source.model, to: destination.model, by: choice.definition,
                    policies: options.policies),
                file: choice.name, destination: destination, isDirected: true)
        } catch {
            throw error.named(choice.name)
        }
    }
}
