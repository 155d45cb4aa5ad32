import CoreDataStore
import MappingExpressions
import MigrationPlans
import SafeSQLite

/// Links to objects that no part has brought yet, in a table of the store.
///
/// The table is there while an import lasts, so that links survive a crash with their objects.
final class PendingLinks {
    /// One link that waits for its target.
    struct Link {
        let number: Int64
        let source: ObjectReference
        let relationship: String
        /// In the source's ordered list.
        let place: Int64?
        let target: StoredCell?
        /// Where the link comes from.
        let part: Int64
        let line: Int64
    }

    static let table = ImportTraces.linkTable
    private static let index = "GODWIT_IMPORT_LINK_SOURCE"

    private let connection: Connection
    private let insertion: Statement
    private let forgetting: Statement
    private let lastPlace: Statement
    private let removal: Statement
    /// Whether the table may have rows.
    private var mayHaveRows: Bool

    /// Makes the table where it is missing.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    init(_ connection: Connection, exists: Bool) throws(StoreError) {
        self.connection = connection
        if !exists {
            try connection.create(
                SchemaDefinition(
                    .table, Self.table,
                    sql: "CREATE TABLE GODWIT_IMPORT_LINK (number INTEGER PRIMARY KEY, "
                        + "entity INTEGER, source INTEGER, relationship TEXT, place INTEGER, "
                        + "target, part INTEGER, line INTEGER)"))
            try connection.create(
                SchemaDefinition(
                    .index, Self.index, table: Self.table,
                    sql: "CREATE INDEX GODWIT_IMPORT_LINK_SOURCE ON GODWIT_IMPORT_LINK "
                        + "(source, relationship, entity, place)"))
        }
        let table = SQLText.quoted(Self.table)
        insertion = try connection.prepare(
            "INSERT INTO main.\(table) VALUES (NULL, ?1, ?2, ?3, ?4, ?5, ?6, ?7)")
        forgetting = try connection.prepare(
            "DELETE FROM main.\(table) WHERE source = ?1 AND relationship = ?2 AND entity = ?3")
        lastPlace = try connection.prepare(
            "SELECT max(place) FROM main.\(table) "
                + "WHERE source = ?1 AND relationship = ?2 AND entity = ?3")
        removal = try connection.prepare("DELETE FROM main.\(table) WHERE number = ?1")
        mayHaveRows = exists
    }

    /// Remembers a link.
    func add(
        _ source: ObjectReference, _ relationship: String, place: Int64?, target: StoredCell,
        _ line: LinePlace
    ) throws(StoreError) {
        mayHaveRows = true
        try insertion.bind(source.entity, at: 1)
        try insertion.bind(source.key, at: 2)
        try insertion.bind(relationship, at: 3)
        try insertion.bind(place.map { .integer($0) }, at: 4)
        try insertion.bind(target, at: 5)
        try insertion.bind(Int64(line.part), at: 6)
        try insertion.bind(Int64(line.line), at: 7)
        try insertion.run()
    }

    /// Forgets the links of an object's to-one, which a later line sets.
    func forget(_ source: ObjectReference, _ relationship: String) throws(StoreError) {
        guard mayHaveRows else { return }
        try bind(source, relationship, to: forgetting)
        try forgetting.run()
    }

    /// The last place of an ordered list that a link waits for; nil where none does.
    func lastPlace(
        of source: ObjectReference, _ relationship: String
    ) throws(StoreError) -> Int64? {
        guard mayHaveRows else { return nil }
        defer { lastPlace.reset() }
        try bind(source, relationship, to: lastPlace)
        guard try lastPlace.step(), !lastPlace.isNull(0) else { return nil }
        return lastPlace.integer(0)
    }

    private func bind(
        _ source: ObjectReference, _ relationship: String, to statement: Statement
    ) throws(StoreError) {
        try statement.bind(source.key, at: 1)
        try statement.bind(relationship, at: 2)
        try statement.bind(source.entity, at: 3)
    }

    /// Links in the order in which they came, behind a number.
    func next(after number: Int64, limit: Int) throws(StoreError) -> [Link] {
        let query = try connection.prepare(
            "SELECT number, entity, source, relationship, place, target, part, line "
                + "FROM main.\(SQLText.quoted(Self.table)) WHERE number > ?1 "
                + "ORDER BY number LIMIT \(limit)")
        try query.bind(number, at: 1)
        var links: [Link] = []
        while try query.step() {
            links.append(
                Link(
                    number: query.integer(0),
                    source: ObjectReference(key: query.integer(2), entity: query.integer(1)),
                    relationship: try query.name(3),
                    place: query.isNull(4) ? nil : query.integer(4), target: query.cell(5),
                    part: query.integer(6), line: query.integer(7)))
        }
        return links
    }

    /// Forgets a link that was made.
    func remove(_ number: Int64) throws(StoreError) {
        try removal.bind(number, at: 1)
        try removal.run()
    }

    /// How many links wait.
    func count() throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM main.\(SQLText.quoted(Self.table))") ?? 0
    }
}
