import CoreDataStore
import MappingModel

/// Compares tables that no model explains: the app's own, and persistent history.
///
/// Rows are held against each other as sets by SQL, and counted: the numbers of rows are what
/// SQLite can sort outside memory, whatever they are.
struct KeptTablesCheck {
    let scope: ValidationScope
    let files: ValidationFiles
    let reading: ValidationReading

    private static let history = ["ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"]

    /// What differs and what is not there, in words, and rows that break a rule of their table.
    struct Result {
        var findings: [String] = []
        var notes: [String] = []
        /// Rows that break a `CHECK`, by table.
        var brokenChecks: [(table: String, count: Int64)] = []
    }

    /// Compares all of them.
    func run() throws(StoreError) -> Result {
        let schema = try reading.destination.schema()
        let original = try reading.source.schema()
        let own = SchemaExtras.find(in: original, layout: scope.source).filter {
            $0.kind == .table && !$0.name.hasPrefix("sqlite_")
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
                try RTreeNodes.check(object.name, connection)
            }
            try compare(
                object.name, expected: "SELECT * FROM origin.\(name)",
                actual: "SELECT * FROM main.\(name)", connection, &result.findings)
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
        for name in history {
            guard schema.hasTable(name) else {
                result.notes.append("history table \(name) is not in the destination")
                continue
            }
            let table = SQLText.quoted(name)
            let columns = (original.columns[name] ?? []).map(\.name)
            let list = columns.map(SQLText.quoted).joined(separator: ", ")
            let values = columns.map { moved($0, in: name) }.joined(separator: ", ")
            try compare(
                name, expected: "SELECT \(values) FROM origin.\(table)",
                actual: "SELECT \(list) FROM main.\(table)", connection, &result.findings)
        }
        try connection.detach("origin")
        return result
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

    private func compare(
        _ table: String, expected: SQLText, actual: SQLText, _ connection: Connection,
        _ findings: inout [String]
    ) throws(StoreError) {
        let difference = try connection.integer(
            "SELECT (SELECT count(*) FROM (\(expected) EXCEPT \(actual))) "
                + "+ (SELECT count(*) FROM (\(actual) EXCEPT \(expected))) "
                + "+ abs((SELECT count(*) FROM (\(expected))) - (SELECT count(*) FROM (\(actual))))"
        )
        if let difference, difference > 0 {
            findings.append("table \(table): \(difference) rows differ")
        }
    }

    /// What a history column must become: numbers and keys of entities follow them.
    private func moved(_ column: String, in table: String) -> SQLText {
        let name = SQLText.quoted(column)
        guard table == "ACHANGE", column == "ZENTITY" || column == "ZENTITYPK" else { return name }
        var cases: [SQLText] = []
        for mapping in scope.mapping.entityMappings {
            guard let from = mapping.source, let number = scope.source.number(of: from),
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
