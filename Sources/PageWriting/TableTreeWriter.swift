package import MigrationPlans

/// Writes the b-tree of a table from filled leaves in ascending rowids (SQLite file format §1.6).
///
/// Inner pages are filled up. The root is a page that is there already: the only leaf, or the page
/// above all others.
package final class TableTreeWriter {
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

    /// The first leaf, which is the root if no other comes.
    private struct FirstLeaf {
        let bytes: GrowingBytes
        let key: Int64
        let overflows: [UInt32]
    }

    private let pages: PageAppender
    private let root: UInt32
    private var first: FirstLeaf?
    /// The last leaf, which no inner page has yet.
    private var last: Child?
    private var lastRowid: Int64?
    /// The numbers of the overflow pages behind the last leaf.
    private var numbers: [UInt32] = []
    private var levels: [Inner] = []
    private let scratch: GrowingBytes

    /// - Parameters:
    ///   - pages: takes all pages but the root.
    ///   - root: the page of an empty table.
    /// - Throws: `EngineError` where that page is none.
    package init(_ pages: PageAppender, root: UInt32) throws(EngineError) {
        self.pages = pages
        self.root = root
        let size = pages.image.pageSize
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

    /// Appends leaves and their overflow pages.
    ///
    /// - Parameter batch: of leaves.
    /// - Returns: false where a rowid does not come behind those before.
    /// - Throws: `EngineError` where the file cannot be written.
    package func append(_ batch: LeafBatch) throws(EngineError) -> Bool {
        if let lastRowid, let next = batch.firstRowid, next <= lastRowid { return false }
        for (place, page) in batch.pages.enumerated() {
            let bytes = batch.page(place)
            for link in batch.links[page.links] {
                guard numbers.indices.contains(link.page) else {
                    throw .internalError("a page of ours names one that was not written")
                }
                RecordBytes.put(numbers[link.page], bytes + link.place, 4)
            }
            let named = batch.links[page.links].map { numbers[$0.page] }
            if let key = page.key {
                try appendLeaf(UnsafePointer(bytes), key, overflows: named)
                lastRowid = key
                numbers.removeAll(keepingCapacity: true)
            } else {
                let number = try pages.append(UnsafePointer(bytes))
                for next in named { try pages.note(next, .laterOverflow, of: number) }
                numbers.append(number)
            }
        }
        return true
    }

    private func appendLeaf(
        _ bytes: UnsafePointer<UInt8>, _ key: Int64, overflows: [UInt32]
    ) throws(EngineError) {
        guard first != nil || last != nil else {
            let copy = GrowingBytes(capacity: pages.image.pageSize)
            copy.append(bytes, pages.image.pageSize)
            first = FirstLeaf(bytes: copy, key: key, overflows: overflows)
            return
        }
        if let leaf = first.take() {
            try put(UnsafePointer(leaf.bytes.start), leaf.key, leaf.overflows)
        }
        try put(bytes, key, overflows)
    }

    private func put(
        _ bytes: UnsafePointer<UInt8>, _ key: Int64, _ overflows: [UInt32]
    ) throws(EngineError) {
        let number = try pages.append(bytes)
        for overflow in overflows { try pages.note(overflow, .firstOverflow, of: number) }
        if let last { try push(last, level: 0) }
        last = Child(page: number, key: key)
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
    package func finish() throws(EngineError) {
        if let leaf = first {
            for overflow in leaf.overflows { try pages.note(overflow, .firstOverflow, of: root) }
            return try pages.image.write(
                UnsafeRawBufferPointer(start: leaf.bytes.start, count: pages.image.pageSize),
                page: root)
        }
        // Without rows the root stays as it is.
        guard var right = last?.page else { return }
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
