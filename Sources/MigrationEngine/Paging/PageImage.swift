import DurableFiles
import MigrationPlanning
import SafeSQLite

/// A database file of our own that is written page by page, while no connection has it open.
///
/// Places are those of SQLite's file format, section 1.3.
final class PageImage {
    let pageSize: Int
    /// Bytes of a page that SQLite uses.
    let usable: Int
    /// Pages that the header counts.
    let pageCount: UInt32
    /// Whether each page has an entry in a pointer map (section 1.8).
    let hasPointerMap: Bool
    private let file: OpenFile
    private let path: FilePath

    /// - Parameters:
    ///   - path: a database with pages of the size that Godwit makes.
    ///   - files: opens it.
    /// - Throws: `EngineError` where it cannot be opened, or its header counts no pages.
    init(_ path: FilePath, _ files: DurableFileSystem) throws(EngineError) {
        self.path = path
        let opened = try EngineError.accessing { () throws(DurableFileError) in
            try files.openForWriting(path)
        }
        let header = try EngineError.accessing { () throws(DurableFileError) in
            try opened.read(count: 100, at: 0)
        }
        file = opened
        guard header.count == 100 else { throw .internalError("a file of our own has no header") }
        let word = { (place: Int) in
            header[place..<place + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        let size = Int(header[16]) << 8 | Int(header[17])
        pageSize = size == 1 ? 65536 : size
        usable = pageSize - Int(header[20])
        pageCount = word(28)
        hasPointerMap = word(52) != 0
        guard pageSize >= 512, usable >= 480, pageCount > 0, word(24) == word(92) else {
            throw .internalError("the header of a file of our own is not as it was left")
        }
    }

    /// Reads pages from one on.
    func read(
        _ bytes: UnsafeMutableRawBufferPointer, page: UInt32
    ) throws(EngineError) {
        let count = try EngineError.accessing { () throws(DurableFileError) in
            try file.read(into: bytes, at: offset(of: page))
        }
        guard count == bytes.count else { throw damaged() }
    }

    /// Writes pages from one on.
    func write(_ bytes: UnsafeRawBufferPointer, page: UInt32) throws(EngineError) {
        try EngineError.accessing { () throws(DurableFileError) in
            try file.write(bytes, at: offset(of: page))
        }
    }

    /// Makes the header count other pages than before (offset 28), in one write.
    func setPageCount(_ count: UInt32) throws(EngineError) {
        let bytes = withUnsafeBytes(of: count.bigEndian) { Array($0) }
        try EngineError.accessing { () throws(DurableFileError) in try file.write(bytes, at: 28) }
    }

    /// Cuts off what lies behind the pages that the header counts.
    func trim(to count: UInt32) throws(EngineError) {
        try EngineError.accessing { () throws(DurableFileError) in
            try file.setSize(Int64(count) * Int64(pageSize))
        }
    }

    /// Makes a page that of an empty index, if it is an index's (section 1.6).
    func clearIndex(_ root: UInt32) throws(EngineError) {
        let page = GrowingBytes(capacity: pageSize)
        try read(UnsafeMutableRawBufferPointer(start: page.start, count: pageSize), page: root)
        guard page.start[0] == 10 || page.start[0] == 2 else {
            throw .internalError("the root page of an index of ours is none")
        }
        page.start.update(repeating: 0, count: pageSize)
        page.start[0] = 10
        RecordBytes.put(UInt32(usable == 65536 ? 0 : usable), page.start + 5, 2)
        try write(UnsafeRawBufferPointer(start: page.start, count: pageSize), page: root)
    }

    func cancelled() -> EngineError { .store(.cancelled(path.description)) }

    func damaged() -> EngineError {
        .store(
            .notAStore(
                path: path.description,
                reason: "a page that holds copied rows is damaged"))
    }

    /// How many bytes of a record are in its own page, where at most so many can be (section 1.6).
    func local(_ count: Int, most: Int) -> Int {
        if count <= most { return count }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (count - least) % (usable - 4)
        return rest <= most ? rest : least
    }

    private func offset(of page: UInt32) -> Int64 { (Int64(page) - 1) * Int64(pageSize) }
}
