import DurableFiles
package import MigrationPlans
import SafeSQLite

/// The records of one table of a file of our own as they stand, by ascending rowids.
///
/// The file has no other content than in its main file, and nothing writes it meanwhile. What is
/// damaged all the same ends with an error. Places are those of SQLite's file format, section 1.6.
package final class RecordCursor {
    /// An inner page on the way to the leaf.
    private struct Level {
        let children: [UInt32]
        var next = 0
    }

    /// Of the record that was read last.
    package private(set) var rowid: Int64 = 0
    /// Bytes of the record that was read last.
    package private(set) var count = 0
    /// How many of them stand in the leaf, and where.
    private var local = 0
    private var start: UnsafePointer<UInt8>

    private let file: PageImage
    private let window: ReadWindow
    private let overflow: ReadWindow
    private let lower: Int64
    private var gathered = GrowingBytes(capacity: 0)
    /// Bytes of a record for which room is kept when the next one is read.
    private let keptRoom: Int
    private var levels: [Level] = []
    private var leaf: UnsafePointer<UInt8>
    /// Where the places of the leaf's cells stand, how many there are, and which one is next.
    private var first = 0
    private var cells = 0
    private var cell = 0
    /// What several cells have in common would become many times as much.
    private var room = 0
    /// Pages that may be read yet.
    private var left: UInt32
    /// An overflow page belongs to one record.
    private var overflowing: Int

    /// Inner pages on the way to a leaf, far above what SQLite makes of 2³² pages.
    static let deepest = 40

    /// - Parameters:
    ///   - file: of the table.
    ///   - page: its root page, or an inner page whose rows alone are read.
    ///   - lower: the lowest rowid that is read.
    ///   - windows: for pages of the table and for overflow pages; used by one cursor at a time.
    ///   - keptRoom: bytes of a record for which room is kept when the next one is read.
    /// - Throws: `EngineError` for a page that is damaged or cannot be read.
    package init(
        _ file: PageImage, below page: UInt32, from lower: Int64 = .min,
        _ windows: (table: ReadWindow, overflow: ReadWindow), keptRoom: Int = .max
    ) throws(EngineError) {
        self.keptRoom = keptRoom
        self.file = file
        self.lower = lower
        window = windows.table
        overflow = windows.overflow
        left = file.pageCount
        overflowing = Int(file.pageCount) * file.pageSize
        // Until there is a leaf, they stand where nothing is read.
        leaf = UnsafePointer(gathered.start)
        start = leaf
        try enter(page)
    }

    /// Goes down to a leaf.
    private func enter(_ page: UInt32) throws(EngineError) {
        var number = page
        while true {
            guard levels.count < Self.deepest, left > 0 else { throw file.damaged() }
            left -= 1
            let page = try window.page(number)
            let place = number == 1 ? 100 : 0
            guard page[place] == 5 else {
                guard page[place] == 13 else { throw file.damaged() }
                leaf = page
                first = place + 8
                cells = Int(RecordBytes.number(page + place + 3, 2))
                cell = 0
                room = file.usable
                guard first + 2 * cells <= file.usable else { throw file.damaged() }
                return
            }
            var level = Level(
                children: try Self.children(of: number, page, file, from: lower))
            guard let child = level.children.first else { throw file.damaged() }
            level.next = 1
            levels.append(level)
            number = child
        }
    }

    /// The children of an inner page that can hold rowids from one on; none for a leaf.
    ///
    /// - Throws: `EngineError` for a page that is damaged.
    static func children(
        of number: UInt32, _ page: UnsafePointer<UInt8>, _ file: PageImage,
        from lower: Int64 = .min
    ) throws(EngineError) -> [UInt32] {
        let start = number == 1 ? 100 : 0
        guard page[start] == 5 else { return [] }
        let cells = Int(RecordBytes.number(page + start + 3, 2))
        let first = start + 12
        guard first + 2 * cells <= file.usable else { throw file.damaged() }
        var children: [UInt32] = []
        children.reserveCapacity(cells + 1)
        for cell in 0..<cells {
            var place = Int(RecordBytes.number(page + first + 2 * cell, 2))
            guard place >= first, place + 4 <= file.usable else { throw file.damaged() }
            let child = RecordBytes.number(page + place, 4)
            place += 4
            // The largest rowid below the child.
            if lower > .min, Int64(bitPattern: RecordBytes.varint(page, &place)) < lower {
                continue
            }
            children.append(child)
        }
        children.append(RecordBytes.number(page + start + 8, 4))
        return children
    }

    /// Goes to the next record.
    ///
    /// - Returns: false behind the last one.
    /// - Throws: `EngineError` for a page that is damaged or cannot be read.
    package func next() throws(EngineError) -> Bool {
        if gathered.count > keptRoom { gathered = GrowingBytes(capacity: 0) }
        while true {
            while cell < cells {
                try read()
                if rowid >= lower { return true }
            }
            while let level = levels.last, level.next == level.children.count {
                levels.removeLast()
            }
            guard let level = levels.last else { return false }
            levels[levels.count - 1].next += 1
            try enter(level.children[level.next])
        }
    }

    /// Reads the head of the next cell.
    @inline(__always)
    private func read() throws(EngineError) {
        var place = Int(RecordBytes.number(leaf + first + 2 * cell, 2))
        cell += 1
        guard place >= first, place + 4 <= file.usable else { throw file.damaged() }
        let size = RecordBytes.varint(leaf, &place)
        rowid = Int64(bitPattern: RecordBytes.varint(leaf, &place))
        guard size > 0, size <= UInt64(Int32.max) else { throw file.damaged() }
        count = Int(size)
        local = file.format.local(count, most: file.format.mostOfLeaf)
        room -= local
        guard place + local + (local < count ? 4 : 0) <= file.usable, room >= 0 else {
            throw file.damaged()
        }
        start = leaf + place
    }

    /// All bytes of the record.
    ///
    /// - Returns: where they begin; they stay until the next record is read.
    /// - Throws: `EngineError` for an overflow page that is damaged or cannot be read.
    @inline(__always)
    package func record() throws(EngineError) -> UnsafePointer<UInt8> {
        if local == count { return start }
        return try gather()
    }

    /// The bytes of the record that stand in its leaf.
    var bytesInLeaf: (start: UnsafePointer<UInt8>, count: Int) { (start, local) }

    private func gather() throws(EngineError) -> UnsafePointer<UInt8> {
        overflowing -= count - local
        guard overflowing >= 0 else { throw file.damaged() }
        gathered.removeAll()
        gathered.append(start, local)
        var next = RecordBytes.number(start + local, 4)
        while gathered.count < count {
            let page = try overflow.page(next)
            gathered.append(page + 4, min(count - gathered.count, file.usable - 4))
            next = RecordBytes.number(page, 4)
        }
        return UnsafePointer(gathered.start)
    }
}
