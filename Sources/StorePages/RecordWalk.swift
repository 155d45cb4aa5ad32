package import DurableFiles
package import SafeSQLite

/// Reads the pages of a database and compares each record with the columns of its table or index.
///
/// SQLite reads as many fields of a record as there are columns, and neither `quick_check` nor a
/// statement shows those behind them. Such fields turn up when a column is added, and a change of
/// a table fails where entries of an index have them. The places are those of SQLite's file
/// format, sections 1.6 (b-tree pages) and 2.1 (records).
package struct RecordWalk {
    /// One b-tree of a file.
    package struct Tree: Hashable, Sendable {
        package let name: String
        package let rootPage: Int64
        /// Columns that are stored.
        ///
        /// Records of a table may have fewer, those of an index may not.
        package let fields: Int
        /// The place of the column that is another name of the rowid, nil where there is none.
        ///
        /// SQLite stores NULL there and never reads it (file format §2.3).
        package let keyField: Int?
        package let isIndex: Bool

        package init(
            name: String, rootPage: Int64, fields: Int, keyField: Int? = nil, isIndex: Bool
        ) {
            self.name = name
            self.rootPage = rootPage
            self.fields = fields
            self.keyField = keyField
            self.isIndex = isIndex
        }
    }

    private let file: PageFile
    private let window: PageWindow
    private let overflow: PageWindow

    /// - Parameters:
    ///   - path: a database whose content is all in its main file, and whose pages SQLite has
    ///     checked.
    ///   - files: opens it.
    /// - Throws: `StoreError` where it cannot be read or is no database.
    package init(_ path: FilePath, _ files: DurableFileSystem) throws(StoreError) {
        file = try PageFile(path, files)
        window = PageWindow(file)
        overflow = PageWindow(file)
    }

    /// Reads all records of some trees.
    ///
    /// - Parameter trees: tables and indexes of the file.
    /// - Returns: the trees with a record that does not fit, with the number of such records.
    /// - Throws: `StoreError` where pages cannot be read, and `cancelled`.
    /// - Complexity: reads each page of the trees once, and overflow pages only where a record
    ///   has so many columns that its header reaches there.
    package func faults(
        in trees: [Tree]
    ) throws(StoreError) -> [(tree: Tree, records: Int64)] {
        var found: [(tree: Tree, records: Int64)] = []
        // A page has one place in one tree.
        var left = file.pageCount
        for tree in trees {
            let records = try faults(in: tree, &left)
            if records > 0 { found.append((tree, records)) }
        }
        return found
    }

    private func faults(in tree: Tree, _ left: inout Int64) throws(StoreError) -> Int64 {
        var faults: Int64 = 0
        var waiting = [tree.rootPage]
        while let number = waiting.popLast() {
            left -= 1
            guard left >= 0, number > 0, number <= file.pageCount else { return faults + 1 }
            let page = try window.page(number)
            let start = number == 1 ? 100 : 0
            let kind = page[start]
            let isLeaf = kind == 13 || kind == 10
            guard isLeaf || kind == 5 || kind == 2, !tree.isIndex || kind == 10 || kind == 2 else {
                return faults + 1
            }
            let first = start + (isLeaf ? 8 : 12)
            let cells = Varint.short(page + start + 3)
            guard first + 2 * cells <= file.usable else { return faults + 1 }
            if !isLeaf { waiting.append(Int64(Varint.word(page + start + 8))) }
            for cell in 0..<cells {
                var place = Varint.short(page + first + 2 * cell)
                guard place >= first, place + 4 <= file.usable else { return faults + 1 }
                if !isLeaf {
                    waiting.append(Int64(Varint.word(page + place)))
                    place += 4
                    // The inner pages of a table have no records.
                    if kind == 5 { continue }
                }
                if try !isSound(page, at: place, tree, hasRowid: kind == 13) { faults += 1 }
            }
        }
        return faults
    }

    /// Whether a record fits its columns.
    private func isSound(
        _ page: UnsafePointer<UInt8>, at start: Int, _ tree: Tree, hasRowid: Bool
    ) throws(StoreError) -> Bool {
        var place = start
        let payload = Varint.read(page, &place)
        if hasRowid { _ = Varint.read(page, &place) }
        // SQLite takes no more than 32 bits of it, and its check of the pages goes by those.
        guard payload > 0, payload <= Int(Int32.max), place < file.usable else { return false }
        let local = file.local(payload, isTable: hasRowid)
        guard place + local <= file.usable else { return false }
        let begin = place
        let header = Varint.read(page, &place)
        // Each field has a number of at most nine bytes.
        guard header >= place - begin, header <= payload, header <= 9 * (tree.fields + 2) else {
            return false
        }
        if header <= local {
            return isSound(page, place..<(begin + header), payload - header, tree)
        }
        guard
            let bytes = try longHeader(page, header, from: begin, local: local)
        else { return false }
        return bytes.withUnsafeBufferPointer {
            guard let start = $0.baseAddress else { return false }
            return isSound(start, (place - begin)..<header, payload - header, tree)
        }
    }

    /// Whether serial types name the right number of fields, and as many bytes as there are.
    private func isSound(
        _ bytes: UnsafePointer<UInt8>, _ range: Range<Int>, _ content: Int, _ tree: Tree
    ) -> Bool {
        var (place, count, sum) = (range.lowerBound, 0, 0)
        while place < range.upperBound {
            let type = Varint.read(bytes, &place)
            switch type {
            case 0, 8, 9: break
            case 1...4: sum += type
            case 5: sum += 6
            case 6, 7: sum += 8
            default:
                guard type >= 12, (type - 12) / 2 <= content - sum else { return false }
                sum += (type - 12) / 2
            }
            // Bytes there would be in the file, and no statement would show them.
            if count == tree.keyField, type != 0 { return false }
            count += 1
            guard sum <= content, count <= tree.fields else { return false }
        }
        guard place == range.upperBound, sum == content else { return false }
        return !tree.isIndex || count == tree.fields
    }

    /// The header of a record that reaches into overflow pages; nil where it is none.
    private func longHeader(
        _ page: UnsafePointer<UInt8>, _ count: Int, from start: Int, local: Int
    ) throws(StoreError) -> [UInt8]? {
        var bytes = Array(UnsafeBufferPointer(start: page + start, count: local))
        var next = Int64(Varint.word(page + start + local))
        while bytes.count < count {
            guard next > 0, next <= file.pageCount else { return nil }
            let more = try overflow.page(next)
            next = Int64(Varint.word(more))
            bytes += UnsafeBufferPointer(start: more + 4, count: file.usable - 4)
        }
        // Numbers at the end are read up to nine bytes.
        return Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: PageWindow.padding)
    }
}

