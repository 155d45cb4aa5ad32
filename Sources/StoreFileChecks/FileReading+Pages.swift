package import SafeSQLite
package import StorePages

extension FileReading {
    /// Reads rows of a table from its pages.
    ///
    /// - Parameters:
    ///   - table: its name.
    ///   - values: columns whose values are wanted; `rowid` for the rowid.
    ///   - tests: columns that are tested for null.
    ///   - range: of rowids.
    /// - Returns: nil for a table that SQLite must read: one that has no such columns, whose
    ///   columns have defaults or are computed, or in a file whose texts are not UTF-8.
    /// - Throws: `StoreError` where the file cannot be read.
    package func cursor(
        table: String, values: [String], tests: [String] = [], range: KeyRange = .all
    ) throws(StoreError) -> TableCursor? {
        guard let file = try pages(), let tree = try rowTree(table) else { return nil }
        let schema = try schema()
        let places = columnPlaces(table, tree.columns)
        let names = places.names
        let key = schema.rowidColumns[table]
        let place = { (name: String) -> Int? in
            guard let found = places[name] else {
                let isFree = !names.contains { $0.lowercased() == "rowid" }
                return name == "rowid" && isFree ? RecordShape.key : nil
            }
            return names[found] == key ? RecordShape.key : found
        }
        let found = (values.compactMap(place), tests.compactMap(place))
        guard found.0.count == values.count, found.1.count == tests.count else { return nil }
        let shape = RecordShape(
            fields: names.count, keyField: key.flatMap { names.firstIndex(of: $0) },
            reals: Set(tree.columns.indices.filter { tree.columns[$0].isReal }), values: found.0,
            tests: found.1)
        return TableCursor(file, rootPage: tree.root, shape: shape, range: range)
    }

    /// Reads the entries of an index from its pages: its columns, then the rowid.
    ///
    /// - Parameter index: one that can be walked.
    /// - Returns: nil for an index that SQLite must read, as of a table.
    /// - Throws: `StoreError` where the file cannot be read.
    package func cursor(index: IndexFacts) throws(StoreError) -> IndexCursor? {
        guard let file = try pages(), let tree = try rowTree(index.table),
            let root = try onlyObject(.index, index.name)?.rootPage, root > 0
        else { return nil }
        let places = columnPlaces(index.table, tree.columns)
        var reals: Set<Int> = []
        for (place, column) in index.columns.enumerated() {
            guard let known = places[column.name] else { return nil }
            if tree.columns[known].isReal { reals.insert(place) }
        }
        let fields = index.columns.count + 1
        let shape = RecordShape(
            fields: fields, keyField: nil, reals: reals, values: Array(0..<fields))
        return IndexCursor(file, rootPage: root, shape: shape)
    }

    /// The places of a table's columns, by name.
    private func columnPlaces(_ table: String, _ columns: [StoreSchema.Column]) -> NamePlaces {
        if let known = knownColumns[table] { return known }
        let places = NamePlaces(columns.map(\.name))
        knownColumns[table] = places
        return places
    }

    /// The columns and the root page of a table whose records hold its columns as they are
    /// declared; nil for any other.
    private func rowTree(
        _ table: String
    ) throws(StoreError) -> (columns: [StoreSchema.Column], root: Int64)? {
        let schema = try schema()
        guard let columns = schema.columns[table], let object = try onlyObject(.table, table),
            object.rootPage > 0, !columns.contains(where: { $0.isGenerated || $0.hasDefault }),
            // A table without rowids is an index.
            object.sql != nil, !schema.tablesWithoutRowids.contains(table)
        else { return nil }
        return (columns, object.rootPage)
    }

    /// An object by its name, byte by byte; nil where another name is the same to Swift, which
    /// would give one's columns to the other.
    private func onlyObject(
        _ kind: SchemaObject.Kind, _ name: String
    ) throws(StoreError) -> SchemaObject? {
        let objects = try schema().objects
        guard let place = try objectPlaces()[name], objects[place].kind == kind else { return nil }
        return objects[place]
    }
}

/// Names with their places, found byte by byte.
struct NamePlaces {
    let names: [String]
    /// −1 where several names are the same to Swift.
    private let places: [String: Int]

    init(_ names: [String]) {
        self.names = names
        places = Dictionary(
            names.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { _, _ in -1 })
    }

    /// The place of a name; nil where there is none, or another one is the same to Swift.
    subscript(name: String) -> Int? {
        guard let place = places[name], place >= 0, names[place].isExactly(name) else {
            return nil
        }
        return place
    }
}
