import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MappingFiles
import MappingInference
import MappingModel
import MigrationPlans
import MigrationValidation
import RunService
import StateFolders
import StoreForge
import StoreRuns
import TestSupport

/// One migration of a random store to a random next version of its model.
struct RandomCase {
    enum Mode: String, CaseIterable, Sendable {
        case whole, key, entity, uuid
    }

    /// How a case ended.
    enum Verdict {
        /// Models or data do not allow the migration.
        case refused(String)
        case different([String])
        case equal(CaseFigures)
    }

    let source: Model
    let destination: Model
    let changes: Set<ModelChange>
    let mode: Mode
    /// Whether a mapping file states some of the values.
    var isMapped = false
    private var random: SeededGenerator

    /// - Throws: `ModelError` where the drawn changes do not fit each other.
    init(seed: UInt64, attempt: UInt64) throws {
        var random = SeededGenerator(seed: seed &* 1_000 &+ attempt)
        mode = Mode.allCases[Int(seed % 4)]
        var model = try RandomModel.make(using: &random, entities: 2...8)
        model = try Self.prepared(model, needsUUID: mode == .uuid, using: &random)
        source = model
        (destination, changes) = try ModelMutation.next(of: model, using: &random)
        self.random = random
    }

    /// Gives roots UUIDs and takes out, as a rule, what would refuse most changes.
    private static func prepared(
        _ model: Model, needsUUID: Bool, using random: inout SeededGenerator
    ) throws -> Model {
        var entities = model.numberedEntities
        let keepsConstraints = Int.random(in: 0..<6, using: &random) == 0
        var isFirst = needsUUID
        for index in entities.indices {
            if !keepsConstraints { entities[index].uniquenessConstraints = [] }
            for place in entities[index].relationships.indices
            where Int.random(in: 0..<4, using: &random) > 0 {
                entities[index].relationships[place].isOptional = true
            }
            guard entities[index].parent == nil,
                isFirst || Int.random(in: 0..<2, using: &random) == 0
            else { continue }
            isFirst = false
            entities[index].attributes.append(
                Attribute(
                    name: "uid", type: .uuid,
                    isOptional: Int.random(in: 0..<2, using: &random) == 0))
        }
        return try Model(entities: entities, versionIdentifiers: model.versionIdentifiers)
    }

    /// A forged store and what is to be done with it.
    struct Prepared {
        let request: MigrationRequest
        let inference: Inference
    }

    /// Forges a store.
    ///
    /// - Throws: `InferenceError` where the models cannot be migrated.
    func prepare(in folder: FilePath) throws -> Prepared {
        var random = random
        var inference = try Inference(from: source, to: destination)
        // A store that has the destination's version is not mapped.
        let changes = VersionHashes(source).entities != VersionHashes(destination).entities
        let definition = isMapped && changes ? statedMapping(inference, using: &random) : nil
        if let definition {
            inference = try Inference(from: source, to: destination, by: definition)
        }
        let original = folder.appending("Original.sqlite")
        let recipe = recipe(for: inference, using: &random)
        _ = try Forge(recipe).write(to: original)
        let trimming = DataTrimming(path: original, model: source)
        if Int.random(in: 0..<3, using: &random) == 0 {
            try trimming.deleteObjects(oneIn: 8, using: &random)
        }
        if Int.random(in: 0..<8, using: &random) > 0 {
            try trimming.trim(for: inference.requirements)
        }
        var options = options(using: &random)
        if let definition {
            options.mappings = [MappingChoice(name: "random.yaml", definition: definition)]
            options.now = Self.now
        }
        let request = MigrationRequest(
            store: original, output: folder.appending("Result.sqlite"),
            state: folder.appending("state"),
            destination: .model(try DestinationModel(model: destination)), options: options,
            slots: Int.random(in: 1...2, using: &random))
        return Prepared(request: request, inference: inference)
    }

    /// What `now()` gives in mapping files.
    static let now: Double = 650_000_000

    private func statedMapping(
        _ inference: Inference, using random: inout SeededGenerator
    ) -> MappingDefinition {
        var maker = RandomMapping(source, destination, using: random)
        let definition = maker.definition(inference)
        random = maker.random
        return definition
    }

    /// Forges, migrates, and compares.
    func run(in folder: FilePath) throws -> Verdict {
        let prepared: Prepared
        do {
            prepared = try prepare(in: folder)
        } catch let error as InferenceError {
            return .refused(error.refusals.first.map { "\($0.rule)" } ?? "inference")
        }
        let request = prepared.request
        let mappings = prepared.inference.mapping.entityMappings
        guard mappings.contains(where: { $0.source != nil && $0.destination != nil }) else {
            return .refused("no entity in common")
        }
        do throws(RunError) {
            let outcome = try EngineMigration(request, clock: { 0 }).run()
            let verdict = try compare(outcome, request, prepared.inference)
            guard case .different(let texts) = verdict, let used = request.options.mappings.first
            else { return verdict }
            return .different(texts + [YAMLMappingWriter.text(used.definition)])
        } catch {
            if case .plan(.refused(let texts)) = error {
                let rule = texts.first?.split(separator: "(rule: ").last?.prefix { $0 != ")" }
                return .refused(rule.map(String.init) ?? "data")
            }
            if case .plan(.unsupported) = error { return .refused("unsupported") }
            if case .engine(.dataRefused) = error, isMapped { return .refused("value") }
            let used = request.options.mappings.first.map { YAMLMappingWriter.text($0.definition) }
            return .different(["\(error)"] + [used].compactMap { $0 })
        }
    }

