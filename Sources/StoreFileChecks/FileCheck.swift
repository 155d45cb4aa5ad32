package import CoreDataStore
package import DurableFiles
import ManagedObjectModel
package import SafeSQLite

/// Checks of a file beyond its rows: what Core Data reads before it reads any object.
///
/// Each check gives texts; those that the source's file earns as well are inherited.
package struct FileCheck {
    private let layout: StoreLayout
    private let file: FileReading

    /// - Parameters:
    ///   - layout: what the file must have.
    ///   - file: to be checked.
    package init(layout: StoreLayout, file: FileReading) {
        self.layout = layout
        self.file = file
    }

    /// The numbers of the app's own in the header, which must be the source's.
    package static func applicationNumbers(
        source: FileReading, destination: FileReading
    ) throws(StoreError) -> [String] {
        let (before, after) = (try source.connection(), try destination.connection())
        var found: [String] = []
        let versions = (try before.userVersion(), try after.userVersion())
        if versions.0 != versions.1 {
            found.append("user_version is \(versions.1) instead of \(versions.0)")
        }
        let identifiers = (try before.applicationID(), try after.applicationID())
        if identifiers.0 != identifiers.1 {
            found.append("application_id is \(identifiers.1) instead of \(identifiers.0)")
        }
        return found
    }

    /// The header of a database: 100 bytes, fewer of a shorter file (file format §1.3).
    ///
    /// - Throws: `StoreError.inputOutput` where it cannot be read.
    static func headerBytes(_ path: FilePath) throws(StoreError) -> [UInt8] {
        do {
            return try DurableFileSystem().openForReading(path).read(count: 100, at: 0)
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }

    /// The header's fields that Core Data's files have alike.
    package static func header(_ path: FilePath) throws(StoreError) -> [String] {
        switch DatabaseHeader.read(try headerBytes(path)) {
        case .failure(let fault): return [fault.reason]
        case .success(let header):
            var found: [String] = []
            if header.pageSize != 4096 { found.append("pages of \(header.pageSize) bytes") }
            if !header.isWriteAheadLogged { found.append("it is not in WAL mode") }
            if header.autoVacuum != 2 { found.append("its vacuum mode is \(header.autoVacuum)") }
            if header.textEncoding != 1 { found.append("its text is not UTF-8") }
            if header.reservedBytes != 0 { found.append("its pages have reserved bytes") }
            return found
        }
    }

    /// Tables, columns, indexes, R-trees and triggers that the model demands.
    package func schema() throws(StoreError) -> [String] {
        let schema = try file.schema()
        var found: [String] = []
        for table in layout.tables {
            let leading = ["Z_PK", "Z_ENT", "Z_OPT"].map { ($0, ColumnType.integer.rawValue) }
            compare(
                table.name, leading + table.columns.map { ($0.name, $0.type.rawValue) }, schema,
                &found)
        }
        for join in layout.joinTables {
            compare(
                join.name, join.columnNames.map { ($0, ColumnType.integer.rawValue) }, schema,
                &found)
        }
        for (name, columns) in Self.systemTables
        where name != "Z_MODELCACHE" || layout.framework.hasModelCache || schema.hasTable(name) {
            compare(name, columns, schema, &found)
        }
        found += try file.surplus().rules
        try compareIndexes(&found)
        for tree in layout.rTrees where schema.object(.table, tree.name)?.isRTree != true {
            found.append("no R-tree \(tree.name)")
        }
        for trigger in layout.triggers {
            guard let there = schema.object(.trigger, trigger.name), there.table == trigger.table
            else {
                found.append("no trigger \(trigger.name)")
                continue
            }
            let texts = [there.sql ?? "", trigger.sql.description].map(StatementWords.of)
            if texts[0] != texts[1] {
                found.append("trigger \(trigger.name) differs from the expected one")
            }
        }
        return found
    }

    /// The columns of Core Data's own tables with their declared types, the same in every store
    /// that is known.
    private static let systemTables = [
        (
            "Z_METADATA",
            [("Z_VERSION", "INTEGER"), ("Z_UUID", "VARCHAR(255)"), ("Z_PLIST", "BLOB")]
        ),
        ("Z_MODELCACHE", [("Z_CONTENT", "BLOB")]),
        (
            "Z_PRIMARYKEY",
            [
                ("Z_ENT", "INTEGER"), ("Z_NAME", "VARCHAR"), ("Z_SUPER", "INTEGER"),
                ("Z_MAX", "INTEGER"),
            ]
        ),
    ]

    private func compare(
        _ table: String, _ wanted: [(name: String, type: String)], _ schema: StoreSchema,
        _ found: inout [String]
    ) {
        guard let columns = schema.columns[table] else {
            found.append("no table \(table)")
            return
        }
        let types = Dictionary(columns.map { ($0.name, $0.type) }, uniquingKeysWith: { a, _ in a })
        for (name, type) in wanted where types[name] != type {
            found.append(
                types[name] == nil
                    ? "no column \(table).\(name)" : "type of column \(table).\(name)")
        }
        let names = Set(wanted.map(\.name))
        for column in columns where !names.contains(column.name) {
            found.append("surplus column \(table).\(column.name)")
        }
    }

    private func compareIndexes(_ found: inout [String]) throws(StoreError) {
        var there: [String: [IndexFacts]] = [:]
        for table in layout.tables.map(\.name) + layout.joinTables.map(\.name) {
            there[table] = try file.indexes(of: table)
        }
        for index in layout.indexes {
            let same = there[index.table]?.first { $0.name == index.name }
            if same == nil { found.append("no index \(index.name)") }
            if let same, !same.fits(index) {
                found.append("index \(index.name) differs from the expected one")
            }
        }
        for join in layout.joinTables {
            let key = [join.namingColumn, join.inverseColumn]
            if there[join.name]?.contains(where: { $0.isKey(key) }) != true {
                found.append("no primary key of \(join.name)")
            }
        }
        for table in layout.tables {
            for names in table.constraints
            where there[table.name]?.contains(where: { $0.isKey(names) }) != true {
                found.append("no constraint over \(table.name) (\(names.joined(separator: ", ")))")
            }
        }
    }

    /// Rows of `Z_PRIMARYKEY` against the layout, and `Z_MAX` against the keys in use.
    ///
    /// `maxima`: `Z_MAX` that roots must have; nil asks for none, as for a source, whose maxima
    /// are put right.
    /// `reserved`: numbers of history and CloudKit that may be there; nil for any.
    package func primaryKeys(
        maxima: [String: Int64]?, reserved: Set<Int64>? = nil
    ) throws(StoreError) -> [String] {
        let connection = try file.connection()
        let keys = try PrimaryKeys.read(connection)
        var found: [String] = []
        if try PrimaryKeys.hasOddTypes(connection) {
            found.append("Z_PRIMARYKEY has values of other types")
        }
        for (number, name) in zip(Int64(1)..., layout.entityOrder) {
            guard let row = keys.row(number: number) else {
                found.append("Z_PRIMARYKEY has no entity \(name)")
                continue
            }
            if !row.name.isExactly(name) {
                found.append("Z_PRIMARYKEY has another name for entity \(name)")
            }
            if row.parent != Int64(layout.parentNumber(of: name)) {
                found.append("parent of entity \(name) in Z_PRIMARYKEY")
            }
            guard let maxima else { continue }
            guard layout.model.entities[name]?.parent == nil, let table = layout.table(of: name)
            else {
                if row.maximum != 0 { found.append("Z_MAX of sub-entity \(name)") }
                continue
            }
            if try row.maximum < highestKey(of: table) || row.maximum != maxima[name] ?? 0 {
                found.append("Z_MAX of entity \(name)")
            }
        }
        for row in keys.entities where row.number > Int64(layout.entityOrder.count) {
            found.append("Z_PRIMARYKEY has a surplus entity")
        }
        for row in keys.reserved where reserved?.contains(row.number) == false {
            found.append("Z_PRIMARYKEY has the surplus number \(row.number)")
        }
        return found
    }

    /// Root entities whose `Z_MAX` is negative or below a key in use.
    ///
    /// `known`: by table, a key that none in use is above; no table with that `Z_MAX` is asked.
    package func lowMaxima(
        _ keys: PrimaryKeys, known: [String: Int64]
    ) throws(StoreError) -> [String] {
        var found: [String] = []
        for table in layout.tables {
            let number = Int64(layout.number(of: table.rootEntity) ?? 0)
            guard let row = keys.row(number: number), row.maximum != known[table.name] else {
                continue
            }
            if try row.maximum < highestKey(of: table) { found.append(table.rootEntity) }
        }
        return found
    }

    /// The highest key of a table, 0 for an empty one.
    private func highestKey(of table: TableLayout) throws(StoreError) -> Int64 {
        if let rows = try file.rowNumbers(of: table.name) { return rows.highest ?? 0 }
        return try file.connection().integer("SELECT max(Z_PK) FROM \(SQLText.quoted(table.name))")
            ?? 0
    }

    /// R-trees against their tables: the same entries as an R-tree that is newly filled.
    ///
    /// Only the module itself knows how it rounds values to its 32-bit coordinates, so a
    /// temporary R-tree is what to compare with.
    package func rTrees() throws(StoreError) -> [String] {
        var found: [String] = []
        let connection = try file.connection()
        for (number, tree) in layout.rTrees.enumerated() {
            let columns = tree.columns.map(SQLText.quoted)
            let bounds = tree.bounds.map(SQLText.quoted)
            let name: SQLText = "temp.rebuilt_\(number)"
            try connection.create(
                SchemaDefinition(
                    .rTree, "rebuilt_\(number)", isTemporary: true,
                    sql: "CREATE VIRTUAL TABLE \(name) USING rtree (Z_PK, "
                        + "\(bounds.joined(separator: ", ")))"))
            found += try RTreeNodes.faults(in: tree.name, isInteger: false, connection)
            let present = columns.map { "\($0) IS NOT NULL" as SQLText }.joined(separator: " AND ")
            try connection.execute(
                "INSERT INTO \(name) SELECT Z_PK, "
                    + "\(columns.flatMap { [$0, $0] }.joined(separator: ", ")) "
                    + "FROM \(SQLText.quoted(tree.table)) WHERE \(present)")
            let list = (["Z_PK" as SQLText] + bounds).joined(separator: ", ")
            let stored: SQLText = "SELECT \(list) FROM \(SQLText.quoted(tree.name))"
            let rebuilt: SQLText = "SELECT \(list) FROM \(name)"
            let different = try connection.integer(
                "SELECT (SELECT count(*) FROM (\(stored) EXCEPT \(rebuilt))) + "
                    + "(SELECT count(*) FROM (\(rebuilt) EXCEPT \(stored))) + "
                    + "abs((SELECT count(*) FROM (\(stored))) "
                    + "- (SELECT count(*) FROM (\(rebuilt))))")
            if different != 0 { found.append("R-tree \(tree.name) does not fit its table") }
        }
        return found
    }
}

extension IndexFacts {
    /// Whether it keeps these columns distinct.
    func isKey(_ names: [String]) -> Bool {
        isUnique && !isPartial && columns.map(\.name) == names
    }
}
