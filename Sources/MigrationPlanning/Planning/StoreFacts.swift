package import CoreDataStore
package import MigrationPlans

/// What a plan needs to know of a store's rows; gathered by reading, so that planning itself
/// reads nothing.
package struct StoreFacts: Hashable, Sendable, Codable {
    /// One entity table.
    package struct Table: Hashable, Sendable, Codable {
        /// Rows by entity number; those of an entity that is split by its variants' numbers, and
        /// by its own for objects for which no filter holds.
        package var rows: [Int64: Int64]
        /// The highest `Z_PK`, 0 for an empty table.
        package var highestKey: Int64
        /// The lowest `Z_PK`, 0 for an empty table.
        package var lowestKey: Int64

        /// Rows of all entities.
        package var count: Int64 { rows.values.reduce(0, +) }
    }

    /// Entity tables by name.
    package var tables: [String: Table]
    /// How bytes are spread over keys: entity tables and join tables by name.
    package var profiles: [String: TableProfile]
    /// Rows of join tables by name.
    package var joinRows: [String: Int64]
    /// `Z_MAX` of each root entity, by table.
    package var maxima: [String: Int64]
    /// Bytes of the database.
    package var databaseBytes: Int64
    /// Bytes and number of external data files that are there.
    package var externalBytes: Int64
    package var externalFiles: Int64
    /// References to external data files that are not there.
    package var missingExternalFiles: Int64
    /// How data break one requirement of the mapping.
    package struct Breach: Hashable, Sendable, Codable {
        package var count: Int64
        /// The URI of an object that breaks it alone; nil where none is known.
        package var example: String?

        package init(count: Int64, example: String? = nil) {
            self.count = count
            self.example = example
        }
    }

    /// How requirements of the mapping are broken, in the order of the requirements.
    package var broken: [Breach]
    /// The same of the steps before the last one of a chain.
    package var brokenEarlier: [[Breach]] = []
    /// Entities whose objects filters tell apart.
    package var splits: [EntitySplit] = []
    /// Values and links that get another name, by that name; empty where that was not asked.
    package var renamed: [String: Int64] = [:]
    /// What becomes of objects outside the model, tried on an empty destination.
    package var extras: [ExtraObject]
    /// Routing passes with the points that cut them, by their place in the plan's routes.
    package var routes: [RouteProfile]

    package init(
        tables: [String: Table] = [:], profiles: [String: TableProfile] = [:],
        joinRows: [String: Int64] = [:], maxima: [String: Int64] = [:], databaseBytes: Int64 = 0,
        externalBytes: Int64 = 0, externalFiles: Int64 = 0, missingExternalFiles: Int64 = 0,
        broken: [Breach] = [], extras: [ExtraObject] = [], routes: [RouteProfile] = []
    ) {
        self.tables = tables
        self.profiles = profiles
        self.joinRows = joinRows
        self.maxima = maxima
        self.databaseBytes = databaseBytes
        self.externalBytes = externalBytes
        self.externalFiles = externalFiles
        self.missingExternalFiles = missingExternalFiles
        self.broken = broken
        self.extras = extras
        self.routes = routes
    }

    /// The highest key ever used in each source table: the larger of `Z_MAX` and its keys.
    package var highestKeys: [String: Int64] {
        tables.reduce(into: [:]) { result, entry in
            result[entry.key] = max(entry.value.highestKey, maxima[entry.key] ?? 0)
        }
    }
}
