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
        let key = PageShapes.Key(kind: .table, name: table, values: values, tests: tests)
        guard let file = try pages(), let root = try rootPage(.table, table),
            let shape = try shapes().shape(
                key, make: { () throws(StoreError) in try shape(table, values, tests) })
        else { return nil }
        return TableCursor(file, rootPage: root, shape: shape, range: range)
    }

    private func shape(
        _ table: String, _ values: [String], _ tests: [String]
    ) throws(StoreError) -> RecordShape? {
        guard let columns = try rowColumns(table) else { return nil }
        let places = NamePlaces(columns.map(\.name))
        let names = places.names
        let key = try schema().rowidColumns[table]
        let place = { (name: String) -> Int? in
            guard let found = places[name] else {
                let isFree = !names.contains { $0.lowercased() == "rowid" }
                return name == "rowid" && isFree ? RecordShape.key : nil
            }
            return names[found] == key ? RecordShape.key : found
        }
        let found = (values.compactMap(place), tests.compactMap(place))
        guard found.0.count == values.count, found.1.count == tests.count else { return nil }
        return RecordShape(
            fields: names.count, keyField: key.flatMap { names.firstIndex(of: $0) },
            reals: Set(columns.indices.filter { columns[$0].isReal }), values: found.0,
            tests: found.1)
    }

    /// Reads the entries of an index from its pages: its columns, then the rowid.
    ///
    /// - Parameter index: one that can be walked.
    /// - Returns: nil for an index that SQLite must read, as of a table.
    /// - Throws: `StoreError` where the file cannot be read.
    package func cursor(index: IndexFacts) throws(StoreError) -> IndexCursor? {
        let key = PageShapes.Key(
            kind: .index, name: index.name, values: index.columns.map(\.name), tests: [])
        guard let file = try pages(), try rootPage(.table, index.table) != nil,
            let root = try rootPage(.index, index.name),
            let shape = try shapes().shape(
                key, make: { () throws(StoreError) in try shape(index) })
        else { return nil }
        return IndexCursor(file, rootPage: root, shape: shape)
    }

    private func shape(_ index: IndexFacts) throws(StoreError) -> RecordShape? {
        guard let columns = try rowColumns(index.table) else { return nil }
        let places = NamePlaces(columns.map(\.name))
        var reals: Set<Int> = []
        for (place, column) in index.columns.enumerated() {
            guard let known = places[column.name] else { return nil }
            if columns[known].isReal { reals.insert(place) }
        }
        let fields = index.columns.count + 1
        return RecordShape(
            fields: fields, keyField: nil, reals: reals, values: Array(0..<fields))
    }

    /// The columns of a table whose records hold them as they are declared; nil for any other.
    private func rowColumns(_ table: String) throws(StoreError) -> [StoreSchema.Column]? {
        let schema = try schema()
        guard let columns = schema.columns[table], try object(.table, table)?.sql != nil,
            !columns.contains(where: { $0.isGenerated || $0.hasDefault }),
            // A table without rowids is an index.
            !schema.tablesWithoutRowids.contains(table)
        else { return nil }
        return columns
    }

    /// The root page of an object; nil where it has none.
    private func rootPage(
        _ kind: SchemaObject.Kind, _ name: String
    ) throws(StoreError) -> Int64? {
        guard let root = try object(kind, name)?.rootPage, root > 0 else { return nil }
        return root
    }

    /// An object by its name, byte by byte; nil where another name is the same to Swift, which
    /// would give one's columns to the other.
    private func object(
        _ kind: SchemaObject.Kind, _ name: String
    ) throws(StoreError) -> SchemaObject? {
        let objects = try schema().objects
        guard let place = try shapes().places[name], objects[place].kind == kind else {
            return nil
        }
        return objects[place]
    }
}

/// Names with their places, found byte by byte.
struct NamePlaces: Sendable {
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
