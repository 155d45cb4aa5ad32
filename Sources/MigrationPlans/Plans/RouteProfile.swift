import CoreDataStore

/// How the rows of a table are spread over the prefixes of a UUID attribute.
package struct RouteProfile: Hashable, Sendable, Codable {
    package var plan: RoutePlan
    /// The places of rows that were drawn evenly, in order; all of them where rows are few.
    package var points: [RoutePoint]
    /// Rows with a UUID.
    package var rows: Int64
    /// Rows whose UUID is missing or cannot be read.
    package var remainder: Int64

    package init(plan: RoutePlan, points: [RoutePoint], rows: Int64, remainder: Int64) {
        self.plan = plan
        self.points = points
        self.rows = rows
        self.remainder = remainder
    }

    /// About how many rows lie between two points.
    package var rowsPerPoint: Double {
        max(1, Double(rows) / Double(max(1, points.count)))
    }

    /// What people should know of an attribute that hardly routes anything.
    package var remainderNote: String? {
        guard remainder > 0, remainder > rows / 9 else { return nil }
        return "\(plan.attribute): \(remainder) of \(rows + remainder) values are not UUIDs. "
            + "Godwit partitions their rows by key"
    }
}
