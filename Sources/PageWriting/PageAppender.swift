package import MigrationPlans
import SafeSQLite

/// Appends pages to a file, with their entries in its pointer map.
///
/// Pages of the pointer map and the page of SQLite's lock bytes are left out (SQLite file format
/// §1.8 and §1.3.1). What a crash leaves behind the pages that the header counts is nothing.
package final class PageAppender {
    /// What a page is to its parent (section 1.8).
    enum Role: UInt8 {
        case firstOverflow = 3
        case laterOverflow = 4
        case node = 5
    }

    /// The database that grows.
    package let image: PageImage
    private var last: UInt32
    /// Pages that follow each other, not yet written.
    private let pending: GrowingBytes
    private var pendingStart: UInt32 = 0
    private var map: [UInt32: PointerMapPage] = [:]
    private var order: [UInt32] = []
    private let stop = StatementStop.current

    private static let pendingPages = 64
    /// The largest database that is made in memory, in bytes.
    private static let memoryLimit = 64 << 20
    private static let mapPages = 64

    private final class PointerMapPage {
        let bytes: GrowingBytes

        init(_ size: Int) {
            bytes = GrowingBytes(zeros: size)
        }
    }

    /// - Parameter image: of the database that grows.
    package init(_ image: PageImage) {
        self.image = image
        last = image.pageCount
        pending = GrowingBytes(
            capacity: image.isInMemory ? 0 : Self.pendingPages * image.pageSize)
    }

    /// The page that holds SQLite's lock bytes.
    private var lockPage: UInt32 { UInt32(0x4000_0000 / image.pageSize) + 1 }

    /// The page of the pointer map that has a page's entry (`ptrmapPageno` in btree.c).
    private func mapPage(of page: UInt32) -> UInt32 {
        let entries = UInt32(image.usable / 5) + 1
        let number = (page - 2) / entries * entries + 2
        return number == lockPage ? number + 1 : number
    }

    /// Appends a page.
    ///
    /// - Returns: its number.
    /// - Throws: `EngineError` where the file cannot be written, or has all pages that it may have.
    func append(_ bytes: UnsafePointer<UInt8>) throws(EngineError) -> UInt32 {
        var number = last
        repeat {
            guard number < UInt32(Int32.max) else {
                throw .internalError("a file of our own would have too many pages")
            }
            number += 1
        } while number == lockPage || (image.hasPointerMap && mapPage(of: number) == number)
        let follows = number == last + 1
        last = number
        if image.isInMemory {
            guard Int(number) * image.pageSize <= Self.memoryLimit else {
                throw .internalError("a database in memory would become too large")
            }
            try image.write(
                UnsafeRawBufferPointer(start: bytes, count: image.pageSize), page: number)
            return number
        }
        if pending.count == 0 || !follows
            || pending.count == Self.pendingPages * image.pageSize
        {
            try flush()
            pendingStart = number
        }
        pending.append(bytes, image.pageSize)
        return number
    }

    /// Appends a chain of overflow pages, its last page first, because each names the next.
    ///
    /// - Parameters:
    ///   - start: of the bytes that go there.
    ///   - count: of them.
    ///   - scratch: a page's bytes.
    /// - Returns: the first page, whose entry in the pointer map is its reader's to make.
    /// - Throws: `EngineError` where the file cannot be written.
    func appendOverflow(
        _ start: UnsafePointer<UInt8>, _ count: Int, _ scratch: GrowingBytes
    ) throws(EngineError) -> UInt32 {
        let room = image.usable - 4
        var pieces = (count + room - 1) / room
        var next: UInt32 = 0
        let page = scratch.start
        while pieces > 0 {
            pieces -= 1
            let size = min(room, count - pieces * room)
            page.update(repeating: 0, count: image.pageSize)
            RecordBytes.put(next, page, 4)
            (page + 4).update(from: start + pieces * room, count: size)
            let number = try append(UnsafePointer(page))
            if next != 0 { try note(next, .laterOverflow, of: number) }
            next = number
        }
        return next
    }

    /// Notes what a page is to its parent.
    func note(_ page: UInt32, _ role: Role, of parent: UInt32) throws(EngineError) {
        guard image.hasPointerMap else { return }
        let number = mapPage(of: page)
        let place = 5 * Int(page - number - 1)
        let bytes = try mapBytes(number).start
        bytes[place] = role.rawValue
        RecordBytes.put(parent, bytes + place + 1, 4)
    }

    private func mapBytes(_ number: UInt32) throws(EngineError) -> GrowingBytes {
        if let known = map[number] { return known.bytes }
        if order.count >= Self.mapPages { try write(order.removeFirst()) }
        let made = PointerMapPage(image.pageSize)
        // One that lies behind the pages of the header has no entries yet, or was given back.
        if number <= image.pageCount || written.contains(number) {
            try image.read(
                UnsafeMutableRawBufferPointer(start: made.bytes.start, count: image.pageSize),
                page: number)
        }
        map[number] = made
        order.append(number)
        return made.bytes
    }

    /// Pages of the pointer map behind those of the header that were written once.
    private var written: Set<UInt32> = []

    private func write(_ number: UInt32) throws(EngineError) {
        guard let page = map.removeValue(forKey: number) else { return }
        written.insert(number)
        try image.write(
            UnsafeRawBufferPointer(start: page.bytes.start, count: image.pageSize), page: number)
    }

    private func flush() throws(EngineError) {
        if stop?.isSet == true { throw image.cancelled() }
        if pending.count > 0 {
            try image.write(
                UnsafeRawBufferPointer(start: pending.start, count: pending.count),
                page: pendingStart)
        }
        pending.removeAll()
    }

    /// Writes what waits, and makes the header count all pages.
    ///
    /// - Throws: `EngineError` where the file cannot be written.
    package func finish() throws(EngineError) {
        try flush()
        for number in order { try write(number) }
        order = []
        if last > image.pageCount { try image.setPageCount(last) }
    }
}
