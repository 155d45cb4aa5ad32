package import CoreDataStore
package import SafeSQLite

/// A piece of a validation that can run alone, in any order, beside others.
package enum ValidationPart: Hashable, Sendable, Codable {
    /// What rows of a source table must become.
    case source(table: String, keys: KeyRange)
    /// What rows of a destination table are.
    case destination(table: String, keys: KeyRange)
    /// What rows of a source join table must become; keys are those of its first column.
    case sourceJoin(table: String, keys: KeyRange)
    /// What rows of a destination join table are.
    case destinationJoin(table: String, keys: KeyRange)
    /// What policies gave, by the place among the rows of the scope.
    case policyRows(Int)
    /// What policies linked, by the place among the join tables of the scope.
    case policyLinks(Int)
    /// One index of the destination, from end to end.
    case index(table: String, name: String)
    /// The indexes of a table that its model does not demand.
    case otherIndexes(table: String)
    /// References of one relationship to objects that are gone, by the destination's keys.
    case dangling(relationship: PropertyKey, keys: KeyRange)
    /// Numbers of links and places in lists, all relationships.
    case relationships
    /// References of a destination table to files of external data.
    case externalData(table: String, keys: KeyRange)
    /// Tables that no model explains: the app's own, and persistent history.
    case keptTables
    /// All pages of the destination, and the fields of each record.
    case pages
    /// Header, schema, system tables, metadata, model cache.
    case file
}
