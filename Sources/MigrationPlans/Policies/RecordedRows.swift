package import CoreDataStore

/// Objects of which something comes from a policy: jobs record sums over it, and the validation
/// finds the same ones in the result.
package struct RecordedRows: Hashable, Sendable, Codable {
    /// Unique in its plan.
    package var label: String
    package var objects: ObjectRange
    /// What comes from the policy; every column where the policy makes the objects.
    package var columns: [RecordedColumn]
    /// Whether the policy makes the objects.
    package var areCreated: Bool

    package init(label: String, objects: ObjectRange, columns: [RecordedColumn], areCreated: Bool) {
        self.label = label
        self.objects = objects
        self.columns = columns
        self.areCreated = areCreated
    }
    /// What the sum over a column is called.
    package func label(of column: RecordedColumn) -> String { "\(label).\(column.name)" }
}

/// A column with what comes from a policy.
package struct RecordedColumn: Hashable, Sendable, Codable {
    package var name: String
    /// Objects that several chunks may find and to which its links may lead: a link to one is known
    /// by what the object is found by.
    package var found: [PolicyRows.Found]

    package init(name: String, found: [PolicyRows.Found]) {
        self.name = name
        self.found = found
    }
}
