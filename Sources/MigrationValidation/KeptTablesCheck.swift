import CoreDataStore
import Jobs
import MappingModel
import SafeSQLite
import StoreFileChecks
import ValidationScans

/// Compares tables that no model explains: the app's own, and persistent history.
///
/// Rows are held against each other by sums of keyed hashes over everything that they hold: storage
/// classes, bytes and, where Godwit wrote the result, rowids. SQL would take 1 and 1.0 for equal,
/// as would a column's collation for some texts.
struct KeptTablesCheck {
    let scope: ValidationScope
    let files: ValidationFiles
    let reading: ValidationReading

    private static let history = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]
    /// The table of persistent history that has a row for each transaction.
    private static let transactions = "ATRANSACTION"

    /// What differs and what is not there, in words, and rows that break a rule of their table.
    struct Result {
        var findings: [String] = []
        var notes: [String] = []
        /// Rows that break a `CHECK`, by table.
        var brokenChecks: [(table: String, count: Int64)] = []
        /// Transactions of persistent history that are not there.
        var lostTransactions: Int64 = 0
    }

    /// Compares all of them.
    func run() throws(StoreError) -> Result {
        let schema = try reading.destination.schema()
        let original = try reading.source.schema()
        // A table of the model may have the name of one that was dropped for it.
        let demanded = Set(
            (scope.destination.tables.map(\.name) + scope.destination.joinTables.map(\.name)
                + scope.destination.rTrees.map(\.name)).map { $0.uppercased() })
        let own = SchemaExtras.find(in: original, layout: scope.source).filter {
            $0.kind == .table && !$0.name.hasPrefix("sqlite_")
                && !demanded.contains($0.name.uppercased())
        }
        let history = Self.history.filter { original.hasTable($0) }
        var result = Result()
        result.findings = missingObjects(in: schema)
        guard !own.isEmpty || !history.isEmpty else { return result }
        // The source is attached as `origin`, so that SQLite compares both.
        let connection = try reading.destination.connection()
        try connection.attachImmutable(files.source, as: "origin")
        var brokenChecks: BrokenChecks?
        for object in own {
            guard schema.object(.table, object.name) != nil else {
                if !mustKeep(object) {
                    result.notes.append("table \(object.name) is not in the destination")
                }
                continue
            }
            let name = SQLText.quoted(object.name)
            if object.isRTree {
                result.findings += try RTreeNodes.faults(
                    in: object.name, isInteger: object.module == "RTREE_I32", connection)
            }
            let list = try columns(of: object.name, in: original, connection)
            try compare(
                object.name, expected: "SELECT \(list) FROM origin.\(name)\(Self.scan(object))",
                actual: "SELECT \(list) FROM main.\(name)\(Self.scan(object))", connection,
                &result.findings)
            guard object.sql?.uppercased().contains("CHECK") == true else { continue }
            do throws(StoreError) {
                if brokenChecks == nil { brokenChecks = try BrokenChecks(files.destination) }
                let broken = try brokenChecks?.count(
                    object, columns: original.columns[object.name] ?? [])
                guard let broken else { continue }
                if broken > 0 { result.brokenChecks.append((object.name, broken)) }
            } catch {
                result.notes.append("the CHECK constraints of table \(object.name) were not tried")
            }
        }
        try compareSequences(of: own, schema, original, connection, &result.findings)
        for name in history {
            guard schema.hasTable(name) else {
                if name == Self.transactions {
                    result.lostTransactions = try Self.transactions(in: reading.source)
                }
                continue
            }
            let table = SQLText.quoted(name)
            let columns = (original.columns[name] ?? []).map(\.name)
            let list = columns.map(SQLText.quoted).joined(separator: ", ")
            let values = columns.map { moved($0, in: name) }.joined(separator: ", ")
            try compare(
                name, expected: "SELECT \(values) FROM origin.\(table) NOT INDEXED",
                actual: "SELECT \(list) FROM main.\(table) NOT INDEXED", connection,
                &result.findings)
        }
        try connection.detach("origin")
        return result
    }

    /// Transactions of the persistent history of a file.
    static func transactions(in file: FileReading) throws(StoreError) -> Int64 {
        guard try file.schema().hasTable(transactions) else { return 0 }
        return try file.connection().integer(
            "SELECT count(*) FROM \(SQLText.quoted(transactions))") ?? 0
    }

    private func mustKeep(_ object: SchemaObject) -> Bool {
        scope.keptObjects.contains { $0.kind == object.kind && $0.name == object.name }
    }

    /// What had to be kept and is not there.
    ///
    /// An index holds nothing, and other programs drop it.
    private func missingObjects(in schema: StoreSchema) -> [String] {
        scope.keptObjects.filter { object in
            object.kind != .index && !object.name.hasPrefix("sqlite_")
                && schema.object(object.kind, object.name) == nil
        }.map { "\($0.kind.rawValue) \($0.name) is missing" }
    }

    /// All columns of a table, before them the rowid where none of them is it.
    private func columns(
        of table: String, in schema: StoreSchema, _ connection: Connection
    ) throws(StoreError) -> SQLText {
        // Other programs need not keep rowids, which no column shows.
        guard scope.newPlaces == .byKey, let columns = schema.columns[table],
            schema.rowidColumns[table] == nil,
            let rowid = try connection.rowidName(of: table, columns: columns)
        else { return "*" }
        return "\(rowid), *"
    }

    /// Has SQLite read the rows themselves, and no index that may hold others.
    private static func scan(_ table: SchemaObject) -> SQLText {
        table.isVirtual ? "" : " NOT INDEXED"
    }

    /// Numbers that `AUTOINCREMENT` has given out in tables that both sides have.
    private func compareSequences(
        of own: [SchemaObject], _ schema: StoreSchema, _ original: StoreSchema,
        _ connection: Connection, _ findings: inout [String]
    ) throws(StoreError) {
        // Only such a declaration makes SQLite keep the numbers; a program may have written more.
        let names = own.filter {
            schema.object(.table, $0.name) != nil
                && $0.sql?.uppercased().contains("AUTOINCREMENT") == true
        }.map(\.name)
        guard !names.isEmpty, original.hasTable("sqlite_sequence") else { return }
        let list = names.map(SQLText.text).joined(separator: ", ")
        let rows: (SQLText) -> SQLText = { side in
            "SELECT name, seq FROM \(side).sqlite_sequence WHERE name IN (\(list))"
        }
        let isThere = schema.hasTable("sqlite_sequence")
        try compare(
            "sqlite_sequence", expected: rows("origin"),
            actual: isThere ? rows("main") : "SELECT NULL, NULL WHERE 0", connection, &findings)
    }

    private func compare(
        _ table: String, expected: SQLText, actual: SQLText, _ connection: Connection,
        _ findings: inout [String]
    ) throws(StoreError) {
        let sums = (try sum(expected, connection), try sum(actual, connection))
        if sums.0 == sums.1 { return }
        guard sums.0.count == sums.1.count else {
            findings.append(
                "table \(table): the numbers of rows differ (\(sums.1.count) instead of "
                    + "\(sums.0.count))")
            return
        }
        findings.append("table \(table): rows differ")
    }

    /// A sum over the rows of a query.
    private func sum(_ query: SQLText, _ connection: Connection) throws(StoreError) -> ContentSum {
        let rows = try connection.prepare(query)
        let row = RawRow(rows)
        let columns = rows.columnCount
        var sum = CellSum()
        while try rows.step() {
            let digest = scope.key.hash(of: row, columns: columns)
            sum.add(high: digest.high, low: digest.low)
        }
        return sum.content
    }

    /// What a history column must become: numbers and keys of entities follow them.
    private func moved(_ column: String, in table: String) -> SQLText {
        let name = SQLText.quoted(column)
        guard table == "ACHANGE", column == "ZENTITY" || column == "ZENTITYPK" else { return name }
        var cases: [SQLText] = []
        for mapping in scope.mapping.entityMappings {
            // History is kept of entities alone that stay what they are.
            guard mapping.kind == .copy, let from = mapping.source,
                let number = scope.source.number(of: from),
                let fate = scope.fate(of: mapping)
            else { continue }
            cases.append(
                column == "ZENTITY"
                    ? "WHEN \(number) THEN \(fate.number)"
                    : "WHEN \(number) THEN \(name) + \(fate.offset)")
        }
        guard !cases.isEmpty else { return name }
        return "CASE ZENTITY \(cases.joined(separator: " ")) ELSE \(name) END"
    }
}
