import CoreDataStore

/// An index as the file describes it.
struct IndexFacts: Hashable {
    struct Column: Hashable {
        let name: String
        let isDescending: Bool
    }

    let name: String
    let table: String
    let columns: [Column]
    let isUnique: Bool
    /// Whether a `CREATE INDEX` made it, and not a constraint.
    let isOwn: Bool
    let isPartial: Bool
    /// The condition of a partial index, where the model tells it.
    let condition: String?
    /// Whether it can be walked: columns only, BINARY order, a condition that is known.
    let isWalkable: Bool

    /// What its sum is called.
    var label: String { "index \(name)" }

    /// Reads the indexes of a table.
    ///
    /// `layout`: tells the conditions of partial indexes.
    static func read(
        table: String, layout: StoreLayout, connection: Connection
    ) throws(StoreError) -> [IndexFacts] {
        var found: [IndexFacts] = []
        let list = try connection.prepare("PRAGMA index_list(\(SQLText.quoted(table)))")
        while try list.step() {
            guard found.count < StoreSchema.objectLimit, let name = list.text(1) else { break }
            found.append(
                try read(
                    name, table: table, isUnique: list.integer(2) != 0,
                    isOwn: list.text(3) == "c", isPartial: list.integer(4) != 0, layout: layout,
                    connection: connection))
        }
        return found.sorted { $0.name < $1.name }
    }

    private static func read(
        _ name: String, table: String, isUnique: Bool, isOwn: Bool, isPartial: Bool,
        layout: StoreLayout, connection: Connection
    ) throws(StoreError) -> IndexFacts {
        var columns: [Column] = []
        var isPlain = true
        let info = try connection.prepare("PRAGMA index_xinfo(\(SQLText.quoted(name)))")
        while try info.step() {
            guard info.integer(5) != 0 else { continue }
            // The rowid and expressions have no name.
            guard let column = info.text(2) ?? (info.integer(1) == -1 ? "Z_PK" : nil) else {
                isPlain = false
                continue
            }
            if info.text(4) != "BINARY" { isPlain = false }
            columns.append(Column(name: column, isDescending: info.integer(3) != 0))
        }
        let told = layout.indexes.first { $0.name == name && $0.table == table }
        let condition = isPartial ? told?.condition : nil
        return IndexFacts(
            name: name, table: table, columns: columns, isUnique: isUnique, isOwn: isOwn,
            isPartial: isPartial, condition: condition,
            isWalkable: isPlain && !columns.isEmpty && isPartial == (condition != nil))
    }

    /// Whether it is what the model demands.
    func fits(_ layout: IndexLayout) -> Bool {
        isUnique == layout.isUnique && isPartial == (layout.condition != nil)
            && columns.map(\.name) == layout.columns.map(\.name)
            && columns.map(\.isDescending) == layout.columns.map(\.isDescending)
    }
}
