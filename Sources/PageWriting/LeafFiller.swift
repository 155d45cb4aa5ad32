package import MigrationPlans

/// Fills leaves of a table with records in ascending rowids (SQLite file format §1.6).
///
/// Filled leaves go into a batch, which the caller takes away now and then.
package final class LeafFiller {
    /// Takes a batch and gives an empty one.
    package typealias Flush = (LeafBatch) throws(EngineError) -> LeafBatch

    private let format: PageFormat
    private let leaf: GrowingBytes
    private let scratch: GrowingBytes
    private var cells = 0
    /// Where the cells of the leaf begin.
    private var content: Int
    private var lastRowid: Int64?
    /// Where the leaf's cells name their overflow pages.
    private var links: [LeafBatch.Link] = []
    /// Overflow pages since the last leaf.
    private var overflows = 0
    private(set) var batch: LeafBatch
    /// Hands over a batch that has become long, also between the pages of one record.
    private let flush: Flush

    /// Bytes of a batch that is long.
    private let batchBytes: Int

    /// - Parameters:
    ///   - format: of the pages.
    ///   - batchBytes: of a batch that is long.
    ///   - flush: takes batches away.
    package init(_ format: PageFormat, batchBytes: Int = 1 << 18, flush: @escaping Flush) {
        self.format = format
        self.batchBytes = batchBytes
        self.flush = flush
        content = format.usable
        leaf = GrowingBytes(zeros: format.pageSize)
        scratch = GrowingBytes(zeros: format.pageSize)
        batch = LeafBatch(format)
    }

    /// Appends a record.
    ///
    /// - Parameters:
    ///   - record: to be written.
    ///   - rowid: above those before.
    /// - Returns: false where its rowid does not come behind those before.
    /// - Throws: what taking a batch away meets.
    package func append(_ record: NewRecord, rowid: Int64) throws(EngineError) -> Bool {
        if let lastRowid {
            if rowid <= lastRowid { return false }
        } else {
            batch.firstRowid = rowid
        }
        let size = record.size
        let key = UInt64(bitPattern: rowid)
        let head = RecordBytes.varintSize(UInt64(size)) + RecordBytes.varintSize(key)
        let local = format.local(size, most: format.mostOfLeaf)
        let needed = max(4, head + local + (local < size ? 4 : 0))
        if content - (8 + 2 * cells) < needed + 2 { try closeLeaf() }
        if local < size {
            let bytes = record.bytes()
            try appendOverflow(bytes + local, size - local)
        }
        content -= needed
        RecordBytes.put(UInt32(content), leaf.start + 8 + 2 * cells, 2)
        cells += 1
        var place = content
        place += RecordBytes.putVarint(UInt64(size), leaf.start + place)
        place += RecordBytes.putVarint(key, leaf.start + place)
        if local < size {
            (leaf.start + place).update(from: record.bytes(), count: local)
            links.append(LeafBatch.Link(place: place + local, page: overflows - 1))
        } else {
            record.write(to: leaf.start + place)
        }
        lastRowid = rowid
        return true
    }

    /// Appends a chain of overflow pages, its last page first, because each names the next.
    private func appendOverflow(
        _ start: UnsafePointer<UInt8>, _ count: Int
    ) throws(EngineError) {
        let room = format.usable - 4
        let pieces = (count + room - 1) / room
        let page = scratch.start
        for piece in (0..<pieces).reversed() {
            let size = min(room, count - piece * room)
            page.update(repeating: 0, count: format.pageSize)
            (page + 4).update(from: start + piece * room, count: size)
            let next =
                piece == pieces - 1 ? [] : [LeafBatch.Link(place: 0, page: overflows - 1)]
            batch.append(UnsafePointer(page), key: nil, links: next)
            overflows += 1
            try flushIfLong()
        }
    }

    private func flushIfLong() throws(EngineError) {
        if batch.count >= batchBytes { batch = try flush(batch) }
    }

    /// Puts the leaf into the batch and begins another one; an empty leaf stays.
    private func closeLeaf() throws(EngineError) {
        guard let key = lastRowid, cells > 0 else { return }
        leaf.start[0] = 13
        RecordBytes.put(UInt32(cells), leaf.start + 3, 2)
        RecordBytes.put(UInt32(content == 65536 ? 0 : content), leaf.start + 5, 2)
        batch.append(UnsafePointer(leaf.start), key: key, links: links)
        leaf.start.update(repeating: 0, count: format.pageSize)
        (cells, content, overflows) = (0, format.usable, 0)
        links.removeAll(keepingCapacity: true)
        try flushIfLong()
    }

    /// Hands over what is there, with the leaf that is being filled.
    ///
    /// - Throws: what taking a batch away meets.
    package func finish() throws(EngineError) {
        try closeLeaf()
        batch = try flush(batch)
    }

    /// Hands over what is there; rows that are appended from now on need not come behind.
    func endPart() throws(EngineError) {
        try finish()
        lastRowid = nil
    }
}
