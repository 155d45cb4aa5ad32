import CoreDataStore

/// How the rows of a table are spread over the prefixes of a UUID attribute.
package struct RouteProfile: Hashable, Sendable, Codable {
    package var plan: RoutePlan
    /// Every so many rows the place in the order, the last row's included.
    package var points: [RoutePoint]
    /// Rows between two points.
    package var rowsPerPoint: Int64
    /// Rows with a UUID.
    package var rows: Int64
    /// Rows whose UUID is missing or cannot be read.
    package var remainder: Int64

    /// What people should know of an attribute that hardly routes anything.
    package var remainderNote: String? {
        guard remainder > 0, remainder > rows / 9 else { return nil }
        return "\(plan.attribute): \(remainder) of \(rows + remainder) values are not UUIDs. "
            + "Godwit partitions their rows by key"
    }
}
