package import SafeSQLite

/// Objects of the destination of which something comes from a migration policy, with what was
/// recorded when the policy ran.
///
/// What a policy gives cannot be worked out again: it is held against the record, and everything
/// else is checked as of all objects.
package struct PolicyRows: Hashable, Sendable {
    /// A column with what comes from the policy.
    package struct Column: Hashable, Sendable {
        package let name: String
        /// What the record calls the sum over it.
        package let label: String
        /// Objects that are found by a key, and to which its links may lead.
        package let found: [Found]

        package init(name: String, label: String, found: [Found]) {
            self.name = name
            self.label = label
            self.found = found
        }
    }

    /// Objects that were found by a key: a link to one is recorded as that key.
    package struct Found: Hashable, Sendable, Codable {
        package let table: String
        /// The number of the entity.
        package let number: Int64
        /// The columns of the key, in their order.
        package let columns: [String]

        package init(table: String, number: Int64, columns: [String]) {
            self.table = table
            self.number = number
            self.columns = columns
        }
    }

    package let entity: String
    package let number: Int64
    package let table: String
    package let keys: KeyRange
    /// Whether the policy made the objects; else the mapping did, and only some columns are the
    /// policy's.
    package let areCreated: Bool
    package let columns: [Column]
    /// Columns by which the objects themselves were found; empty where they were not.
    package let key: [String]

    package init(
        entity: String, number: Int64, table: String, keys: KeyRange, areCreated: Bool,
        columns: [Column], key: [String]
    ) {
        self.entity = entity
        self.number = number
        self.table = table
        self.keys = keys
        self.areCreated = areCreated
        self.columns = columns
        self.key = key
    }

    /// Whether the policy made the object with a key in a table of the destination.
    package func makes(_ key: Int64, in table: String) -> Bool {
        areCreated && self.table == table && keys.contains(key)
    }
}
