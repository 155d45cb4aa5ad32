package import DurableFiles
package import SafeSQLite

/// Reads all pages of a database once, and looks at what SQLite does not show of them.
///
/// - Whether each page has one place, in a tree, among the free pages or in the pointer map, and
///   is built as SQLite builds it. Where all do, `quick_check` finds nothing either, which takes
///   five times as long. What this does not know counts as unsound: SQLite then has the last word.
/// - Whether each record fits the columns of its table or index. SQLite reads as many fields of a
///   record as there are columns, and neither `quick_check` nor a statement shows those behind
///   them. Such fields turn up when a column is added, and a change of a table fails where entries
///   of an index have them.
///
/// The places are those of SQLite's file format, sections 1.5 (free pages), 1.6 (b-tree pages),
/// 1.8 (pointer map) and 2.1 (records); the rules of a page are those of `checkTreePage` and
/// `btreeComputeFreeSpace` in SQLite's btree.c.
package struct PageWalk {
    /// One b-tree of a file.
    package struct Tree: Hashable, Sendable {
        package let name: String
        package let rootPage: Int64
        /// Columns that are stored; nil where they are not known: records are then held against
        /// their own headers alone.
        ///
        /// Records of a table may have fewer, those of an index may not.
        package let fields: Int?
        /// The place of the column that is another name of the rowid, nil where there is none.
        ///
        /// SQLite stores NULL there and never reads it (file format §2.3).
        package let keyField: Int?
        package let isIndex: Bool

        package init(
            name: String, rootPage: Int64, fields: Int?, keyField: Int? = nil, isIndex: Bool
        ) {
            self.name = name
            self.rootPage = rootPage
            self.fields = fields
            self.keyField = keyField
            self.isIndex = isIndex
        }
    }

    /// What was found.
    package struct Findings {
        /// Trees with records that do not fit their columns, with the number of such records.
        package var records: [(tree: Tree, count: Int64)] = []
        /// Whether every page of the file has one place and is built as SQLite builds it, and so
        /// is each record.
        ///
        /// False where pages are of a kind that is not known here.
        package var isSound = true
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
        file = try PageFile(path, files)
        window = PageWindow(file)
        overflow = PageWindow(file)
    }

    /// Reads the whole file.
    ///
    /// - Parameter trees: all of the file, that of `sqlite_master` included.
    /// - Returns: what was found.
    /// - Throws: `StoreError` where pages cannot be read, and `cancelled`.
    /// - Complexity: reads each page once; one bit a page of memory.
    package func run(_ trees: [Tree]) throws(StoreError) -> Findings {
        var progress = Progress(census: try PageCensus(file), coverage: PageCoverage(file))
        progress.left = file.pageCount
        progress.isSound = try progress.census.takeFreePages(overflow)
        var findings = Findings()
        for tree in trees {
            let count = try walk(tree, &progress)
            if count > 0 { findings.records.append((tree, count)) }
        }
        let highest = trees.lazy.map(\.rootPage).max() ?? 0
        findings.isSound = progress.isSound && progress.census.isComplete(highestRoot: highest)
        return findings
    }

    /// Reads one tree; returns how many of its records do not fit.
    private func walk(
        _ tree: Tree, _ progress: inout Progress
    ) throws(StoreError) -> Int64 {
        var faults: Int64 = 0
        // Leaves have one level, and pages are all of a table or all of an index.
        var kind: (level: Int?, isTable: Bool?) = (nil, nil)
        progress.waiting = [Waiting(page: tree.rootPage)]
        while let next = progress.waiting.popLast() {
            progress.left -= 1
            guard progress.left >= 0, next.page > 0, next.page <= file.pageCount else {
                progress.isSound = false
                return faults + 1
            }
            if progress.isSound {
                progress.isSound = try progress.census.take(
                    next.page, as: next.parent == 0 ? .root : .tree, of: next.parent)
            }
            let page = try window.page(next.page)
            guard let shape = PageShape(page, isFirst: next.page == 1, file),
                !tree.isIndex || !shape.isTable
            else {
                progress.isSound = false
                return faults + 1
            }
            if shape.isTable != kind.isTable ?? shape.isTable { progress.isSound = false }
            kind.isTable = shape.isTable
            if shape.isLeaf {
                if next.level != kind.level ?? next.level { progress.isSound = false }
                kind.level = next.level
            }
            if next.level >= Self.deepest { progress.isSound = false }
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
    /// - Returns: how many of its records do not fit; nil where a cell lies outside the page.
    private func cells(
        _ page: UnsafePointer<UInt8>, _ shape: PageShape, _ own: Waiting, _ tree: Tree,
        _ progress: inout Progress
    ) throws(StoreError) -> Int64? {
        var faults: Int64 = 0
        var keys = KeyOrder(own)
        let begin = progress.waiting.count
        progress.coverage.begin(shape)
        for cell in 0..<shape.cells {
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
                progress.waiting.append(
                    Waiting(child, below: own, keys: below ?? own.keys))
                if below == nil || !progress.coverage.add(start, upTo: place) {
                    progress.isSound = false
                }
                continue
            }
            if !shape.isLeaf { progress.waiting.append(Waiting(child, below: own, keys: own.keys)) }
            let payload = Varint.read(page, &place)
            if shape.isTable, keys.take(Int64(Varint.read(page, &place))) == nil {
                progress.isSound = false
            }
            // SQLite takes no more than 32 bits of it.
            guard payload > 0, payload <= Int(Int32.max), place < file.usable else {
                progress.isSound = false
                faults += 1
                continue
            }
            let local = file.local(payload, isTable: shape.isTable)
            try checkPlace(
                page, start, (place, payload, local), own.page, &progress)
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
        if progress.isSound { progress.isSound = progress.coverage.closes(page, shape) }
        return faults
    }

    /// Checks that a record has its place on its page, and pages of its own for the rest.
    private func checkPlace(
        _ page: UnsafePointer<UInt8>, _ start: Int,
        _ record: (place: Int, payload: Int, local: Int), _ number: Int64,
        _ progress: inout Progress
    ) throws(StoreError) {
        guard progress.isSound else { return }
        let end = record.place + record.local
        guard record.local < record.payload else {
            progress.isSound = progress.coverage.add(start, upTo: end)
            return
        }
        guard progress.coverage.add(start, upTo: end + 4) else {
            progress.isSound = false
            return
        }
        progress.isSound = try progress.census.takeChain(
            from: Int64(Varint.word(page + end)), bytes: record.payload - record.local,
            of: number, overflow)
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
        var census: PageCensus
        var coverage: PageCoverage
        var waiting: [Waiting] = []
        /// Pages that trees may still have.
        var left: Int64 = 0
        var isSound = true
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
