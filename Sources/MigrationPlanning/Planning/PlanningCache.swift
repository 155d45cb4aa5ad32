package import CoreDataStore
package import ManagedObjectModel
package import MappingInference
package import MappingModel
package import MigrationPlans
import SafeSQLite

/// What migrations of stores of the same app have in common, worked out once for all of them.
///
/// Everything in it follows from its keys alone; a migration with a cache comes out as one without.
/// A caller that migrates several stores hands it in, and many threads use it.
package final class PlanningCache: Sendable {
    private struct Pair: Equatable, Sendable {
        let source: Model
        let destination: Model
        let mapping: MappingDefinition?
        let policies: [PolicyDeclaration]
    }

    /// What plans of those stores share.
    package let plans = PlanCache()
    private let inferences = Memo<Pair, Inference>(limit: PlanningCache.limit)
    private let shapes = Memo<PlanShape.Key, PlanShape>(limit: PlanningCache.limit)

    /// The most pairs of models that are kept.
    private static let limit = 32

    package init() {}

    /// What opening stores works out.
    package var stores: StoreCache { plans.stores }

    /// The mapping between two models by inference.
    ///
    /// - Throws: `InferenceError`, as `Inference`.
    package func inference(
        from source: Model, to destination: Model
    ) throws(InferenceError) -> Inference {
        let pair = Pair(source: source, destination: destination, mapping: nil, policies: [])
        return try inferences.value(for: pair) { () throws(InferenceError) in
            try Inference(from: source, to: destination)
        }
    }

    /// The mapping between two models by a mapping file.
    ///
    /// - Throws: `MappingMismatch`, as `Inference`.
    package func inference(
        from source: Model, to destination: Model, by mapping: MappingDefinition,
        policies: [PolicyDeclaration]
    ) throws(MappingMismatch) -> Inference {
        let pair = Pair(
            source: source, destination: destination, mapping: mapping, policies: policies)
        return try inferences.value(for: pair) { () throws(MappingMismatch) in
            try Inference(from: source, to: destination, by: mapping, policies: policies)
        }
    }

    /// How rows and links go from one layout to another.
    ///
    /// - Throws: `PlanError`, as `PlanShape`.
    func shape(_ context: PlanContext) throws(PlanError) -> PlanShape {
        try shapes.value(for: PlanShape.Key(context)) { () throws(PlanError) in
            try PlanShape(context)
        }
    }
}
