/// A step of a plan: from one model version to the next.
package struct PlanStep: Hashable, Sendable, Codable {
    /// The version that it gives, as the bundle names it.
    package var version: String
    /// The mapping file, as the user named it; nil for an inferred step.
    package var mapping: String?
    /// Why a store of that version is written; nil where the step is joined with the next one, and
    /// for the last step.
    package var reasonToWrite: String?

    package init(version: String, mapping: String? = nil, reasonToWrite: String? = nil) {
        self.version = version
        self.mapping = mapping
        self.reasonToWrite = reasonToWrite
    }
}
