import CoreDataStore
import ManagedObjectModel

/// The SQL that an expert would keep in a file for one source version of the fleet.
///
/// One transaction, indexes after the rows, checks in plain SQL; the last statement makes the file
/// durable and marks it as write-ahead logged. The source is attached as `source`, a store of the
/// new version, for metadata and model cache, as `template`.
struct ExpertSQL {
    let source: Model
    let destination: Model
    /// Layouts spell names and statements as Core Data does, as an expert would copy them.
    private let before: StoreLayout
    private let after: StoreLayout

    init(from source: Model, to destination: Model) throws {
        self.source = source
        self.destination = destination
        before = try StoreLayout(model: source, framework: .newestVerified)
        after = try StoreLayout(model: destination, framework: .newestVerified)
    }

    /// The names of both tables of an entity, and each column with what fills it.
    private struct Copy {
        let from: String
        let to: String
        let cells: [(column: String, value: String)]

        var equal: String {
            cells.map { "d.\($0.column) IS \($0.value)" }.joined(separator: " AND ")
        }
    }

    var text: String {
        let copies = after.tables.compactMap(copy)
        var lines = [
            "PRAGMA page_size = 4096;", "PRAGMA synchronous = OFF;", "PRAGMA journal_mode = OFF;",
            "PRAGMA locking_mode = EXCLUSIVE;", "PRAGMA auto_vacuum = INCREMENTAL;",
            "PRAGMA secure_delete = OFF;", ".output stdout", "BEGIN;",
        ]
        lines += after.tables.map { "\($0.sql);" }
        lines += [
            "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, "
                + "Z_SUPER INTEGER, Z_MAX INTEGER);",
            "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), "
                + "Z_PLIST BLOB);",
            "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);",
        ]
        lines += copies.map { copy in
            "INSERT INTO main.\(copy.to) (\(copy.cells.map(\.column).joined(separator: ", "))) "
                + "SELECT \(copy.cells.map(\.value).joined(separator: ", ")) "
                + "FROM source.\(copy.from) s NOT INDEXED ORDER BY Z_PK;"
        }
        lines += systemRows
        lines += after.indexes.map { "\($0.sql);" }
        lines += ["COMMIT;"]
        lines += checks(copies)
        // The one sync of the file: all that was written before goes with it.
        lines += [
            "PRAGMA synchronous = FULL;", ".output /dev/null", "PRAGMA journal_mode = WAL;",
            ".output stdout", "SELECT 'durable';",
        ]
        return lines.joined(separator: "\n") + "\n"
    }

    private var systemRows: [String] {
        // The expert knows which entity has a new name, and that it has a new number.
        let renames = destination.numberedEntities.compactMap { entity in
            entity.renamingIdentifier.map {
                "UPDATE temp.maximum SET name = '\(entity.name)' WHERE name = '\($0)';"
            }
        }
        return [
            "CREATE TEMP TABLE maximum AS SELECT Z_NAME AS name, Z_MAX AS maximum "
                + "FROM source.Z_PRIMARYKEY;"
        ] + renames + [
            "INSERT INTO main.Z_PRIMARYKEY SELECT t.Z_ENT, t.Z_NAME, t.Z_SUPER, m.maximum "
                + "FROM template.Z_PRIMARYKEY t JOIN temp.maximum m ON m.name = t.Z_NAME;",
            "INSERT INTO main.Z_METADATA SELECT s.Z_VERSION, s.Z_UUID, t.Z_PLIST "
                + "FROM source.Z_METADATA s, template.Z_METADATA t;",
            "INSERT INTO main.Z_MODELCACHE SELECT * FROM template.Z_MODELCACHE;",
        ]
    }

    /// Every value of every row, references, maxima, pages with their indexes; `ok` where all
    /// held.
    private func checks(_ copies: [Copy]) -> [String] {
        var checks: [String] = []
        for copy in copies {
            checks.append(
                "(SELECT count(*) FROM source.\(copy.from) NOT INDEXED) = "
                    + "(SELECT count(*) FROM main.\(copy.to) NOT INDEXED)")
            checks.append(
                "(SELECT count(*) FROM source.\(copy.from) NOT INDEXED) = "
                    + "(SELECT count(*) FROM source.\(copy.from) s NOT INDEXED CROSS JOIN "
                    + "main.\(copy.to) d ON d.Z_PK = s.Z_PK WHERE \(copy.equal))")
            checks.append(
                "(SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity(copy.to))') >= "
                    + "(SELECT max(Z_PK) FROM main.\(copy.to))")
        }
        for table in after.tables {
            for column in table.columns {
                guard case .toOne(let key) = column.role,
                    let target = destination.relationship(key.property, of: key.entity)?
                        .relationship.destination, let other = after.table(of: target)?.name
                else { continue }
                checks.append(
                    "NOT EXISTS (SELECT 1 FROM main.\(table.name) d WHERE d.\(column.name) "
                        + "NOT NULL AND NOT EXISTS (SELECT 1 FROM main.\(other) o "
                        + "WHERE o.Z_PK = d.\(column.name)))")
            }
        }
        checks.append("(SELECT group_concat(integrity_check) FROM pragma_integrity_check) = 'ok'")
        return checks.enumerated().map { "SELECT 'check \($0) failed' WHERE NOT (\($1));" }
    }

    private func entity(_ table: String) -> String {
        after.tables.first { $0.name == table }?.rootEntity ?? ""
    }

    private func copy(_ table: TableLayout) -> Copy? {
        guard let entity = destination.entities[table.rootEntity],
            let old = before.table(of: entity.renamingIdentifier ?? entity.name)
                ?? before.table(of: entity.name),
            let number = after.number(of: entity.name)
        else { return nil }
        var cells = [("Z_PK", "s.Z_PK"), ("Z_ENT", "\(number)"), ("Z_OPT", "s.Z_OPT")]
        for column in table.columns {
            cells.append((column.name, value(of: column, from: old, entity: entity)))
        }
        return Copy(from: old.name, to: table.name, cells: cells)
    }

    private func value(of column: ColumnLayout, from old: TableLayout, entity: Entity) -> String {
        guard
            let attribute = entity.attributes.first(where: { $0.name == column.role.key.property })
        else { return "s.\(column.name)" }
        for name in [attribute.name, attribute.renamingIdentifier].compactMap({ $0 }) {
            if let found = old.columns.first(where: { $0.role.key.property == name }) {
                return "s.\(found.name)"
            }
        }
        switch attribute.defaultValue {
        case .integer(let value): return "\(value)"
        case .text(let value): return "'\(value)'"
        default: return "NULL"
        }
    }
}