extension RecordWalk {
    /// The columns of a table or index that its records hold.
    package struct StoredColumns: Hashable, Sendable {
        package let count: Int
        /// The place of the column that is another name of the rowid.
        package let keyField: Int?
    }

    /// The columns that the records of each table and index of a file hold, by name.
    ///
    /// - Parameter connection: to the file.
    /// - Returns: the columns.
    /// - Throws: `StoreError` with SQLite's message.
    package static func columns(
        _ connection: Connection
    ) throws(StoreError) -> [String: StoredColumns] {
        // 2 are generated columns that are not stored. A table without rowids is an index, which
        // has a column twice where its key does, by different collations. A primary key without
        // an index is another name of the rowid.
        let list = try connection.prepare(
            "SELECT name, max((SELECT count(*) FROM pragma_index_xinfo(m.name)), CASE type "
                + "WHEN 'table' THEN (SELECT count(*) FROM pragma_table_xinfo(m.name) "
                + "WHERE hidden <> 2) ELSE 0 END), CASE WHEN type = 'table' AND NOT EXISTS "
                + "(SELECT 1 FROM pragma_index_list(m.name) WHERE origin = 'pk') THEN "
                + "(SELECT (SELECT count(*) FROM pragma_table_xinfo(m.name) b "
                + "WHERE b.hidden <> 2 AND b.cid < k.cid) FROM pragma_table_xinfo(m.name) k "
                + "WHERE k.pk = 1) END "
                + "FROM sqlite_master m WHERE type IN ('table', 'index') AND rootpage > 0")
        var columns: [String: StoredColumns] = [:]
        while try list.step() {
            guard let name = list.text(0) else { continue }
            columns[name] = StoredColumns(
                count: Int(list.integer(1)), keyField: list.isNull(2) ? nil : Int(list.integer(2)))
        }
        return columns
    }

    /// The trees of a file.
    ///
    /// - Parameters:
    ///   - schema: of the file.
    ///   - columns: of each table and index.
    /// - Returns: those of `sqlite_master`, all tables and all indexes.
    package static func trees(
        _ schema: StoreSchema, _ columns: [String: StoredColumns]
    ) -> [Tree] {
        var trees = [Tree(name: "sqlite_master", rootPage: 1, fields: 5, isIndex: false)]
        for object in schema.objects where object.rootPage > 0 {
            switch object.kind {
            case .table, .index:
                let stored = columns[object.name]
                trees.append(
                    Tree(
                        name: object.name, rootPage: object.rootPage,
                        fields: stored?.count ?? 0, keyField: stored?.keyField,
                        isIndex: object.kind == .index))
            case .view, .trigger: break
            }
        }
        return trees
    }
}
