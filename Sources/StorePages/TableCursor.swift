package import SafeSQLite

/// The rows of a table by ascending rowids, read from its pages.
///
/// Used by one thread.
package final class TableCursor {
    /// What was wanted of the row that was read last: values, then tests, in the order of the
    /// shape.
    package let cells: UnsafeMutablePointer<PageCell>
    private let file: PageFile
    private let root: Int64
    private let decoder: RecordDecoder
    private let range: KeyRange
    private var path: TreePath
    private var leaf: UnsafePointer<UInt8>?
    private var leafNumber: Int64 = 0
    private var first = 0
    private var count = 0
    private var next = 0
    private var hasBegun = false
    private var last: Int64?

    /// Nil for columns that the table has not, or that are wanted twice.
    ///
    /// - Parameters:
    ///   - file: of the table.
    ///   - rootPage: of the table.
    ///   - shape: of its records.
    ///   - range: of rowids; others are left out.
    package init?(
        _ file: PageFile, rootPage: Int64, shape: RecordShape, range: KeyRange = .all
    ) {
        guard let decoder = RecordDecoder(shape, file) else { return nil }
        self.file = file
        self.decoder = decoder
        self.range = range
        root = rootPage
        cells = decoder.cells
        path = TreePath(file)
    }

    deinit { path.deallocate() }

    /// Reads the next row.
    ///
    /// - Returns: whether there is one.
    /// - Throws: `StoreError.notAStore` for a damaged page, `inputOutput` and `cancelled`.
    /// - Complexity: O(columns up to the last that is wanted, bytes of values in overflow pages).
    package func step() throws(StoreError) -> Bool {
        while true {
            guard let leaf, next < count else {
                guard try nextLeaf() else { return false }
                continue
            }
            let start = first + 2 * next
            next += 1
            var place = Varint.short(leaf + start)
            guard place >= first + 2 * count, place + 4 <= file.usable else { throw damaged() }
            let size = Varint.length(leaf, &place)
            let rowid = Int64(Varint.read(leaf, &place))
            guard size > 0, size <= Int(Int32.max) else { throw damaged() }
            let local = file.local(size, isTable: true)
            guard place + local + (local < size ? 4 : 0) <= file.usable else { throw damaged() }
            if let last, rowid <= last { throw damaged() }
            last = rowid
            if let lower = range.lower, rowid < lower { continue }
            if let upper = range.upper, rowid > upper {
                next = count
                while !path.isEmpty { path.pop() }
                return false
            }
            guard
                try decoder.row(leaf, place, count: size, local: local, rowid: rowid)
            else { throw damaged() }
            return true
        }
    }

    private func damaged() -> StoreError { file.damaged(leafNumber) }

    /// Goes to the next leaf; false behind the last one.
    private func nextLeaf() throws(StoreError) -> Bool {
        leaf = nil
        var number: Int64
        if hasBegun {
            while !path.isEmpty, path.top.next > path.top.cells { path.pop() }
            guard !path.isEmpty, let child = try path.nextChild() else { return false }
            number = child
        } else {
            hasBegun = true
            number = root
        }
        while true {
            let page = try path.page(number)
            let start = number == 1 ? 100 : 0
            let cells = Varint.short(page + start + 3)
            let head = start + (page[start] == 13 ? 8 : 12)
            guard page[start] == 13 || page[start] == 5, head + 2 * cells <= file.usable else {
                throw file.damaged(number)
            }
            if page[start] == 13 {
                (leaf, leafNumber, first, count, next) = (page, number, head, cells, 0)
                return true
            }
            try path.push(page, number: number, first: head, cells: cells)
            try skip()
            guard let child = try path.nextChild() else { throw file.damaged(number) }
            number = child
        }
    }

    /// Leaves out the children whose keys lie below the range.
    private func skip() throws(StoreError) {
        guard let lower = range.lower, last == nil else { return }
        while path.top.next < path.top.cells {
            var place = try path.cell(path.top.next) + 4
            let key = Int64(Varint.read(path.top.bytes, &place))
            guard key < lower else { return }
            path.top.next += 1
        }
    }
}
