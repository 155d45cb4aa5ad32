package import DurableFiles
package import SafeSQLite

/// Reads all pages of a database, and looks at what SQLite does not show of them.
///
/// - `isSound`: whether each page has one place, in a tree, among the free pages or in the pointer
///   map, and is built as SQLite builds it. Where all are, `quick_check` finds nothing wrong with
///   pages either, which takes five times as long.
/// - `faults`: records that do not fit the columns of their table or index. SQLite reads as many
///   fields of a record as there are columns, and neither `quick_check` nor a statement shows those
///   behind them. Such fields turn up when a column is added, and a change of a table fails where
///   entries of an index have them.
///
/// The places are those of SQLite's file format, sections 1.5 (free pages), 1.6 (b-tree pages),
/// 1.8 (pointer map) and 2.1 (records); the rules of a page are those of `checkTreePage`,
/// `btreeComputeFreeSpace` and `moveToChild` in SQLite's btree.c.
package struct PageWalk {
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

    let file: PageFile
    let overflow: PageWindow
    private let window: PageWindow
    /// As deep as SQLite reads (`BTCURSOR_MAX_DEPTH`).
    private static let deepest = 20

    /// - Parameters:
    ///   - path: a database whose content is all in its main file.
    ///   - files: opens it.
    /// - Throws: `StoreError` where it cannot be read or is no database.
    package init(_ path: FilePath, _ files: DurableFileSystem) throws(StoreError) {
        self.init(try PageFile(path, files))
    }

    /// - Parameter file: a database whose content is all in its main file.
    package init(_ file: PageFile) {
        self.file = file
        window = PageWindow(file)
        overflow = PageWindow(file)
    }

    /// Checks a whole file by its schema.
    ///
    /// - Parameters:
    ///   - schema: of the file.
    ///   - facts: of its tables and indexes.
    /// - Returns: as `isSound` of all trees; false also where SQLite's check would look at more.
    /// - Throws: as `isSound` of all trees.
    package func isSound(
        _ schema: StoreSchema, _ facts: SchemaFacts
    ) throws(StoreError) -> Bool {
        guard !facts.lacksIndex, !Self.needsSQLite(schema) else { return false }
        return try isSound(Self.trees(schema, facts))
    }

    /// Checks the whole file.
    ///
    /// - Parameter trees: all of the file, that of `sqlite_master` included.
    /// - Returns: whether every page has one place and is built as SQLite builds it, and every
    ///   record fits its columns. False also where pages are of a kind that is not known here:
    ///   SQLite has the last word then.
    /// - Throws: `StoreError` where pages cannot be read, and `cancelled`.
    /// - Complexity: reads each page once, up to the first that is not sound; one bit a page of
    ///   memory, and the children of one inner page for each level.
    package func isSound(_ trees: [Tree]) throws(StoreError) -> Bool {
        // SQLite counts by the file where the header is of another change.
        guard file.header.pageCount == file.pageCount else { return false }
        var census = try PageCensus(file)
        guard try census.takeFreePages(overflow) else { return false }
        var progress = Progress(
            left: file.pageCount, census: census, coverage: PageCoverage(file))
        for tree in trees {
            guard progress.isSound else { return false }
            _ = try walk(tree, &progress)
        }
        let highest = trees.lazy.map(\.rootPage).max() ?? 0
        return progress.isSound && progress.census?.isComplete(highestRoot: highest) == true
    }

    /// The records that do not fit, in a file whose pages SQLite has checked.
    ///
    /// - Parameter trees: tables and indexes of the file.
    /// - Returns: the trees with such records, with their number.
    /// - Throws: `StoreError` where pages cannot be read, and `cancelled`.
    /// - Complexity: reads each page of the trees once, and overflow pages only where a record
    ///   has so many columns that its header reaches there.
    package func faults(
        in trees: [Tree]
    ) throws(StoreError) -> [(tree: Tree, records: Int64)] {
        var progress = Progress(left: file.pageCount)
        var found: [(tree: Tree, records: Int64)] = []
        for tree in trees {
            let records = try walk(tree, &progress)
            if records > 0 { found.append((tree, records)) }
        }
        return found
    }

    /// Reads one tree; returns how many of its records do not fit.
    ///
    /// A walk for soundness ends where it finds anything.
    private func walk(
        _ tree: Tree, _ progress: inout Progress
    ) throws(StoreError) -> Int64 {
        var faults: Int64 = 0
        var leaves: Int?
        progress.waiting = [Waiting(page: tree.rootPage)]
        while let next = progress.waiting.popLast() {
            progress.left -= 1
            guard progress.left >= 0, next.page > 0, next.page <= file.pageCount else {
                progress.isSound = false
                return faults + 1
            }
            guard try progress.take(next) else { return faults }
            let page = try window.page(next.page)
            guard let shape = PageShape(page, isFirst: next.page == 1, file),
                !tree.isIndex || !shape.isTable
            else {
                progress.isSound = false
                return faults + 1
            }
            if progress.isStrict {
                // A table without rowids, whose tree is that of an index, is SQLite's to check.
                guard shape.isTable != tree.isIndex, next.level < Self.deepest,
                    shape.hasCells(isRoot: next.parent == 0, isFirst: next.page == 1),
                    !shape.isLeaf || next.level == leaves ?? next.level
                else {
                    progress.isSound = false
                    return faults
                }
                if shape.isLeaf { leaves = next.level }
            }
            guard let found = try cells(page, shape, next, tree, &progress) else {
                progress.isSound = false
                return faults + 1
            }
            faults += found
        }
        return faults
    }

    /// Reads the cells of one page, and notes its children.
    ///
    /// - Returns: how many of its records do not fit; nil where a cell lies outside the page, and
    ///   where a walk for soundness ends.
    private func cells(
        _ page: UnsafePointer<UInt8>, _ shape: PageShape, _ own: Waiting, _ tree: Tree,
        _ progress: inout Progress
    ) throws(StoreError) -> Int64? {
        var faults: Int64 = 0
        var keys = KeyOrder(own)
        let begin = progress.waiting.count
        progress.coverage?.begin(shape)
        for cell in 0..<shape.cells {
            if progress.isStrict, !progress.isSound { return nil }
            let start = Varint.short(page + shape.first + 2 * cell)
            guard start >= shape.first, start + 4 <= file.usable else { return nil }
            var place = start
            var child: Int64 = 0
            if !shape.isLeaf {
                child = Int64(Varint.word(page + place))
                place += 4
            }
            guard shape.isLeaf || !shape.isTable else {
                // The inner pages of a table have keys, and no records.
                let below = keys.take(Int64(Varint.read(page, &place)))
                progress.waiting.append(Waiting(child, below: own, keys: below ?? own.keys))
                if below == nil { progress.isSound = false }
                progress.cover(start, upTo: place)
                continue
            }
            if !shape.isLeaf { progress.waiting.append(Waiting(child, below: own, keys: own.keys)) }
            let payload = Varint.length(page, &place)
            if shape.isTable, keys.take(Int64(Varint.read(page, &place))) == nil {
                progress.isSound = false
            }
            guard payload > 0, payload <= Int(Int32.max), place < file.usable else {
                progress.isSound = false
                faults += 1
                continue
            }
            let local = file.local(payload, isTable: shape.isTable)
            try progress.checkPlace(
                page, start, (place, payload, local), of: own.page, overflow)
            if progress.isStrict, !progress.isSound { return nil }
            guard place + local <= file.usable, try fits(page, place, payload, local, tree) else {
                progress.isSound = false
                faults += 1
                continue
            }
        }
        if !shape.isLeaf {
            let below = keys.rest
            if below == nil { progress.isSound = false }
            progress.waiting.append(Waiting(shape.right, below: own, keys: below ?? own.keys))
            // The first child is read first: pages often lie in the order of their keys.
            progress.waiting[begin...].reverse()
        }
        if progress.coverage?.closes(page, shape) == false { progress.isSound = false }
        return faults
    }
}

