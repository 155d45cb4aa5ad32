package import SafeSQLite

/// Rows of a join table that come from migration policies: jobs record a sum over them, and the
/// validation finds the same ones in the result.
package struct PolicyLinks: Hashable, Sendable, Codable {
    /// The objects at one end of the links.
    package struct End: Hashable, Sendable, Codable {
        /// The column of their keys.
        package let column: String
        /// Keys of objects that policies insert: every link of such an object is a policy's.
        package let inserted: [KeyRange]
        /// Objects that several chunks may find by a key.
        package let found: [PolicyRows.Found]

        package init(column: String, inserted: [KeyRange], found: [PolicyRows.Found]) {
            self.column = column
            self.inserted = inserted
            self.found = found
        }
    }

    /// The join table.
    package let table: String
    /// The side that names the table.
    package let naming: End
    /// The other side.
    package let inverse: End
    /// Columns of places in lists, in the table's order.
    package let orders: [String]
    /// Whether policies alone fill the table.
    package let isWhole: Bool

    package init(table: JoinTableLayout, naming: End, inverse: End, isWhole: Bool) {
        self.table = table.name
        self.naming = naming
        self.inverse = inverse
        orders = [table.namingOrder, table.inverseOrder].compactMap { $0 }
        self.isWhole = isWhole
    }

    /// What the sum over the rows is called.
    package var label: String { "links of \(table)" }

    /// Whether a row comes from a policy.
    ///
    /// - Parameters:
    ///   - naming: the key of the naming side's object.
    ///   - inverse: the key of the other one.
    /// - Returns: true where one end is an object that a policy inserted, or policies fill the
    ///   table alone.
    /// - Complexity: O(policies).
    package func contains(naming: Int64, inverse: Int64) -> Bool {
        isWhole || self.naming.inserted.contains { $0.contains(naming) }
            || self.inverse.inserted.contains { $0.contains(inverse) }
    }

    /// The same as a condition on rows of the table.
    ///
    /// - Parameter alias: of the table in the query.
    /// - Returns: `1` for every row, `0` for none.
    package func condition(alias: SQLText) -> SQLText {
        guard !isWhole else { return "1" }
        let parts = [naming, inverse].flatMap { end in
            end.inserted.map { range -> SQLText in
                let column: SQLText = "\(alias).\(SQLText.quoted(end.column))"
                return range.condition(on: column) ?? "1"
            }
        }
        return parts.isEmpty ? "0" : "(\(parts.joined(separator: " OR ")))"
    }
}
