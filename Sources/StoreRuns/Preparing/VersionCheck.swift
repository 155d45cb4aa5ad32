package import CoreDataStore
package import Jobs
package import ManagedObjectModel
import MappingInference
package import MappingModel
import MigrationPlanning
package import MigrationPlans
import MigrationValidation
import SafeSQLite
import StateFolders
import ValidationScans

/// What becomes of stores of one model version, told without a store.
///
/// It takes the steps that plan a store, over one that holds nothing.
package struct VersionCheck: Hashable, Sendable {
    /// Whether stores of the version can be migrated.
    package enum Verdict: String, Hashable, Sendable, Codable, CaseIterable {
        /// The version is the destination.
        case same
        /// Every store can.
        case inferred
        /// Those whose data fulfil the reasons can; only a store can show it.
        case data
        /// None can without a mapping model: the change cannot be inferred.
        case mapping
        /// None can: a model must be corrected.
        case refused
    }

    package let verdict: Verdict
    /// What data must fulfil, or what stands in the way.
    package let reasons: [String]
    /// What stores can lose, by name; none where no store can be migrated.
    package let losses: [Loss.Subject]
    /// Why no store can be migrated; nil where some can, or a model must be corrected.
    package let cause: FailureCause?

    /// Checks a version.
    ///
    /// - Parameters:
    ///   - source: its model.
    ///   - hashes: as its file has them.
    ///   - name: of the version, for messages.
    ///   - destination: to which stores go.
    ///   - options: what the user chose.
    ///   - cache: shared by the versions of an app.
    /// - Complexity: O(entities × properties).
    package init(
        of source: Model, hashes: VersionHashes, name: String, to destination: DestinationModel,
        options: PlanOptions = PlanOptions(), cache: MigrationCache = MigrationCache()
    ) {
        guard hashes.entities != destination.hashes.entities else {
            self.init(.same, [])
            return
        }
        do throws(RunError) {
            let (way, losses) = try RunError.translating {
                try VersionCheck.planned(source, hashes, name, destination, options, cache)
            }
            var before = source
            let reasons = way.legs.flatMap { leg in
                defer { before = leg.destination.model }
                let title = way.legs.count > 1 ? "\(leg.title): " : ""
                return leg.inference.earlier.flatMap { step in
                    step.requirements.map { "step \(step.name): \($0.condition)" }
                } + leg.inference.requirements.map { title + $0.condition }
                    + leg.inference.mapping.entityMappings.flatMap { mapping in
                        mapping.computedConditions(
                            from: before, in: leg.destination.model
                        ).map { title + $0 }
                    }
                    + leg.programs.map { title + "\($0.name) runs on its result, and can fail" }
            }
            self.init(reasons.isEmpty ? .inferred : .data, reasons, losses)
        } catch {
            self.init(error)
        }
    }

    /// A version whose file cannot be read.
    package init(unreadable error: ModelError) { self.init(.refused, [error.description]) }

    private init(
        _ verdict: Verdict, _ reasons: [String], _ losses: [Loss.Subject] = [],
        _ cause: FailureCause? = nil
    ) {
        self.cause = cause
        self.verdict = verdict
        self.reasons = reasons
        self.losses = losses
    }

    private init(_ error: RunError) {
        switch error {
        case .inference(let error):
            let isExpressible = error.refusals.allSatisfy(\.rule.allowsMapping)
            self.init(isExpressible ? .mapping : .refused, error.refusals.map(\.description))
        case .engine(.olderDestination):
            self.init(.refused, ["the version is newer than the destination"])
        default:
            self.init(.refused, [error.description], [], error.cause)
        }
    }

    /// Plans a store of the version that holds nothing.
    private static func planned(
        _ source: Model, _ hashes: VersionHashes, _ name: String,
        _ destination: DestinationModel, _ options: PlanOptions, _ cache: MigrationCache
    ) throws -> (ModelWay, [Loss.Subject]) {
        let framework = FrameworkVersion.newestVerified
        let way = try ModelWay(
            from: source, hashes: hashes, framework: framework, subject: "version \(name)",
            to: destination, isRewrite: false, options: options, cache: cache)
        var before = try cache.stores.layout(of: source, framework: framework)
        var losses: [Loss.Subject] = []
        var origins: LossOrigins?
        for leg in way.legs {
            let unbroken = leg.inference.requirements.map { _ in StoreFacts.Breach(count: 0) }
            let plan = try Planner.plan(
                source: before, destination: leg.layout, inference: leg.inference,
                facts: StoreFacts(broken: unbroken), options: options, cache: cache.planning)
            let scope = try ValidationScope(
                plan: plan, hashes: leg.destination.hashes, stores: cache.stores,
                cache: cache.validations)
            let lost = scope.possibleLosses.compactMap { subject in
                origins.map { $0.traced(subject) } ?? subject
            }
            losses += lost.filter { !losses.contains($0) }
            before = leg.layout
            origins = LossOrigins(plan, after: origins)
        }
        return (way, losses)
    }
}

extension InferenceRule {
    /// Whether a mapping model can express what inference refuses; else a model contradicts itself.
    fileprivate var allowsMapping: Bool {
        switch self {
        case .attributeTypeChanged, .propertyKindChanged, .ambiguousInverse: true
        case .ambiguousIdentifier, .compositeTooDeep: false
        }
    }
}
