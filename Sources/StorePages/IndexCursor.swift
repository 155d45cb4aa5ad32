package import SafeSQLite

/// The entries of an index in its order, read from its pages.
///
/// Used by one thread.
package final class IndexCursor {
    /// What was wanted of the entry that was read last, in the order of the shape.
    package let cells: UnsafeMutablePointer<PageCell>
    private let file: PageFile
    private let root: Int64
    private let fields: Int
    private let rowidCell: Int
    private let decoder: RecordDecoder
    private var path: TreePath
    private var leaf: UnsafePointer<UInt8>?
    private var leafNumber: Int64 = 0
    private var first = 0
    private var count = 0
    private var next = 0
    private var hasBegun = false

    /// Nil for columns that the index has not, or that are wanted twice, and where the last one is
    /// not wanted.
    ///
    /// - Parameters:
    ///   - file: of the index.
    ///   - rootPage: of the index.
    ///   - shape: of its entries, the rowid as their last column.
    package init?(_ file: PageFile, rootPage: Int64, shape: RecordShape) {
        guard let decoder = RecordDecoder(shape, file),
            let rowid = shape.values.firstIndex(of: shape.fields - 1)
        else { return nil }
        rowidCell = rowid
        self.file = file
        self.decoder = decoder
        fields = shape.fields
        root = rootPage
        cells = decoder.cells
        path = TreePath(file)
    }

    deinit { path.deallocate() }

    /// Reads the next entry.
    ///
    /// - Returns: whether there is one.
    /// - Throws: `StoreError.notAStore` for a damaged page or an entry with too few columns,
    ///   `inputOutput` and `cancelled`.
    package func step() throws(StoreError) -> Bool {
        if let leaf, next < count {
            let place = Varint.short(leaf + first + 2 * next)
            next += 1
            guard place >= first + 2 * count, place + 4 <= file.usable else {
                throw file.damaged(leafNumber)
            }
            try entry(leaf, place, leafNumber)
            return true
        }
        leaf = nil
        guard hasBegun else {
            hasBegun = true
            return try descend(root)
        }
        // The entry of an inner page comes behind its child.
        while !path.isEmpty, path.top.next > path.top.cells { path.pop() }
        guard !path.isEmpty else { return false }
        let level = path.top
        let place = try path.cell(level.next - 1)
        guard let child = try path.nextChild() else { return false }
        // The entry is read last: pages below take no window that it needs.
        let (bytes, number) = (UnsafePointer(level.bytes), level.number)
        try prepare(child)
        try entry(bytes, place + 4, number)
        return true
    }

    /// Goes down to the first leaf below a page, and reads its first entry.
    private func descend(_ start: Int64) throws(StoreError) -> Bool {
        try prepare(start)
        guard count > 0 else {
            // Only the index of an empty table has a leaf without entries.
            guard path.isEmpty else { throw file.damaged(leafNumber) }
            return false
        }
        return try step()
    }

    private func prepare(_ start: Int64) throws(StoreError) {
        var number = start
        while true {
            let page = try path.page(number)
            let begin = number == 1 ? 100 : 0
            let cells = Varint.short(page + begin + 3)
            let head = begin + (page[begin] == 10 ? 8 : 12)
            guard page[begin] == 10 || page[begin] == 2, head + 2 * cells <= file.usable else {
                throw file.damaged(number)
            }
            if page[begin] == 10 {
                guard cells > 0 || path.isEmpty else { throw file.damaged(number) }
                (leaf, leafNumber, first, count, next) = (page, number, head, cells, 0)
                return
            }
            try path.push(page, number: number, first: head, cells: cells)
            guard cells > 0, let child = try path.nextChild() else { throw file.damaged(number) }
            number = child
        }
    }

    private func entry(
        _ page: UnsafePointer<UInt8>, _ start: Int, _ number: Int64
    ) throws(StoreError) {
        var place = start
        let size = Varint.length(page, &place)
        guard size > 0, size <= Int(Int32.max) else { throw file.damaged(number) }
        let local = file.local(size, isTable: false)
        guard place + local + (local < size ? 4 : 0) <= file.usable,
            try decoder.record(page, place, count: size, local: local) == fields,
            // SQLite takes nothing but an integer for a rowid (`sqlite3VdbeIdxRowid`).
            cells[rowidCell].storageClass == 1
        else { throw file.damaged(number) }
    }
}
