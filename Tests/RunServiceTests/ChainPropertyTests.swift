import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MappingFiles
import MappingInference
import MappingModel
import MigrationPlans
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Random chains of versions: the engine's way through them, which joins what it can, must give
/// what one step after the other gives.
@Suite("Chains: random cases") struct ChainPropertyTests {
    /// Cases; `GODWIT_CHAIN_CASES` asks for more.
    private static let cases: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_CHAIN_CASES"].flatMap { UInt64($0) } ?? 40

    /// The first seed; `GODWIT_CHAIN_SEED` asks for another.
    private static let first: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_CHAIN_SEED"].flatMap { UInt64($0) } ?? 1

    @Test func joinedStepsEqualSingleOnes() throws {
        var counts: [String: Int] = [:]
        var differences: [String] = []
        for seed in Self.first..<Self.first + Self.cases {
            for attempt in UInt64(0)..<20 {
                let chain: RandomChain
                do {
                    chain = try RandomChain(seed: seed &* 1_000 &+ attempt)
                } catch {
                    continue
                }
                let verdict = try withTemporaryFolder { try chain.run(in: FilePath($0.path)) }
                counts[verdict.kind, default: 0] += 1
                if case .different(let texts) = verdict {
                    differences.append("seed \(seed), attempt \(attempt), \(chain.mode)")
                    differences += texts.prefix(6)
                    differences += chain.mappings.map { YAMLMappingWriter.text($0.definition) }
                }
                if verdict.endsCase { break }
            }
        }
        print("chains: \(counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" })")
        #expect(differences.isEmpty, "\n\(differences.joined(separator: "\n"))")
        let written = counts[RandomChain.Verdict.equalWritten.kind, default: 0]
        #expect(written >= Int(Self.cases) / 40)
        #expect(counts["equal", default: 0] + written > Int(Self.cases) * 3 / 4)
    }
}

/// A store, its model and the versions after it.
struct RandomChain {
    /// How a case ended.
    enum Verdict {
        case equal
        /// Neither way takes the store.
        case refused
        /// As `equal`, with stores that were written on the way.
        case equalWritten
        /// Keys moved on one of the ways, so that the results cannot be held against each other.
        case moved
        case different([String])

        var kind: String {
            switch self {
            case .equal: "equal"
            case .refused: "refused"
            case .equalWritten: "equal with stores in between"
            case .moved: "with other keys"
            case .different: "different"
            }
        }

        var endsCase: Bool {
            switch self {
            case .equal, .equalWritten, .different: true
            case .refused, .moved: false
            }
        }
    }

    /// The stores' version first.
    let versions: [Model]
    let mode: RandomCase.Mode
    /// Files for some of the steps.
    private(set) var mappings: [MappingChoice] = []
    private let steps: [Inference]
    private let random: SeededGenerator

    /// - Throws: where models do not fit each other, and for steps that cannot be inferred.
    init(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        mode = RandomCase.Mode.allCases[Int(seed / 1_000 % 4)]
        var model = try RandomModel.make(using: &random, entities: 2...6)
        let needsUUID = mode == .uuid
        model = try Model(
            entities: model.numberedEntities.map { entity in
                var entity = entity
                entity.uniquenessConstraints = []
                if needsUUID, entity.parent == nil {
                    entity.attributes.append(Attribute(name: "routed", type: .uuid))
                }
                return entity
            })
        var versions = [model]
        for _ in 0..<Int.random(in: 2...4, using: &random) {
            versions.append(
                try ModelMutation.next(of: versions[versions.count - 1], using: &random).model)
        }
        var steps: [Inference] = []
        for (before, after) in zip(versions, versions.dropFirst()) {
            var inference = try Inference(from: before, to: after)
            let isMapped = seed % 2 == 0 && Int.random(in: 0..<2, using: &random) == 0
            if isMapped, VersionHashes(before).entities != VersionHashes(after).entities {
                var maker = RandomMapping(before, after, using: random)
                let definition = Self.bound(maker.definition(inference), before, after)
                random = maker.random
                if let definition {
                    inference = try Inference(from: before, to: after, by: definition)
                    mappings.append(
                        MappingChoice(name: "\(mappings.count).yaml", definition: definition))
                }
            }
            steps.append(inference)
        }
        self.steps = steps
        self.versions = versions
        self.random = random
    }

    /// The definition, for these two versions alone; nil for an empty one.
    private static func bound(
        _ definition: MappingDefinition, _ before: Model, _ after: Model
    ) -> MappingDefinition? {
        var bound = definition
        guard let first = bound.entityMappings.first, let from = first.source,
            let to = first.destination
        else { return nil }
        bound.entityMappings[0].sourceHash = VersionHashes(before).entities[from]
        bound.entityMappings[0].destinationHash = VersionHashes(after).entities[to]
        return bound
    }

