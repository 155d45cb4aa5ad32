import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationEngine
import MigrationPlans
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Policies that set by hand what the mapping would carry must give what the mapping gives: random
/// models and data, cut in every way, against the reference that maps object by object.
@Suite("Policies: random cases") struct PolicyPropertyTests {
    /// Cases; `GODWIT_POLICY_CASES` asks for more.
    private static let cases: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_POLICY_CASES"].flatMap { UInt64($0) } ?? 60

    /// The first seed; `GODWIT_POLICY_SEED` asks for another.
    private static let first: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_POLICY_SEED"].flatMap { UInt64($0) } ?? 1

    private enum Verdict {
        case refused(String)
        case different([String])
        case equal(CopyingPolicies.Figures)
    }

    @Test func resultsEqualTheReference() throws {
        var differences: [String] = []
        var figures = CopyingPolicies.Figures()
        var equal = 0
        var refusals: [String: Int] = [:]
        for seed in Self.first..<Self.first + Self.cases {
            for attempt in UInt64(0)..<12 {
                let one: RandomCase
                do { one = try RandomCase(seed: seed, attempt: attempt) } catch { continue }
                let verdict = try withTemporaryFolder { folder in
                    try Self.run(one, seed, in: FilePath(folder.path))
                }
                switch verdict {
                case .refused(let reason):
                    refusals[reason, default: 0] += 1
                    continue
                case .different(let texts):
                    differences.append("seed \(seed), attempt \(attempt), \(one.mode)")
                    differences += texts.prefix(5).map { "    \($0)" }
                case .equal(let found):
                    equal += 1
                    figures.add(found)
                }
                break
            }
        }
        print("cases with policies: \(equal) equal, \(figures), refused: \(refusals)")
        #expect(differences.isEmpty, "\n\(differences.joined(separator: "\n"))")
        #expect(equal > Int(Self.cases) * 8 / 10)
        #expect(figures.attributes > Int(Self.cases))
        #expect(figures.toOnes > Int(Self.cases) / 2)
        #expect(figures.manyToManys > Int(Self.cases) / 60)
    }

    private static func run(
        _ one: RandomCase, _ seed: UInt64, in folder: FilePath
    ) throws -> Verdict {
        let prepared: RandomCase.Prepared
        do {
            prepared = try one.prepare(in: folder)
        } catch let error as InferenceError {
            return .refused(error.refusals.first.map { "\($0.rule)" } ?? "inference")
        }
        let policies = CopyingPolicies(
            prepared.inference.mapping, one.source, one.destination, seed: seed)
        guard !policies.declarations.isEmpty else { return .refused("nothing to set") }
        var options = prepared.request.options
        options.dangling = .nullify
        options.policies = policies.declarations
        options.mappings = [MappingChoice(name: "policies", definition: policies.definition)]
        let request = MigrationRequest(
            store: prepared.request.store, output: prepared.request.output,
            state: prepared.request.state, destination: prepared.request.destination,
            options: options, slots: prepared.request.slots)
        do throws(RunError) {
            _ = try EngineMigration(request, policies: policies.carriedPolicies).run()
        } catch {
            if case .plan(.refused(let texts)) = error {
                let rule = texts.first?.split(separator: "(rule: ").last?.prefix { $0 != ")" }
                return .refused(rule.map(String.init) ?? "data")
            }
            if case .plan(.unsupported(let text)) = error { return .refused(text) }
            return .different(
                ["\(error)"] + policies.declarations.map { "\($0.className) sets \($0.sets)" })
        }
        let after = try PlainStore(request.result, model: one.destination)
        let expected = PlainMigration(
            try PlainStore(request.store, model: one.source), to: one.destination,
            mapping: prepared.inference.mapping, keepsBroken: false)
        let found = PlainComparison(expected, after).differences
        return found.isEmpty ? .equal(policies.figures) : .different(found)
    }
}

/// Policies that carry values and links of the source, as an inferred mapping does, by the calls
/// that policies have.
struct CopyingPolicies {
    /// How many properties of each kind are set.
    struct Figures {
        var attributes = 0
        var toOnes = 0
        var manyToManys = 0

        mutating func add(_ other: Figures) {
            attributes += other.attributes
            toOnes += other.toOnes
            manyToManys += other.manyToManys
        }
    }

    /// What one policy sets, by destination and source name.
    struct Duties: Hashable {
        var attributes: [String: String] = [:]
        var links: [String: String] = [:]

        /// The source properties, sorted.
        var carried: [String] { (Array(attributes.values) + Array(links.values)).sorted() }

        /// The destination properties, sorted.
        var set: [String] { (Array(attributes.keys) + Array(links.keys)).sorted() }
    }

    private(set) var figures = Figures()
    private(set) var definition = MappingDefinition(entityMappings: [], infersRest: true)
    private(set) var declarations: [PolicyDeclaration] = []
    private var duties: [String: Duties] = [:]
    private var random: SeededGenerator

    init(_ mapping: Mapping, _ source: Model, _ destination: Model, seed: UInt64) {
        random = SeededGenerator(seed: seed)
        let mapped = mapping.entityMappings.filter { $0.source != nil && $0.destination != nil }
        for entity in mapped {
            let duties = chosen(entity, source, destination)
            if duties != Duties() { self.duties[entity.destination ?? ""] = duties }
        }
        for entity in destination.numberedEntities {
            for relationship in entity.relationships {
                addManyToMany(relationship, of: entity.name, mapped, source, destination)
            }
        }
        for entity in mapped {
            guard let from = entity.source, let to = entity.destination, let duties = duties[to]
            else { continue }
            definition.entityMappings.append(
                EntityMappingDefinition(source: from, destination: to, policy: "Copy\(to)"))
            declarations.append(
                PolicyDeclaration(
                    className: "Copy\(to)",
                    sets: duties.set,
                    carries: duties.carried))
        }
    }

