package import DurableFiles
package import SafeSQLite

/// A database file whose pages are read without SQLite.
///
/// All content is in the main file, which does not change meanwhile. The file may be hostile:
/// readers check every number that they take from its pages. One file serves several
/// threads, each with windows of its own. Places are those of SQLite's file format, sections 1.3
/// (header) and 1.6 (b-tree pages).
package final class PageFile: Sendable {
    package let path: FilePath
    package let header: DatabaseHeader
    package let pageSize: Int
    /// Bytes of a page that SQLite uses.
    package let usable: Int
    /// Whole pages of the file.
    package let pageCount: Int64
    private let file: OpenFile
    /// The pages of a small file, which are read once and stay as they are.
    nonisolated(unsafe) private let held: PageBytes?

    /// The largest file that is held in memory, in bytes.
    private static let heldLimit: Int64 = 4 << 20

    /// Opens a file, and reads one of at most 4 MiB.
    ///
    /// - Parameters:
    ///   - path: a database whose content is all in its main file.
    ///   - files: opens it.
    /// - Throws: `StoreError` where it cannot be read or is no database.
    package init(
        _ path: FilePath, _ files: DurableFileSystem = DurableFileSystem()
    ) throws(StoreError) {
        let opened = try Self.reading(path) { () throws(DurableFileError) in
            try files.openForReading(path)
        }
        let start = try Self.reading(path) { () throws(DurableFileError) in
            try opened.read(count: DatabaseHeader.size, at: 0)
        }
        let size = try Self.reading(path) { () throws(DurableFileError) in
            try opened.status().size
        }
        switch DatabaseHeader.read(start) {
        case .failure(let fault): throw .notAStore(path: path.description, reason: fault.reason)
        case .success(let found): header = found
        }
        file = opened
        self.path = path
        pageSize = header.pageSize
        // SQLite refuses less (file format §1.3.4).
        usable = max(480, header.pageSize - header.reservedBytes)
        pageCount = size / Int64(header.pageSize)
        held = try Self.hold(file, pageCount * Int64(header.pageSize), path)
    }

    /// Reads all pages of a small file.
    private static func hold(
        _ file: borrowing OpenFile, _ size: Int64, _ path: FilePath
    ) throws(StoreError) -> PageBytes? {
        guard size <= heldLimit else { return nil }
        let bytes = PageBytes(Int(size))
        let buffer = UnsafeMutableRawBufferPointer(start: bytes.start, count: Int(size))
        do throws(DurableFileError) {
            // A file that became shorter is read page by page, up to where it ends.
            return try file.read(into: buffer, at: 0) == buffer.count ? bytes : nil
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }

    /// Whether the file is small, and held in memory.
    package var isHeld: Bool { held != nil }

    /// The bytes of a page that is held in memory.
    @inline(__always)
    func heldPage(_ number: Int64) -> UnsafePointer<UInt8>? {
        guard let held, number > 0, number <= pageCount else { return nil }
        return UnsafePointer(held.start + Int(number - 1) * pageSize)
    }

    private static func reading<Result: ~Copyable>(
        _ path: FilePath, _ body: () throws(DurableFileError) -> Result
    ) throws(StoreError) -> Result {
        do throws(DurableFileError) {
            return try body()
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }

    /// Whether texts are UTF-8, so that they can be taken as they stand.
    package var hasPlainTexts: Bool { header.textEncoding == 1 }

    func read(
        into bytes: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(StoreError) -> Int {
        try Self.reading(path) { () throws(DurableFileError) in
            try file.read(into: bytes, at: offset)
        }
    }

    func damaged(_ page: Int64) -> StoreError {
        .notAStore(path: path.description, reason: "page \(page) is damaged")
    }
}

/// Pages that were read together: those of a tree often lie one after the other.
///
/// Used by one thread.
final class PageWindow {
    private let file: PageFile
    private var bytes: PageBytes
    /// The most pages that are read at once; more while pages are wanted one after the other, so
    /// that a small table costs a small window.
    private var most: Int64
    private var pages: Range<Int64> = 0..<0
    /// The page that was wanted last.
    private var last: Int64 = 0
    private let stop = StatementStop.current

    /// Bytes behind the last page, so that a number at its end is never read beyond them.
    static let padding = 64
    private static let firstBytes = 8 << 10
    private static let mostBytes = 128 << 10

    init(_ file: PageFile) {
        self.file = file
        most = Int64(max(1, Self.firstBytes / file.pageSize))
        bytes = PageBytes(0)
    }

    /// The bytes of a page; they stay until another page is wanted.
    ///
    /// - Throws: `StoreError` for a page that the file has not, and `cancelled`.
    func page(_ number: Int64) throws(StoreError) -> UnsafePointer<UInt8> {
        if let held = file.heldPage(number) { return held }
        if !pages.contains(number) { try readPages(around: number) }
        last = number
        let place = Int(number - pages.lowerBound) * file.pageSize
        return UnsafePointer(bytes.start + place)
    }

    /// Ends the work where it was cancelled.
    func checkStop() throws(StoreError) {
        if stop?.isSet == true { throw .cancelled(file.path.description) }
    }

    /// Reads a page, with its neighbours where pages are wanted one after the other: upwards, or
    /// downwards, as the children of an inner page are.
    private func readPages(around number: Int64) throws(StoreError) {
        guard number > 0, number <= file.pageCount else { throw file.damaged(number) }
        try checkStop()
        var wanted = number..<number + 1
        let step = number - last
        if step != 0, abs(step) <= most {
            most = min(2 * most, Int64(max(1, Self.mostBytes / file.pageSize)))
            wanted =
                step > 0
                ? number..<min(number + most, file.pageCount + 1)
                : max(1, number + 1 - most)..<number + 1
        }
        pages = 0..<0
        let count = wanted.count * file.pageSize
        if bytes.count < count { bytes = PageBytes(Int(most) * file.pageSize) }
        let read = try file.read(
            into: UnsafeMutableRawBufferPointer(start: bytes.start, count: count),
            at: (wanted.lowerBound - 1) * Int64(file.pageSize))
        pages = wanted.lowerBound..<wanted.lowerBound + Int64(read / file.pageSize)
        guard pages.contains(number) else { throw file.damaged(number) }
    }
}

/// Memory for pages and records, with zeros behind it.
final class PageBytes {
    let start: UnsafeMutablePointer<UInt8>
    let count: Int

    init(_ count: Int) {
        self.count = count
        start = .allocate(capacity: count + PageWindow.padding)
        (start + count).initialize(repeating: 0, count: PageWindow.padding)
    }

    deinit { start.deallocate() }
}
