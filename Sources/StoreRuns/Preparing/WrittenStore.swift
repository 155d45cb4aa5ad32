package import Jobs
package import MigrationEngine
package import MigrationPlans
package import MigrationValidation

/// A store that was written on the way to the result, and what was found of it.
///
/// Its model version has something that the next step needs and that neither the store before it
/// nor the destination has.
package struct WrittenStore: Hashable, Sendable, Codable {
    /// The steps that led to it, in their order, at least one.
    package let steps: [PlanStep]
    /// Rows of the store before it, by entity.
    package let sourceRows: [String: Int64]
    /// Of its database.
    package let bytes: Int64
    /// Objects whose URI changed, by entity.
    package let changedURIs: [String: Int64]
    package let notes: [String]
    /// Objects of the schema outside the model that it has not.
    package let dropped: [ExtraObject]
    /// What the original calls its values, links and objects.
    let origins: LossOrigins
    /// What was found when it was held against the store before it.
    package let validation: ValidationReport
    /// Over what policies gave, by labels.
    package let recordedSums: [String: ContentSum]
    /// What programs of the user changed of it before the next step, in words; nil where none ran.
    var changes: [String]?

    /// The label of a sum in receipts, which are about all legs of a way.
    package static func label(_ label: String, leg: Int) -> String { "leg \(leg): \(label)" }

    /// - Parameters:
    ///   - planned: what gave it.
    ///   - bytes: of its database.
    ///   - validation: what was found.
    ///   - recordedSums: over what policies gave.
    package init(
        _ planned: PlannedStore, bytes: Int64, validation: ValidationReport,
        recordedSums: [String: ContentSum]
    ) {
        steps = planned.plan.steps
        sourceRows = planned.plan.sourceRows
        changedURIs = planned.plan.changedURIs
        notes = planned.plan.notes
        dropped = planned.plan.extras.filter { !$0.isKept }
        self.bytes = bytes
        let before = planned.written.last?.origins
        self.validation =
            before.map { validation.losing($0.traced(validation.losses)) } ?? validation
        origins = LossOrigins(planned.plan, after: before)
        self.recordedSums = recordedSums
    }
}

/// Where the stores between the legs of a way come from.
package enum StepSource {
    /// The process writes them, and carries these policies; a worker delivers them.
    case written(PolicyLibrary, delivers: Bool = false)
    /// The process writes them where no policy takes part; a store that needs one is left to the
    /// slot of a whole job, because a policy can take its process with it.
    case writtenOrLeft
    /// A worker delivered them: told the plan of each leg, the check holds its store against what
    /// it must be.
    case delivered((PlannedStore) throws -> WrittenStore)

    /// Whether the files of all legs stay: a worker delivers them, or has.
    var areDelivered: Bool {
        switch self {
        case .written(_, let delivers): delivers
        case .writtenOrLeft: false
        case .delivered: true
        }
    }
}

extension ValidationReport {
    /// The report on a whole way, of which this one is about the last leg.
    ///
    /// - Parameter written: the stores that were written before it, in their order.
    /// - Returns: one report on all legs.
    package func after(_ written: [WrittenStore]) -> ValidationReport {
        guard let last = written.last else { return self }
        return written.reversed().reduce(losing(last.origins.traced(losses))) {
            $0.following($1.validation)
        }
    }
}
