import CoreDataStore
import ManagedObjectModel
import SafeSQLite

extension SeededFault {
    /// A fault in a random index that the model demands and whose table has rows.
    private static func index(
        _ name: String, _ body: @escaping @Sendable (FaultSite, IndexLayout) throws -> Bool
    ) -> SeededFault {
        SeededFault(name: name) { site in
            for index in site.shuffled(site.layout.indexes) {
                let rows = "SELECT rowid FROM \(SQLText.quoted(index.table)) ORDER BY rowid"
                guard try site.pick(rows) != nil else { continue }
                if try body(site, index) { return true }
            }
            return false
        }
    }

    /// Faults of the schema and of indexes.
    package static let schemaFaults: [SeededFault] = [
        index("an index missing") { site, index in
            try site.connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
            return true
        },
        index("an index that leaves rows out") { site, index in
            try site.connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
            try site.connection.execute(
                "CREATE INDEX \(SQLText.quoted(index.name)) ON \(SQLText.quoted(index.table)) "
                    + "(\(index.list)) WHERE rowid > 1")
            return true
        },
        index("an index over other columns") { site, index in
            let isJoin = site.joinTables.contains { $0.name == index.table }
            let list =
                isJoin
                ? SQLText.quoted(index.columns[0].name).description : "\(index.list), Z_OPT"
            try site.connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
            try site.connection.execute(
                "CREATE INDEX \(SQLText.quoted(index.name)) "
                    + "ON \(SQLText.quoted(index.table)) (\(list))")
            return true
        },
        index("an index in the other direction", turnIndex),
        index("an entry missing from an index", dropEntry),
        index("an entry of an index with another value", spoilEntry),
        SeededFault(name: "a unique index that is not unique") { site in
            for index in site.shuffled(site.layout.indexes) where index.isUnique {
                try site.connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
                try site.connection.execute(
                    index.sql.description.replacing("CREATE UNIQUE", with: "CREATE"))
                return true
            }
            return false
        },
        SeededFault(name: "a trigger missing") { site in
            guard let trigger = site.shuffled(site.layout.triggers).first else { return false }
            try site.connection.execute("DROP TRIGGER \(SQLText.quoted(trigger.name))")
            return true
        },
        SeededFault(name: "a trigger that does nothing") { site in
            guard let trigger = site.shuffled(site.layout.triggers).first else { return false }
            try site.connection.execute("DROP TRIGGER \(SQLText.quoted(trigger.name))")
            try site.connection.execute(
                "CREATE TRIGGER \(SQLText.quoted(trigger.name)) AFTER INSERT "
                    + "ON \(SQLText.quoted(trigger.table)) BEGIN SELECT 1; END")
            return true
        },
        SeededFault(name: "an entry missing from an R-tree") { site in
            for tree in site.shuffled(site.layout.rTrees) {
                let name = SQLText.quoted(tree.name)
                guard let key = try site.pick("SELECT Z_PK FROM \(name) ORDER BY Z_PK") else {
                    continue
                }
                return try site.change("DELETE FROM \(name) WHERE Z_PK = \(key)")
            }
            return false
        },
        SeededFault(name: "a join table missing") { site in
            guard let join = site.shuffled(site.joinTables).first else { return false }
            let name = SQLText.quoted(join.name)
            try site.connection.execute("DELETE FROM \(name); DROP TABLE \(name)")
            return true
        },
        SeededFault(name: "a column too many") { site in
            guard let table = site.shuffled(site.tables).first else { return false }
            try site.connection.execute(
                "ALTER TABLE \(SQLText.quoted(table.name)) ADD COLUMN ZSURPLUS INTEGER")
            return true
        },
    ]

    private static let turnIndex: @Sendable (FaultSite, IndexLayout) throws -> Bool = {
        site, index in
        guard !index.isUnique, index.condition == nil else { return false }
        let list = index.columns.map { column in
            "\(SQLText.quoted(column.name)) \(column.isDescending ? "ASC" : "DESC")"
        }
        try site.connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
        try site.connection.execute(
            "CREATE INDEX \(SQLText.quoted(index.name)) ON \(SQLText.quoted(index.table)) "
                + "(\(list.joined(separator: ", ")))")
        return true
    }

