import CoreDataStore
package import SafeSQLite
import StorePages

/// What the statements of a file say of its tables and indexes.
package struct TableFacts: Sendable {
    /// By table, those of a table by name.
    let indexes: [String: [IndexFacts]]
    /// What a walk over the pages goes by.
    let stored: PageWalk.SchemaFacts
}

/// An index as the file describes it.
package struct IndexFacts: Hashable, Sendable {
    /// A column of an index and its direction.
    package struct Column: Hashable, Sendable {
        package let name: String
        package let isDescending: Bool
    }

    package let name: String
    package let table: String
    package let columns: [Column]
    package let isUnique: Bool
    /// Whether a `CREATE INDEX` made it, and not a constraint.
    package let isOwn: Bool
    package let isPartial: Bool
    /// The condition of a partial index, where the model tells it.
    package let condition: SQLText?
    /// Whether it can be walked: columns only, BINARY order, a condition that is known.
    package let isWalkable: Bool

    /// What its sum is called.
    package var label: String { "index \(name)" }

    /// Reads the indexes of one ordinary table, or of all.
    ///
    /// One statement for all of them: compiling one for each would cost more than running it.
    /// `table`: nil for all.
    /// `layout`: tells the conditions of partial indexes.
    /// Returns the indexes by table, those of a table by name.
    static func read(
        table only: String? = nil, layout: StoreLayout, connection: Connection
    ) throws(StoreError) -> [String: [IndexFacts]] {
        let conditions = Dictionary(
            layout.indexes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var found: [String: [IndexFacts]] = [:]
        var draft: Draft?
        var count = 0
        let list = try connection.prepare(
            "SELECT m.name, l.name, l.\"unique\", l.origin, l.partial, x.cid, x.name, x.\"desc\", "
                + "x.coll, x.key FROM sqlite_master m CROSS JOIN pragma_index_list(m.name) l "
                + "CROSS JOIN pragma_index_xinfo(l.name) x "
                + "WHERE m.type = 'table' AND m.rootpage > 0"
                + (only == nil ? "" : " AND m.name = ?1"))
        if let only { try list.bind(only, at: 1) }
        while try list.step() {
            guard let table = list.text(0), let name = list.text(1) else { continue }
            if draft?.name != name || draft?.table != table {
                if let made = draft?.facts(conditions) {
                    found[made.table, default: []].append(made)
                }
                count += 1
                guard count <= StoreSchema.objectLimit else {
                    draft = nil
                    break
                }
                draft = Draft(
                    name: name, table: table, isUnique: list.integer(2) != 0,
                    isOwn: list.text(3) == "c", isPartial: list.integer(4) != 0)
            }
            draft?.addColumn(list)
        }
        if let made = draft?.facts(conditions) { found[made.table, default: []].append(made) }
        return found.mapValues { facts in facts.sorted { $0.name < $1.name } }
    }

    /// An index whose columns are still being read.
    private struct Draft {
        let name: String
        let table: String
        let isUnique: Bool
        let isOwn: Bool
        let isPartial: Bool
        private var columns: [Column] = []
        private var isPlain = true

        init(name: String, table: String, isUnique: Bool, isOwn: Bool, isPartial: Bool) {
            self.name = name
            self.table = table
            self.isUnique = isUnique
            self.isOwn = isOwn
            self.isPartial = isPartial
        }

        mutating func addColumn(_ row: Statement) {
            guard row.integer(9) != 0 else { return }
            // The rowid and expressions have no name.
            guard let column = row.text(6) ?? (row.integer(5) == -1 ? "Z_PK" : nil) else {
                isPlain = false
                return
            }
            if row.text(8) != "BINARY" { isPlain = false }
            columns.append(Column(name: column, isDescending: row.integer(7) != 0))
        }

        func facts(_ layouts: [String: IndexLayout]) -> IndexFacts {
            let told = layouts[name].flatMap { $0.table == table ? $0 : nil }
            let condition = isPartial ? told?.condition : nil
            return IndexFacts(
                name: name, table: table, columns: columns, isUnique: isUnique, isOwn: isOwn,
                isPartial: isPartial, condition: condition,
                isWalkable: isPlain && !columns.isEmpty && isPartial == (condition != nil))
        }
    }

    /// Whether it is what the model demands.
    func fits(_ layout: IndexLayout) -> Bool {
        isUnique == layout.isUnique && isPartial == (layout.condition != nil)
            && columns.map(\.name) == layout.columns.map(\.name)
            && columns.map(\.isDescending) == layout.columns.map(\.isDescending)
    }
}
