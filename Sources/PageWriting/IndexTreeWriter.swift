import MigrationPlans

/// Writes the b-tree of an index from entries in order (SQLite file format §1.6).
///
/// Pages are filled up. An entry that divides two pages stands in their parent alone. The root is a
/// page that is there already.
final class IndexTreeWriter {
    /// A page that is being filled, and the entry for which it had no room.
    private final class Level {
        let bytes: UnsafeMutablePointer<UInt8>
        let isLeaf: Bool
        private let usable: Int
        private(set) var cells = 0
        /// Where the cells begin.
        private var content: Int
        /// The first overflow pages of its cells.
        private var overflows: [UInt32] = []
        /// Of the cell that was appended last: its bytes without the child, and its overflow page.
        private var last = (count: 0, overflow: UInt32(0))
        /// What comes between this page and the next, with the child on its left.
        var divider: Cell?

        init(isLeaf: Bool, _ image: PageImage) {
            self.isLeaf = isLeaf
            usable = image.usable
            content = image.usable
            bytes = .allocate(capacity: image.pageSize)
            bytes.initialize(repeating: 0, count: image.pageSize)
        }

        deinit { bytes.deallocate() }

        private var head: Int { isLeaf ? 8 : 12 }

        func hasRoom(for count: Int) -> Bool {
            content - (head + 2 * cells) >= size(of: count) + 2
        }

        /// No cell takes less than four bytes.
        private func size(of count: Int) -> Int { max(4, count + (isLeaf ? 0 : 4)) }

        /// Makes room for a cell of so many bytes; returns where they go.
        private func place(_ count: Int, overflow: UInt32) -> Int {
            content -= size(of: count)
            RecordBytes.put(UInt32(content), bytes + head + 2 * cells, 2)
            cells += 1
            last = (count, overflow)
            if overflow != 0 { overflows.append(overflow) }
            return content
        }

        func append(_ cell: Cell) {
            var place = place(cell.bytes.count, overflow: cell.overflow)
            if !isLeaf {
                RecordBytes.put(cell.left, bytes + place, 4)
                place += 4
            }
            cell.bytes.withUnsafeBufferPointer { source in
                if let start = source.baseAddress {
                    (bytes + place).update(from: start, count: source.count)
                }
            }
        }

        /// Appends an entry without overflow pages to a leaf.
        func append(_ entry: UnsafePointer<UInt8>, _ count: Int, head: Int) {
            let place = place(head + count, overflow: 0)
            _ = RecordBytes.putVarint(UInt64(count), bytes + place)
            (bytes + place + head).update(from: entry, count: count)
        }

        /// Takes the cell out again that was appended last.
        func takeLast() -> Cell {
            var place = content
            var cell = Cell(bytes: [], overflow: last.overflow)
            if !isLeaf {
                cell.left = RecordBytes.number(bytes + place, 4)
                place += 4
            }
            cell.bytes = Array(UnsafeBufferPointer(start: bytes + place, count: last.count))
            cells -= 1
            content += size(of: last.count)
            if last.overflow != 0 { overflows.removeLast() }
            return cell
        }

        /// Completes the page's head.
        func close(right: UInt32) {
            bytes[0] = isLeaf ? 10 : 2
            RecordBytes.put(UInt32(cells), bytes + 3, 2)
            RecordBytes.put(UInt32(content == 65536 ? 0 : content), bytes + 5, 2)
            if !isLeaf { RecordBytes.put(right, bytes + 8, 4) }
        }

        /// Notes in the pointer map whose the pages are to which the page leads.
        func note(_ number: UInt32, in pages: PageAppender) throws(EngineError) {
            for overflow in overflows { try pages.note(overflow, .firstOverflow, of: number) }
            guard !isLeaf else { return }
            for cell in 0..<cells {
                let place = Int(RecordBytes.number(bytes + head + 2 * cell, 2))
                try pages.note(RecordBytes.number(bytes + place, 4), .node, of: number)
            }
            try pages.note(RecordBytes.number(bytes + 8, 4), .node, of: number)
        }

        func clear() {
            bytes.update(repeating: 0, count: usable)
            (cells, content, overflows, divider) = (0, usable, [], nil)
        }
    }

    /// An entry as it stands in a page: its length, its bytes, where the rest of them is.
    private struct Cell {
        var bytes: [UInt8]
        var overflow: UInt32
        var left: UInt32 = 0
    }

    private let pages: PageAppender
    private let root: UInt32
    private let leaf: Level
    /// The leaf first.
    private var levels: [Level]
    private let scratch: GrowingBytes