    /// The policies, as a process carries them.
    var carriedPolicies: PolicyLibrary {
        PolicyLibrary(
            declarations.map { declaration in
                let name = String(declaration.className.dropFirst("Copy".count))
                let duties = duties[name] ?? Duties()
                return PolicyLibrary.Entry(declaration) { CopyingPolicy(duties) }
            })
    }

    private mutating func isChosen() -> Bool { Int.random(in: 0..<2, using: &random) == 0 }

    /// About half of the attributes and to-one relationships that a policy can set.
    private mutating func chosen(
        _ mapping: EntityMapping, _ source: Model, _ destination: Model
    ) -> Duties {
        var duties = Duties()
        guard let from = mapping.source, let to = mapping.destination else { return duties }
        for attribute in mapping.attributes {
            guard case .source(let name) = attribute.value,
                let before = source.attribute(name, of: from)?.attribute,
                let now = destination.attribute(attribute.destination, of: to)?.attribute,
                before.type == now.type, PolicyDeclaration.refusal(of: now) == nil,
                now.type != .transformable, now.type != .objectID, now.type != .undefined,
                isChosen()
            else { continue }
            duties.attributes[attribute.destination] = name
            figures.attributes += 1
        }
        for link in mapping.relationships {
            guard let name = link.source, link.path == nil, link.mapping == nil,
                let before = source.relationship(name, of: from)?.relationship, !before.isToMany,
                let now = destination.relationship(link.destination, of: to)?.relationship,
                !now.isToMany, now.isOptional,
                destination.inverse(of: now).map({
                    $0.relationship.isToMany && !$0.relationship.isOrdered
                }) ?? true, isChosen()
            else { continue }
            duties.links[link.destination] = name
            figures.toOnes += 1
        }
        return duties
    }

    /// Lets policies set a many-to-many relationship of all its owners, where it comes from one
    /// source relationship, and its inverse from that one's inverse.
    private mutating func addManyToMany(
        _ relationship: Relationship, of owner: String, _ mapped: [EntityMapping],
        _ source: Model, _ destination: Model
    ) {
        guard relationship.isToMany, !relationship.isOrdered, !relationship.isTransient,
            let inverse = destination.inverse(of: relationship), inverse.relationship.isToMany,
            !inverse.relationship.isOrdered,
            (owner, relationship.name)
                <= (inverse.owner.name, inverse.relationship.name)
        else { return }
        let owners = mapped.filter { destination.isKind($0.destination ?? "", of: owner) }
        let targets = mapped.filter {
            destination.isKind($0.destination ?? "", of: inverse.owner.name)
        }
        let own = Set(owners.map { Self.origin(of: relationship.name, $0, source) })
        let other = Set(targets.map { Self.origin(of: inverse.relationship.name, $0, source) })
        guard own.count == 1, let key = own.first, let key,
            let before = source.relationship(key.property, of: key.entity)?.relationship,
            before.isToMany, let back = source.inverse(of: before),
            other.isEmpty || other == [PropertyReference(back.owner.name, back.relationship.name)]
        else { return }
        for entity in owners {
            duties[entity.destination ?? "", default: Duties()].links[relationship.name] =
                key.property
        }
        figures.manyToManys += 1
    }

    /// The source relationship that an entity mapping names; nil for none.
    private static func origin(
        of name: String, _ mapping: EntityMapping, _ source: Model
    ) -> PropertyReference? {
        guard let from = mapping.source,
            let stated = mapping.relationships.first(where: { $0.destination == name }),
            stated.path == nil, stated.mapping == nil, let before = stated.source,
            let found = source.relationship(before, of: from)
        else { return nil }
        return PropertyReference(found.owner.name, before)
    }
}

extension PropertyReference {
    fileprivate init(_ entity: String, _ property: String) {
        self.init(entity: entity, property: property)
    }
}

/// Carries what it is told, in whatever hook comes first for it.
private final class CopyingPolicy: PolicyCode {
    private let duties: CopyingPolicies.Duties

    init(_ duties: CopyingPolicies.Duties) { self.duties = duties }

    func begin(_ portion: PolicyPortion) throws {}

    func createDestinationInstances(_ object: PolicyObject, in portion: PolicyPortion) throws {
        for (name, before) in duties.attributes {
            try portion.set(
                name, of: object.destination, to: portion.value(before, of: object.source))
        }
    }

    func endInstanceCreation(_ portion: PolicyPortion) throws {}

    func createRelationships(_ object: PolicyObject, in portion: PolicyPortion) throws {
        for (name, before) in duties.links {
            try portion.forEachTarget(before, of: object.source) { target in
                for other in try portion.destinations(of: target, by: nil) {
                    try portion.link(name, of: object.destination, to: other)
                }
            }
        }
    }

    func endRelationshipCreation(_ portion: PolicyPortion) throws {}
    func validate(_ object: PolicyObject, in portion: PolicyPortion) throws {}
    func end(_ portion: PolicyPortion) throws {}
    func value(of selector: String, arguments: [DefaultValue?]) throws -> DefaultValue? { nil }
}