extension PageWalk {
    /// A page that waits to be read.
    private struct Waiting {
        var page: Int64
        /// 0 for a root.
        var parent: Int64 = 0
        var level = 0
        /// The rowids that the page and those below it may have.
        var keys = Int64.min...Int64.max

        init(page: Int64) { self.page = page }

        init(_ page: Int64, below parent: Waiting, keys: ClosedRange<Int64>) {
            self.page = page
            self.parent = parent.page
            level = parent.level + 1
            self.keys = keys
        }
    }

    /// What is kept while a file is read.
    private struct Progress {
        /// Pages that trees may still have: a page has one place in one tree.
        var left: Int64
        /// Nil unless the pages themselves are checked.
        var census: PageCensus?
        var coverage: PageCoverage?
        var waiting: [Waiting] = []
        var isSound = true

        /// Whether the first finding ends the walk.
        var isStrict: Bool { census != nil }

        /// Gives a page of a tree its place; false ends the walk.
        mutating func take(_ next: Waiting) throws(StoreError) -> Bool {
            guard isStrict else { return true }
            let kind: PageCensus.Kind = next.parent == 0 ? .root : .tree
            guard isSound, try census?.take(next.page, as: kind, of: next.parent) == true else {
                isSound = false
                return false
            }
            return true
        }

        mutating func cover(_ start: Int, upTo end: Int) {
            if coverage?.add(start, upTo: end) == false { isSound = false }
        }

        /// Checks that a record has its place on its page, and pages of its own for the rest.
        mutating func checkPlace(
            _ page: UnsafePointer<UInt8>, _ start: Int,
            _ record: (place: Int, payload: Int, local: Int), of number: Int64,
            _ window: PageWindow
        ) throws(StoreError) {
            guard isStrict else { return }
            let end = record.place + record.local
            let isWhole = record.local == record.payload
            cover(start, upTo: isWhole ? end : end + 4)
            guard isSound, !isWhole else { return }
            isSound =
                try census?.takeChain(
                    from: Int64(Varint.word(page + end)), bytes: record.payload - record.local,
                    of: number, window) == true
        }
    }

    /// The keys of one page, which ascend.
    private struct KeyOrder {
        private let upper: Int64
        private var lower: Int64
        private var isSpent = false

        init(_ page: Waiting) {
            upper = page.keys.upperBound
            lower = page.keys.lowerBound
        }

        /// The keys from the one before to this one; nil where it is not above that, or higher
        /// than the page may have.
        mutating func take(_ key: Int64) -> ClosedRange<Int64>? {
            guard !isSpent, key >= lower, key <= upper else { return nil }
            defer {
                if key == .max { isSpent = true } else { lower = key + 1 }
            }
            return lower...key
        }

        /// The keys above the last one; nil where there are none.
        var rest: ClosedRange<Int64>? { !isSpent && lower <= upper ? lower...upper : nil }
    }
}
