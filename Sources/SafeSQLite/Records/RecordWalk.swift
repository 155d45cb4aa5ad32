package import DurableFiles

/// Reads the pages of a database and compares each record with the columns of its table or index.
///
/// SQLite reads as many fields of a record as there are columns, and neither `quick_check` nor a
/// statement shows those behind them. Such fields turn up when a column is added, and a change of
/// a table fails where entries of an index have them. The places are those of SQLite's file
/// format, sections 1.6 (b-tree pages) and 2.1 (records).
package struct RecordWalk: ~Copyable {
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

    private let file: OpenFile
    private let path: FilePath
    private let pageSize: Int
    /// Bytes of a page that SQLite uses.
    private let usable: Int
    private let pageCount: Int64
    private let stop = StatementStop.current
    /// One page, with bytes behind it, so that a number at its end is never read beyond them.
    private let buffer: Buffer
    private var page: UnsafeMutableRawBufferPointer { buffer.bytes }
    /// Pages that were read together: those of a tree often lie one after the other.
    private let window: Buffer

    private final class Buffer {
        let bytes: UnsafeMutableRawBufferPointer
        /// The pages that lie in it.
        var pages: Range<Int64> = 0..<0
        /// The page that was wanted last.
        var last: Int64 = 0

        init(_ count: Int) {
            bytes = .allocate(byteCount: count, alignment: 8)
            bytes.initializeMemory(as: UInt8.self, repeating: 0)
        }

        deinit { bytes.deallocate() }
    }

    private static let padding = 64
    private static let windowBytes = 64 << 10

    /// - Parameters:
    ///   - path: a database whose content is all in its main file, and whose pages SQLite has
    ///     checked.
    ///   - files: opens it.
    /// - Throws: `StoreError` where it cannot be read or is no database.
    package init(_ path: FilePath, _ files: DurableFileSystem) throws(StoreError) {
        let opened = try Self.reading(path) { () throws(DurableFileError) in
            try files.openForReading(path)
        }
        let start = try Self.reading(path) { () throws(DurableFileError) in
            try opened.read(count: DatabaseHeader.size, at: 0)
        }
        let size = try Self.reading(path) { () throws(DurableFileError) in
            try opened.status().size
        }
        let header: DatabaseHeader
        switch DatabaseHeader.read(start) {
        case .failure(let fault): throw .notAStore(path: path.description, reason: fault.reason)
        case .success(let found): header = found
        }
        file = opened
        self.path = path
        pageSize = header.pageSize
        // SQLite refuses less (file format §1.3.4).
        usable = max(480, header.pageSize - header.reservedBytes)
        pageCount = size / Int64(pageSize)
        buffer = Buffer(pageSize + Self.padding)
        window = Buffer(max(pageSize, Self.windowBytes))
    }

    private static func reading<Result: ~Copyable>(
        _ path: FilePath, _ body: () throws(DurableFileError) -> Result
    ) throws(StoreError) -> Result {
        do throws(DurableFileError) {
            return try body()
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
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
        var left = pageCount
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
            guard left >= 0, try read(number) else { return faults + 1 }
            let start = number == 1 ? 100 : 0
            let kind = page[start]
            let isLeaf = kind == 13 || kind == 10
            guard isLeaf || kind == 5 || kind == 2, !tree.isIndex || kind == 10 || kind == 2 else {
                return faults + 1
            }
            let first = start + (isLeaf ? 8 : 12)
            let cells = short(start + 3)
            guard first + 2 * cells <= usable else { return faults + 1 }
            if !isLeaf { waiting.append(word(start + 8)) }
            for cell in 0..<cells {
                var place = short(first + 2 * cell)
                guard place >= first, place + 4 <= usable else { return faults + 1 }
                if !isLeaf {
                    waiting.append(word(place))
                    place += 4
                    // The inner pages of a table have no records.
                    if kind == 5 { continue }
                }
                if try !isSound(at: place, tree, hasRowid: kind == 13) { faults += 1 }
            }
        }
        return faults
    }

    /// Whether a record fits its columns.
    private func isSound(
        at start: Int, _ tree: Tree, hasRowid: Bool
    ) throws(StoreError) -> Bool {
        var place = start
        let payload = number(&place)
        if hasRowid { _ = number(&place) }
        // SQLite takes no more than 32 bits of it, and its check of the pages goes by those.
        guard payload > 0, payload <= Int(Int32.max), place < usable else { return false }
        let local = local(payload, isTable: hasRowid)
        guard place + local <= usable else { return false }
        let begin = place
        let header = number(&place)
        // Each field has a number of at most nine bytes.
        guard header >= place - begin, header <= payload, header <= 9 * (tree.fields + 2) else {
            return false
        }
        if header <= local {
            return isSound(
                UnsafeRawBufferPointer(page), place..<(begin + header), payload - header, tree)
        }
        guard let bytes = try longHeader(header, from: begin, local: local) else { return false }
        return bytes.withUnsafeBytes {
            isSound($0, (place - begin)..<header, payload - header, tree)
        }
    }

    /// Whether serial types name the right number of fields, and as many bytes as there are.
    private func isSound(
        _ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ content: Int, _ tree: Tree
    ) -> Bool {
        var (place, count, sum) = (range.lowerBound, 0, 0)
        while place < range.upperBound {
            let type = Self.number(bytes, &place)
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

    /// How many bytes of a payload are on its own page (file format §1.6).
    private func local(_ payload: Int, isTable: Bool) -> Int {
        let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        if payload <= most { return payload }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (payload - least) % (usable - 4)
        return rest <= most ? rest : least
    }

    /// The header of a record that reaches into overflow pages; nil where it is none.
    private func longHeader(
        _ count: Int, from start: Int, local: Int
    ) throws(StoreError) -> [UInt8]? {
        var bytes = Array(page[start..<(start + local)])
        var next = word(start + local)
        if stop?.isSet == true { throw .cancelled(path.description) }
        while bytes.count < count {
            guard next > 0, next <= pageCount else { return nil }
            let more = try contents(count: usable, at: (next - 1) * Int64(pageSize))
            guard more.count == usable else { return nil }
            next = more[0..<4].reduce(0) { $0 << 8 | Int64($1) }
            bytes += more[4...]
        }
        // Numbers at the end are read up to nine bytes.
        return Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: Self.padding)
    }

    // MARK: - Bytes

    /// Reads a page into the buffer; false for one that the file has not.
    private func read(_ number: Int64) throws(StoreError) -> Bool {
        guard number > 0, number <= pageCount else { return false }
        if number % 256 == 0, stop?.isSet == true { throw .cancelled(path.description) }
        if !window.pages.contains(number) { try readPages(around: number) }
        window.last = number
        guard window.pages.contains(number) else { return false }
        let start = Int(number - window.pages.lowerBound) * pageSize
        page.copyMemory(
            from: UnsafeRawBufferPointer(rebasing: window.bytes[start..<start + pageSize]))
        return true
    }

    /// Reads a page, with its neighbours where pages are wanted one after the other: upwards, or
    /// downwards, as the children of an inner page are.
    private func readPages(around number: Int64) throws(StoreError) {
        let most = Int64(window.bytes.count / pageSize)
        var pages = number..<number + 1
        let step = number - window.last
        if step > 0, step <= most { pages = number..<number + most }
        if step < 0, -step <= most { pages = max(1, number + 1 - most)..<number + 1 }
        let space = window.bytes[0..<pages.count * pageSize]
        let count: Int
        do throws(DurableFileError) {
            count = try file.read(
                into: UnsafeMutableRawBufferPointer(rebasing: space),
                at: (pages.lowerBound - 1) * Int64(pageSize))
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
        window.pages = pages.lowerBound..<pages.lowerBound + Int64(count / pageSize)
    }

    private func contents(count: Int, at offset: Int64) throws(StoreError) -> [UInt8] {
        do throws(DurableFileError) {
            return try file.read(count: count, at: offset)
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }

    private func short(_ place: Int) -> Int { Int(page[place]) << 8 | Int(page[place + 1]) }

    private func word(_ place: Int) -> Int64 {
        Int64(short(place)) << 16 | Int64(short(place + 2))
    }

    private func number(_ place: inout Int) -> Int {
        Self.number(UnsafeRawBufferPointer(page), &place)
    }

    /// A number of one to nine bytes (file format §1.6, "varint"), negative beyond `Int`.
    ///
    /// There are nine bytes behind `place`.
    private static func number(_ bytes: UnsafeRawBufferPointer, _ place: inout Int) -> Int {
        var value = 0
        for _ in 0..<8 {
            let byte = bytes[place]
            place += 1
            value = value << 7 | Int(byte & 0x7F)
            if byte < 0x80 { return value }
        }
        value = value << 8 | Int(bytes[place])
        place += 1
        return value
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
