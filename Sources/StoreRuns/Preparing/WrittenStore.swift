package import MigrationPlanning
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
    /// What was found when it was held against the store before it.
    package let validation: ValidationReport
}

extension ValidationReport {
    /// The report on a whole way, of which this one is about the last leg.
    ///
    /// - Parameter written: the stores that were written before it, in their order.
    /// - Returns: one report on all legs.
    package func after(_ written: [WrittenStore]) -> ValidationReport {
        written.reversed().reduce(self) { $0.following($1.validation) }
    }
}