    private func recipe(
        for inference: Inference, using random: inout SeededGenerator
    ) -> ForgeRecipe {
        var recipe = ForgeRecipe(model: source, seed: random.next())
        let concrete = source.numberedEntities.filter { !$0.isAbstract }.map(\.name)
        for name in concrete {
            recipe.rows[name] = Int.random(in: 0...(80 / max(2, concrete.count)), using: &random)
        }
        let isAdapted = Int.random(in: 0..<8, using: &random) > 0
        for requirement in inference.requirements where isAdapted {
            switch requirement {
            case .noObjects(let entity, _):
                if recipe.rows[entity] != nil { recipe.rows[entity] = 0 }
            case .noMissingValue: recipe.nullShare = 0
            default: break
            }
        }
        recipe.blobBytes = 0...Int.random(in: 20...900, using: &random)
        recipe.linksPerObject = Int.random(in: 1...3, using: &random)
        recipe.keyOrder = Int.random(in: 0..<3, using: &random) == 0 ? .byEntity : .interleaved
        if Int.random(in: 0..<3, using: &random) == 0 { recipe.deletedShare = 0.4 }
        if Int.random(in: 0..<4, using: &random) == 0 { recipe.firstKey = 1_000 }
        if Int.random(in: 0..<3, using: &random) == 0 { recipe.externalThreshold = 200 }
        if Int.random(in: 0..<8, using: &random) == 0 { recipe.danglingShare = 0.1 }
        return recipe
    }

    private func options(using random: inout SeededGenerator) -> PlanOptions {
        var options = PlanOptions(strategy: mode == .whole ? .whole : .partitioned)
        options.chunkBytes = [1_024, 4_096, 8_192, 1 << 20].randomElement(using: &random) ?? 4_096
        options.dangling = Int.random(in: 0..<2, using: &random) == 0 ? .keep : .nullify
        switch mode {
        case .whole:
            // Asked for, but without effect on what is not cut.
            if Int.random(in: 0..<4, using: &random) == 0 {
                options.partition = .uuid(identifiers(using: &random))
            }
        case .key: options.partition = .key
        case .entity: options.partition = .entity
        case .uuid: options.partition = .uuid(identifiers(using: &random))
        }
        return options
    }

    /// One UUID attribute, or now and then a text, of some tables.
    private func identifiers(using random: inout SeededGenerator) -> [PropertyKey] {
        var keys: [PropertyKey] = []
        for root in source.roots {
            let found = source.family(of: root.name).flatMap { entity in
                entity.attributes.filter { attribute in
                    !attribute.isTransient && attribute.derivation == nil
                        && ([.uuid, .string].contains(attribute.type))
                }.map { PropertyKey(entity.name, $0.name) }
            }
            let identifiers = found.filter { $0.property == "uid" }
            let list =
                identifiers.isEmpty || Int.random(in: 0..<4, using: &random) == 0
                ? found : identifiers
            if let key = list.randomElement(using: &random) { keys.append(key) }
        }
        return keys
    }

    /// The same migration into a result that is not there.
    private func planOnly(_ request: MigrationRequest) -> MigrationRequest {
        MigrationRequest(
            store: request.store, output: request.state.appending("Other.sqlite"),
            state: request.state, destination: request.destination, options: request.options,
            slots: request.slots)
    }

    private func compare(
        _ outcome: MigrationOutcome, _ request: MigrationRequest, _ inference: Inference
    ) throws(RunError) -> Verdict {
        do {
            let before = try PlainStore(request.store, model: source)
            let after = try PlainStore(request.result, model: destination)
            let expected = PlainMigration(
                before, to: destination, mapping: inference.mapping,
                keepsBroken: request.options.dangling == .keep)
            let comparison = PlainComparison(expected, after)
            guard comparison.differences.isEmpty else { return .different(comparison.differences) }
            let losses = outcome.validation.losses
            let plain = PlainLosses(before, to: destination, mapping: inference.mapping)
            let counted = Dictionary(
                losses.map { ("\($0.subject.kind.rawValue) \($0.subject.name)", $0.count) },
                uniquingKeysWith: +)
            guard plain.allow(counted) else {
                return .different(["losses \(counted), and not \(plain.counts)"])
            }
            guard try StorePlanning(planOnly(request)).plan().losses == losses else {
                return .different(["the plan counts other losses"])
            }
            let check = VersionCheck(
                of: source, hashes: VersionHashes(source), name: "source",
                to: try DestinationModel(model: destination), options: request.options)
            let unforeseen = Set(losses.map(\.subject)).subtracting(check.losses)
                .filter { $0.kind != .history }
            guard unforeseen.isEmpty || check.verdict == .same else {
                return .different(["losses that no check of the models names: \(unforeseen)"])
            }
            guard [.same, .inferred, .data].contains(check.verdict) else {
                return .different(["the check of the models says \(check.verdict)"])
            }
            return .equal(CaseFigures(self, outcome.plan, before, after, losses))
        } catch {
            return .different(["the stores cannot be compared: \(error)"])
        }
    }
}