    func run(in folder: FilePath) throws -> Verdict {
        let joined = JoinedSteps(
            from: versions[0], named: "0",
            steps.enumerated().map { place, step in
                ChainStep(
                    name: "\(place + 1)", destination: versions[place + 1], inference: step)
            })
        let store = folder.appending("Original.sqlite")
        try forge(store, joined.inference)
        var single = StepResult.stopped("")
        var after = store
        var hasMoved = false
        for place in steps.indices {
            single = try migrate(
                after, to: versions[place + 1], ways: VersionWays(),
                as: folder.appending("step\(place)"))
            guard case .made(let path, let moved) = single else { break }
            (after, hasMoved) = (path, hasMoved || moved)
        }
        let between = versions[1..<versions.count - 1].enumerated().map { place, model in
            VersionWays.Version(
                name: "\(place + 1)", model: model, hashes: VersionHashes(model).entities)
        }
        let last = versions[versions.count - 1]
        let once = try migrate(
            store, to: last,
            ways: VersionWays(between, otherwise: Array(between.indices)),
            as: folder.appending("once"), isOnce: true)
        switch (single, once) {
        case (.stopped, .stopped), (.unsupported, _), (_, .unsupported): return .refused
        // A file that is for one entity's hashes can fit several steps.
        case (.made, .stopped(let text)) where text.contains("fits the steps"): return .refused
        case (.made, .stopped(let text)):
            return .different(["joined steps refuse what single ones take: \(text)"])
        case (.stopped(let text), .made):
            return .different(["joined steps take what single ones refuse: \(text)"])
        case (.made(let one, _), .made(let other, let moved)):
            let texts = try StoreDifference.texts(
                PlainStore(one, model: last), PlainStore(other, model: last))
            if texts.isEmpty { return joined.obstacle == nil ? .equal : .equalWritten }
            return hasMoved || moved ? .moved : .different(texts)
        }
    }

    private func forge(_ store: FilePath, _ joined: Inference) throws {
        var random = random
        var recipe = ForgeRecipe(model: versions[0], seed: random.next())
        let concrete = versions[0].numberedEntities.filter { !$0.isAbstract }.map(\.name)
        for name in concrete { recipe.rows[name] = Int.random(in: 0...20, using: &random) }
        for requirement in joined.requirements + joined.earlier.flatMap(\.requirements) {
            switch requirement {
            case .noObjects(let entity, _): recipe.rows[entity] = 0
            case .noMissingValue: recipe.nullShare = 0
            default: break
            }
        }
        recipe.linksPerObject = Int.random(in: 1...3, using: &random)
        if Int.random(in: 0..<2, using: &random) == 0 { recipe.firstKey = 1_000 }
        _ = try Forge(recipe).write(to: store)
        let trimming = DataTrimming(path: store, model: versions[0])
        if Int.random(in: 0..<6, using: &random) > 0 { try trimming.trim(for: joined.requirements) }
    }

    private enum StepResult {
        case made(FilePath, hasMoved: Bool)
        case stopped(String)
        /// Something that a mapping asks for is not supported.
        case unsupported
    }

    private func migrate(
        _ store: FilePath, to model: Model, ways: VersionWays, as folder: FilePath,
        isOnce: Bool = false
    ) throws -> StepResult {
        try FileManager.default.createDirectory(
            atPath: folder.description, withIntermediateDirectories: true)
        var options = PlanOptions(strategy: mode == .whole ? .whole : .partitioned)
        options.chunkBytes = 4_096
        switch mode {
        case .whole, .key: options.partition = .key
        case .entity: options.partition = .entity
        case .uuid:
            // Single steps may find the attribute gone.
            let roots = versions[0].roots.map { PropertyKey($0.name, "routed") }
            options.partition = isOnce ? .uuid(roots) : .key
        }
        options.ways = ways
        options.mappings = mappings
        options.now = RandomCase.now
        let request = MigrationRequest(
            store: store, output: folder.appending("Result.sqlite"),
            state: folder.appending("state"),
            destination: .model(try DestinationModel(model: model)), options: options, slots: 1)
        do throws(RunError) {
            let outcome = try EngineMigration(request).run()
            return .made(
                folder.appending("Result.sqlite"), hasMoved: !outcome.plan.changedURIs.isEmpty)
        } catch {
            switch error {
            case .plan(.unsupported): return .unsupported
            // A file whose versions have equal hashes can be taken for a step that is not its own.
            case .plan(.refused), .engine(.dataRefused), .engine(.noMapping), .mapping:
                return .stopped("\(error)")
            default: throw error
            }
        }
    }
}

/// What tells two stores of one model apart.
enum StoreDifference {
    static func texts(_ one: PlainStore, _ other: PlainStore) -> [String] {
        var texts: [String] = []
        for root in one.model.roots.map(\.name) {
            let (left, right) = (one.objects[root] ?? [:], other.objects[root] ?? [:])
            if Set(left.keys) != Set(right.keys) {
                texts.append("\(root): objects \(left.count) and \(right.count)")
            }
            for (key, object) in left {
                guard let twin = right[key] else { continue }
                if twin.entity != object.entity { texts.append("\(root) \(key): entity") }
                for (_, attribute) in one.model.allAttributes(of: object.entity)
                where !attribute.isTransient && attribute.type != .undefined {
                    let name = attribute.name
                    if one.value(name, of: object) != other.value(name, of: twin) {
                        texts.append(
                            "\(object.entity).\(name) of \(key): "
                                + "\(one.value(name, of: object) ?? .null) and "
                                + "\(other.value(name, of: twin) ?? .null)")
                    }
                }
            }
        }
        for (key, links) in one.relations {
            let (left, right) = (Set(links.keys), Set((other.relations[key] ?? [:]).keys))
            if left != right {
                texts.append(
                    "\(key): \(left.subtracting(right).count) links in the first alone, "
                        + "\(right.subtracting(left).count) in the second")
            }
            // A list that is its own inverse has no order that both sides agree on.
            guard let found = one.model.relationship(key.property, of: key.entity),
                found.relationship.isOrdered, found.relationship.inverse != key.property
            else { continue }
            let lists = [one, other].map { store in
                Dictionary(grouping: store.relations[key] ?? [:], by: \.key.owner).mapValues {
                    $0.sorted { ($0.value.target ?? 0) < ($1.value.target ?? 0) }
                        .map(\.key.target)
                }
            }
            if lists[0] != lists[1] { texts.append("\(key): order") }
        }
        return texts.sorted()
    }
}