    /// An index that was built when the last rows of its table were not there yet.
    package static let indexBeforeLastRows = index("an index built before the last rows") {
        site, index in
        let table = SQLText.quoted(index.table)
        guard let row = try site.pick("SELECT rowid FROM \(table) ORDER BY rowid") else {
            return false
        }
        return try rebuild(index, site, where: "rowid < \(row)")
    }

    /// Leaves one row out of an index.
    private static let dropEntry: @Sendable (FaultSite, IndexLayout) throws -> Bool = {
        site, index in
        let table = SQLText.quoted(index.table)
        guard let row = try site.pick("SELECT rowid FROM \(table) ORDER BY rowid") else {
            return false
        }
        return try rebuild(index, site, where: "rowid <> \(row)")
    }

    /// Builds an index over some rows alone and then writes the full statement into the schema.
    private static func rebuild(
        _ index: IndexLayout, _ site: FaultSite, where condition: String
    ) throws -> Bool {
        guard index.condition == nil, !index.isUnique else { return false }
        try site.connection.execute("DROP INDEX \(SQLText.quoted(index.name))")
        try site.connection.execute(
            "CREATE INDEX \(SQLText.quoted(index.name)) ON \(SQLText.quoted(index.table)) "
                + "(\(index.list)) WHERE \(condition)")
        try site.connection.execute(
            "PRAGMA writable_schema = ON; "
                + "UPDATE sqlite_master SET sql = \(SQLText.text(index.sql.description)) "
                + "WHERE type = 'index' AND name = \(SQLText.text(index.name)); "
                + "PRAGMA writable_schema = OFF")
        try site.reopen()
        return true
    }

    /// Changes a value, hides the index from SQLite, changes the value back, shows it again.
    private static let spoilEntry: @Sendable (FaultSite, IndexLayout) throws -> Bool = {
        site, index in
        guard index.condition == nil, !index.isUnique, let column = index.columns.first?.name,
            column != "Z_PK"
        else { return false }
        let (table, c) = (SQLText.quoted(index.table), SQLText.quoted(column))
        // Another index over the column would be spoilt as well; that is no harm.
        guard let row = try site.pick("SELECT rowid FROM \(table) ORDER BY rowid") else {
            return false
        }
        let name = SQLText.text(index.name)
        guard
            try site.change(
                "CREATE TEMP TABLE kept AS SELECT \(c) AS value FROM \(table) "
                    + "WHERE rowid = \(row); "
                    + "UPDATE \(table) SET \(c) = 987654321 WHERE rowid = \(row)")
        else { return false }
        let entry = try site.connection.prepare(
            "SELECT type, tbl_name, rootpage, sql FROM sqlite_master WHERE name = \(name)")
        guard try entry.step() else { return false }
        let (page, sql) = (entry.integer(2), entry.text(3) ?? "")
        entry.reset()
        let old = try site.connection.prepare("SELECT value FROM temp.kept")
        _ = try old.step()
        try site.connection.execute(
            "PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE name = \(name); "
                + "PRAGMA writable_schema = RESET")
        let restore = try site.connection.prepare(
            "UPDATE \(table) SET \(c) = ?1 WHERE rowid = \(row)")
        try restore.bindValue(at: 1, from: old, column: 0)
        try restore.run()
        old.reset()
        try site.connection.execute(
            "PRAGMA writable_schema = ON; "
                + "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, "
                + "sql) VALUES ('index', \(name), \(SQLText.text(index.table)), \(page), "
                + "\(SQLText.text(sql))); PRAGMA writable_schema = RESET")
        return true
    }
}

extension IndexLayout {
    /// The columns as `CREATE INDEX` lists them.
    fileprivate var list: String {
        columns.map { "\(SQLText.quoted($0.name)) \($0.isDescending ? "DESC" : "ASC")" }
            .joined(separator: ", ")
    }
}
