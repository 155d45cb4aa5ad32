import MigrationPlans

/// Writes the b-tree of a table from records in ascending rowids (SQLite file format §1.6).
///
/// Pages are filled up. The root is a page that is there already.
final class TableTreeWriter {
    /// A child of an inner page, with the largest rowid below it.
    private struct Child {
        let page: UInt32
        let key: Int64
    }

    /// An inner page that is being filled, and the child for which it had no room.
    private final class Inner {
        var children: [Child] = []
        var size = 0
        var waiting: Child?
    }

    private let pages: PageAppender
    private let root: UInt32
    private let leaf: GrowingBytes
    private var cells = 0
    /// Where the cells of the leaf begin.
    private var content: Int
    private var lastRowid: Int64?
    /// The first overflow pages of the leaf's cells.
    private var overflows: [UInt32] = []
    private var levels: [Inner] = []
    private let scratch: GrowingBytes
    /// Records that were appended.
    private(set) var count: Int64 = 0

    /// - Parameters:
    ///   - pages: takes all pages but the root.
    ///   - root: the page of an empty table.
    /// - Throws: `EngineError` where that page is none.
    init(_ pages: PageAppender, root: UInt32) throws(EngineError) {
        self.pages = pages
        self.root = root
        let size = pages.image.pageSize
        content = pages.image.usable
        leaf = GrowingBytes(zeros: size)
        scratch = GrowingBytes(zeros: size)
        guard root > 1, root <= pages.image.pageCount else {
            throw .internalError("a table of ours has no root page")
        }
        try pages.image.read(
            UnsafeMutableRawBufferPointer(start: scratch.start, count: size), page: root)
        guard scratch.start[0] == 13, RecordBytes.number(scratch.start + 3, 2) == 0 else {
            throw .internalError("the root page of a table of ours is not empty")
        }
    }

    private var most: Int { pages.image.usable - 35 }

    /// Appends a record.
    ///
    /// - Returns: false where its rowid does not come behind those before.
    /// - Throws: `EngineError` where the file cannot be written.
    func append(_ record: NewRecord, rowid: Int64) throws(EngineError) -> Bool {
        if let lastRowid, rowid <= lastRowid { return false }
        let size = record.size
        let key = UInt64(bitPattern: rowid)
        let head =
            RecordBytes.varintSize(UInt64(size)) + RecordBytes.varintSize(key)
        let local = pages.image.local(size, most: most)
        let needed = max(4, head + local + (local < size ? 4 : 0))
        if content - (8 + 2 * cells) < needed + 2 { try closeLeaf() }
        var overflow: UInt32 = 0
        if local < size {
            let bytes = record.bytes()
            overflow = try pages.appendOverflow(bytes + local, size - local, scratch)
            overflows.append(overflow)
        }
        content -= needed
        RecordBytes.put(UInt32(content), leaf.start + 8 + 2 * cells, 2)
        cells += 1
        var place = content
        place += RecordBytes.putVarint(UInt64(size), leaf.start + place)
        place += RecordBytes.putVarint(key, leaf.start + place)
        if local < size {
            (leaf.start + place).update(from: record.bytes(), count: local)
            RecordBytes.put(overflow, leaf.start + place + local, 4)
        } else {
            record.write(to: leaf.start + place)
        }
        lastRowid = rowid
        count += 1
        return true
    }

    private func finishLeaf() {
        leaf.start[0] = 13
        RecordBytes.put(UInt32(cells), leaf.start + 3, 2)
        RecordBytes.put(UInt32(content == 65536 ? 0 : content), leaf.start + 5, 2)
    }

    /// Appends the leaf and begins another one.
    private func closeLeaf() throws(EngineError) {
        guard let key = lastRowid else { return }
        finishLeaf()
        let number = try pages.append(UnsafePointer(leaf.start))
        for overflow in overflows { try pages.note(overflow, .firstOverflow, of: number) }
        leaf.start.update(repeating: 0, count: pages.image.pageSize)
        (cells, content, overflows) = (0, pages.image.usable, [])
        try push(Child(page: number, key: key), level: 0)
    }

    private func push(_ child: Child, level: Int) throws(EngineError) {
        if level == levels.count { levels.append(Inner()) }
        let inner = levels[level]
        if let waiting = inner.waiting {
            // Another child follows, so that the page behind this one will not be empty.
            let number = try write(inner.children, right: waiting.page)
            inner.children = []
            inner.size = 0
            inner.waiting = nil
            try push(Child(page: number, key: waiting.key), level: level + 1)
        }
        let size = 4 + RecordBytes.varintSize(UInt64(bitPattern: child.key))
        if 12 + inner.size + size + 2 <= pages.image.usable {
            inner.children.append(child)
            inner.size += size + 2
        } else {
            inner.waiting = child
        }
    }

    /// Completes the tree.
    ///
    /// - Throws: `EngineError` where the file cannot be written.
    func finish() throws(EngineError) {
        guard !levels.isEmpty else {
            finishLeaf()
            for overflow in overflows { try pages.note(overflow, .firstOverflow, of: root) }
            return try pages.image.write(
                UnsafeRawBufferPointer(start: leaf.start, count: pages.image.pageSize), page: root)
        }
        finishLeaf()
        var right = try pages.append(UnsafePointer(leaf.start))
        for overflow in overflows { try pages.note(overflow, .firstOverflow, of: right) }
        var level = 0
        while level < levels.count {
            let inner = levels[level]
            if let waiting = inner.waiting {
                // Nothing follows: the last child moves to the right edge of the full page.
                let last = inner.children.removeLast()
                let number = try write(inner.children, right: last.page)
                inner.children = [waiting]
                inner.waiting = nil
                try push(Child(page: number, key: last.key), level: level + 1)
            }
            if level + 1 == levels.count {
                try fill(inner.children, right: right)
                try note(inner.children, right: right, of: root)
                return try pages.image.write(
                    UnsafeRawBufferPointer(start: scratch.start, count: pages.image.pageSize),
                    page: root)
            }
            right = try write(inner.children, right: right)
            level += 1
        }
    }

    private func write(_ children: [Child], right: UInt32) throws(EngineError) -> UInt32 {
        try fill(children, right: right)
        let number = try pages.append(UnsafePointer(scratch.start))
        try note(children, right: right, of: number)
        return number
    }

    private func note(
        _ children: [Child], right: UInt32, of parent: UInt32
    ) throws(EngineError) {
        for child in children { try pages.note(child.page, .node, of: parent) }
        try pages.note(right, .node, of: parent)
    }

    /// Makes an inner page in the scratch bytes.
    private func fill(_ children: [Child], right: UInt32) throws(EngineError) {
        guard !children.isEmpty else {
            throw .internalError("an inner page of a table of ours would be empty")
        }
        let page = scratch.start
        page.update(repeating: 0, count: pages.image.pageSize)
        var content = pages.image.usable
        for (place, child) in children.enumerated() {
            let key = UInt64(bitPattern: child.key)
            content -= 4 + RecordBytes.varintSize(key)
            RecordBytes.put(UInt32(content), page + 12 + 2 * place, 2)
            RecordBytes.put(child.page, page + content, 4)
            _ = RecordBytes.putVarint(key, page + content + 4)
        }
        page[0] = 5
        RecordBytes.put(UInt32(children.count), page + 3, 2)
        RecordBytes.put(UInt32(content == 65536 ? 0 : content), page + 5, 2)
        RecordBytes.put(right, page + 8, 4)
    }
}