    /// - Parameters:
    ///   - pages: takes all pages but the root.
    ///   - root: the page of an empty index.
    /// - Throws: `EngineError` where that page is none.
    init(_ pages: PageAppender, root: UInt32) throws(EngineError) {
        self.pages = pages
        self.root = root
        leaf = Level(isLeaf: true, pages.image)
        levels = [leaf]
        scratch = GrowingBytes(zeros: pages.image.pageSize)
        let page = UnsafeMutableRawBufferPointer(
            start: scratch.start, count: pages.image.pageSize)
        guard root > 1, root <= pages.image.pageCount else {
            throw .internalError("an index of ours has no root page")
        }
        try pages.image.read(page, page: root)
        guard scratch.start[0] == 10, RecordBytes.number(scratch.start + 3, 2) == 0 else {
            throw .internalError("the root page of an index of ours is not empty")
        }
    }

    /// Appends all entries of sorters and completes the tree.
    ///
    /// - Parameters:
    ///   - sorters: of the entries.
    ///   - order: of the entries.
    ///   - isUnique: whether no two of them may have equal values.
    /// - Returns: false where two do.
    /// - Throws: `EngineError` where files cannot be read or written.
    func fill(
        from sorters: [IndexSorter], _ order: IndexKeyOrder, isUnique: Bool
    ) throws(EngineError) -> Bool {
        let before = GrowingBytes(capacity: 0)
        var areAllDifferent = true
        try IndexSorter.forEach(of: sorters) { entry, count throws(EngineError) in
            if isUnique {
                if before.count > 0, !order.hasNull(entry),
                    order.compare(before.start, entry, withRowid: false) == 0
                {
                    areAllDifferent = false
                }
                before.removeAll()
                before.append(entry, count)
            }
            try append(entry, count)
        }
        try finish()
        return areAllDifferent
    }

    /// Appends an entry, which comes behind all before it.
    ///
    /// - Throws: `EngineError` where the file cannot be written.
    private func append(_ entry: UnsafePointer<UInt8>, _ count: Int) throws(EngineError) {
        let head = RecordBytes.varintSize(UInt64(count))
        if leaf.divider == nil, count <= most, leaf.hasRoom(for: head + count) {
            leaf.append(entry, count, head: head)
        } else {
            try append(try cell(of: entry, count), level: 0)
        }
    }

    /// The most bytes of an entry that are in its own page.
    private var most: Int { (pages.image.usable - 12) * 64 / 255 - 23 }

    private func append(_ cell: Cell, level: Int) throws(EngineError) {
        let page = levels[level]
        if let divider = page.divider {
            // Another one follows, so that the page behind the divider will not be empty.
            let number = try close(page, right: divider.left)
            try push(divider, left: number, above: level)
            page.clear()
        }
        if page.hasRoom(for: cell.bytes.count) {
            page.append(cell)
        } else {
            page.divider = cell
        }
    }

    /// Puts a divider into the level above, where a page was completed on its left.
    private func push(_ divider: Cell, left: UInt32, above level: Int) throws(EngineError) {
        if level + 1 == levels.count {
            levels.append(Level(isLeaf: false, pages.image))
        }
        var cell = divider
        cell.left = left
        try append(cell, level: level + 1)
    }

    private func close(_ page: Level, right: UInt32) throws(EngineError) -> UInt32 {
        page.close(right: right)
        let number = try pages.append(UnsafePointer(page.bytes))
        try page.note(number, in: pages)
        return number
    }

    /// Completes the tree.
    ///
    /// - Throws: `EngineError` where the file cannot be written.
    private func finish() throws(EngineError) {
        var level = 0
        var right: UInt32 = 0
        while level < levels.count {
            let page = levels[level]
            if let divider = page.divider {
                // Nothing follows: the last cell becomes the divider, and the entry that waited
                // stands alone behind it.
                let moved = page.takeLast()
                let number = try close(page, right: moved.left)
                try push(moved, left: number, above: level)
                page.clear()
                page.append(divider)
            }
            if level + 1 == levels.count {
                page.close(right: right)
                try page.note(root, in: pages)
                try pages.image.write(
                    UnsafeRawBufferPointer(start: page.bytes, count: pages.image.pageSize),
                    page: root)
                return
            }
            right = try close(page, right: right)
            level += 1
        }
    }

    /// The cell of an entry; what is too long for a page goes into overflow pages.
    private func cell(
        of entry: UnsafePointer<UInt8>, _ count: Int
    ) throws(EngineError) -> Cell {
        let local = pages.image.format.local(count, most: most)
        var bytes = [UInt8](repeating: 0, count: 9)
        let head = bytes.withUnsafeMutableBufferPointer { buffer in
            buffer.baseAddress.map { RecordBytes.putVarint(UInt64(count), $0) } ?? 0
        }
        bytes.removeLast(9 - head)
        bytes.append(contentsOf: UnsafeBufferPointer(start: entry, count: local))
        guard local < count else { return Cell(bytes: bytes, overflow: 0) }
        let first = try pages.appendOverflow(entry + local, count - local, scratch)
        bytes += [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: first >> UInt32($0)) }
        return Cell(bytes: bytes, overflow: first)
    }
}
