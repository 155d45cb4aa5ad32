/// How a b-tree page is built (file format §1.6).
struct PageShape {
    let isLeaf: Bool
    let isTable: Bool
    /// Where the places of its cells stand.
    let first: Int
    let cells: Int
    /// The rightmost child of an inner page.
    let right: Int64
    /// Where the cells begin.
    let content: Int
    /// The first free block; 0 without any.
    let freeBlock: Int
    /// Free bytes outside of free blocks.
    let fragments: Int

    /// Nil for a page of another kind, or without room for the places of its cells.
    init?(_ page: UnsafePointer<UInt8>, isFirst: Bool, _ file: PageFile) {
        let start = isFirst ? 100 : 0
        let kind = page[start]
        isLeaf = kind == 13 || kind == 10
        isTable = kind == 13 || kind == 5
        guard isLeaf || kind == 5 || kind == 2 else { return nil }
        first = start + (isLeaf ? 8 : 12)
        freeBlock = Varint.short(page + start + 1)
        cells = Varint.short(page + start + 3)
        let content = Varint.short(page + start + 5)
        self.content = content == 0 ? 65536 : content
        fragments = Int(page[start + 7])
        right = isLeaf ? 0 : Int64(Varint.word(page + start + 8))
        guard first + 2 * cells <= file.usable else { return nil }
    }

    /// Whether it has as many cells as SQLite demands: a root may have none, but an inner one only
    /// on the first page.
    func hasCells(isRoot: Bool, isFirst: Bool) -> Bool {
        cells > 0 || (isRoot && (isLeaf || isFirst))
    }
}

/// Which bytes of a page have a use, so that none has two.
struct PageCoverage {
    private let usable: Int
    /// A bit for each byte.
    private var words: [UInt64]
    private var content = 0
    /// Bytes of cells and free blocks.
    private var used = 0

    init(_ file: PageFile) {
        usable = file.usable
        words = [UInt64](repeating: 0, count: file.pageSize / 64 + 1)
    }

    /// Begins with another page.
    mutating func begin(_ shape: PageShape) {
        for place in words.indices { words[place] = 0 }
        content = shape.content
        used = 0
    }

    /// Adds the bytes of a cell, of four at least; false where they lie outside of the content, or
    /// have a use already.
    mutating func add(_ start: Int, upTo end: Int) -> Bool {
        let end = max(end, start + 4)
        guard start >= content, end <= usable else { return false }
        used += end - start
        var place = start
        while place < end {
            let count = min(64 - place % 64, end - place)
            let ones: UInt64 = count == 64 ? .max : (1 << UInt64(count)) - 1
            let bits = ones << UInt64(place % 64)
            guard words[place / 64] & bits == 0 else { return false }
            words[place / 64] |= bits
            place += count
        }
        return true
    }

    /// Adds the free blocks.
    ///
    /// - Returns: whether they are in order, and the rest is what the page calls fragments.
    mutating func closes(_ page: UnsafePointer<UInt8>, _ shape: PageShape) -> Bool {
        guard content <= usable, content >= shape.first + 2 * shape.cells else { return false }
        var block = shape.freeBlock
        while block > 0 {
            guard block >= content, block + 4 <= usable else { return false }
            let (next, count) = (Varint.short(page + block), Varint.short(page + block + 2))
            // Blocks that lie closer to each other are one.
            guard count >= 4, next == 0 || next > block + count + 3,
                add(block, upTo: block + count)
            else { return false }
            block = next
        }
        return usable - content - used == shape.fragments
    }
}
