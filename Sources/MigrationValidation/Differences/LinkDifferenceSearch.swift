import CoreDataStore
import ManagedObjectModel
import MappingModel
import SafeSQLite
import StoreFileChecks
import ValidationScans

/// Finds the objects whose links differ.
extension Validator {
    /// Adds the owners of links that only one side has.
    ///
    /// Both sides' links go into temporary tables, which SQLite keeps in files that have no
    /// name, so that memory stays bounded; they hold keys and hashes alone.
    func addLinks(
        of place: LinkLocation, uuid: String, limit: Int, to found: inout [Difference]
    ) throws(StoreError) {
        let connection = try openDestination()
        for name in ["expected_link", "actual_link"] {
            try connection.create(
                SchemaDefinition(
                    .table, name, isTemporary: true,
                    sql: "CREATE TEMP TABLE \(.quoted(name)) (owner INTEGER, high INTEGER, "
                        + "low INTEGER)"))
        }
        try fillExpected(place, connection)
        try fillActual(place, connection)
        let differing = try connection.prepare(
            "SELECT DISTINCT owner FROM ("
                + "SELECT * FROM (SELECT * FROM expected_link EXCEPT SELECT * FROM actual_link) "
                + "UNION ALL "
                + "SELECT * FROM (SELECT * FROM actual_link EXCEPT SELECT * FROM expected_link)) "
                + "ORDER BY owner LIMIT \(max(0, limit - found.count))")
        let table = scope.destination.table(of: place.ownerEntity)?.name ?? ""
        let entity = try connection.prepare(
            "SELECT Z_ENT FROM \(SQLText.quoted(table)) WHERE Z_PK = ?1")
        while try differing.step() {
            let owner = differing.integer(0)
            try entity.bind(owner, at: 1)
            let number = try entity.step() ? entity.integer(0) : 0
            entity.reset()
            let names = scope.destination.entityOrder
            let isKnown = number >= 1 && number <= Int64(names.count)
            let name = isKnown ? names[Int(number) - 1] : place.ownerEntity
            found.append(
                Difference(
                    uri: "x-coredata://\(uuid)/\(name)/p\(owner)", property: place.key.property,
                    kind: .links))
        }
    }

    private func fillExpected(
        _ place: LinkLocation, _ connection: Connection
    ) throws(StoreError) {
        let source = try openSource()
        for feed in place.feeds {
            let split = feed.storage.isJoin ? nil : SplitReader(feed.storage.table, scope)
            var list = SelectList(feed.storage.isJoin ? [] : ["Z_PK", "Z_ENT"])
            let reader = try LinkReader(
                feed, of: place, number: 0, mustExist: scope.dangling == .nullify,
                key: scope.key, list: &list, connection: source)
            try fill(
                "expected_link", connection, reader: reader, hasObjects: !feed.storage.isJoin,
                entity: scope.source.table(named: feed.storage.table).flatMap {
                    scope.source.onlyEntity(of: $0)
                }, split: split.map { ($0, list.names.count) },
                rows: source.prepare(
                    list.sql(
                        table: feed.storage.table, key: "rowid", range: .all,
                        extra: split?.inputs ?? [])))
        }
    }

    private func fillActual(_ place: LinkLocation, _ connection: Connection) throws(StoreError) {
        var list = SelectList(place.storage.isJoin ? [] : ["Z_PK", "Z_ENT"])
        let reader = LinkReader(
            place, number: 0, layout: scope.destination, key: scope.key, list: &list)
        try fill(
            "actual_link", connection, reader: reader, hasObjects: !place.storage.isJoin,
            rows: connection.prepare(
                list.sql(table: place.storage.table, key: "rowid", range: .all)))
    }

    /// Reads the links of rows into a table.
    ///
    /// `entity`: the number that all rows are read with; nil for each row's own.
    /// `split`: tells rows of one entity apart, by inputs from a place on.
    private func fill(
        _ table: String, _ connection: Connection, reader: LinkReader, hasObjects: Bool,
        entity: Int64? = nil, split: (reader: SplitReader, first: Int)? = nil, rows: Statement
    ) throws(StoreError) {
        let insert = try connection.prepare(
            "INSERT INTO temp.\(.quoted(table)) VALUES (?1, ?2, ?3)")
        var link = FoundLink()
        while try rows.step() {
            let key = hasObjects ? rows.integer(0) : 0
            var number = hasObjects ? entity ?? rows.integer(1) : 0
            if let split {
                number =
                    try split.reader.number(number, RawRow(rows), first: split.first, key: key)
                    ?? -1
            }
            guard try reader.read(RawRow(rows), key: key, number: number, into: &link) == .link
            else {
                continue
            }
            try insert.bind(link.owner, at: 1)
            try insert.bind(Int64(bitPattern: link.digest.high), at: 2)
            try insert.bind(Int64(bitPattern: link.digest.low), at: 3)
            try insert.run()
        }
    }
}
