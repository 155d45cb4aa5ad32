package import DurableFiles
package import MigrationPlans
import SafeSQLite

/// A database that is read or written page by page, while no connection has it open: a file, or
/// bytes in memory that are to become one.
///
/// Places are those of SQLite's file format, section 1.3.
package final class PageImage {
    private enum Storage: ~Copyable {
        case file(OpenFile)
        case memory(GrowingBytes)
        /// A file that is opened for each read.
        case named(FilePath, DurableFileSystem)
    }

    /// What its pages have in common.
    package let format: PageFormat
    /// Pages that the header counts.
    package let pageCount: UInt32
    /// Whether each page has an entry in a pointer map (section 1.8).
    let hasPointerMap: Bool
    private let storage: Storage
    /// As errors name it.
    let path: FilePath

    /// - Parameters:
    ///   - path: a database with pages of the size that Godwit makes.
    ///   - files: opens it.
    /// - Throws: `EngineError` where it cannot be opened, or its header counts no pages.
    package convenience init(_ path: FilePath, _ files: DurableFileSystem) throws(EngineError) {
        let file = try EngineError.accessing { () throws(DurableFileError) in
            try files.openForWriting(path)
        }
        try self.init(path, .file(file))
    }

    /// Opens a file that is only read.
    ///
    /// - Parameters:
    ///   - path: a database.
    ///   - files: opens it.
    ///   - staysOpen: whether it is open between reads; one of very many is not.
    /// - Throws: `EngineError` where it cannot be opened, or its header counts no pages.
    package convenience init(
        reading path: FilePath, _ files: DurableFileSystem, staysOpen: Bool = true
    ) throws(EngineError) {
        guard staysOpen else {
            try self.init(path, .named(path, files))
            return
        }
        let file = try EngineError.accessing { () throws(DurableFileError) in
            try files.openForReading(path)
        }
        try self.init(path, .file(file))
    }

    /// Reads a whole file into memory.
    ///
    /// - Parameters:
    ///   - path: a database.
    ///   - limit: the most bytes that it may have.
    ///   - files: opens it.
    /// - Throws: `EngineError` where it cannot be read, is longer, or its header counts no pages.
    package convenience init(
        contentOf path: FilePath, limit: Int, _ files: DurableFileSystem
    ) throws(EngineError) {
        let memory = GrowingBytes(capacity: 0)
        try EngineError.accessing { () throws(DurableFileError) in
            let file = try files.openForReading(path)
            let size = try file.status().size
            guard size <= limit else { throw .overLimit(path, limit: limit) }
            memory.reserve(Int(size))
            memory.take(
                try file.read(
                    into: UnsafeMutableRawBufferPointer(start: memory.start, count: Int(size)),
                    at: 0))
        }
        try self.init(path, .memory(memory))
    }

    /// Takes the bytes of a database.
    ///
    /// - Parameters:
    ///   - bytes: all of it.
    ///   - room: bytes for pages that are appended.
    ///   - path: as errors name it.
    /// - Throws: `EngineError` where its header counts no pages.
    package convenience init(
        _ bytes: [UInt8], room: Int, named path: FilePath
    ) throws(EngineError) {
        let memory = GrowingBytes(capacity: bytes.count + room)
        bytes.withUnsafeBufferPointer { source in
            if let start = source.baseAddress { memory.append(start, source.count) }
        }
        try self.init(path, .memory(memory))
    }

    private init(_ path: FilePath, _ storage: consuming Storage) throws(EngineError) {
        self.path = path
        let bytes = GrowingBytes(zeros: 100)
        let count = try Self.read(
            UnsafeMutableRawBufferPointer(start: bytes.start, count: 100), at: 0, storage)
        guard count == 100 else { throw .internalError("a database has no header") }
        let head = bytes.start
        let word = { (place: Int) in RecordBytes.number(head + place, 4) }
        let size = Int(head[16]) << 8 | Int(head[17])
        let pageSize = size == 1 ? 65536 : size
        format = PageFormat(pageSize: pageSize, usable: pageSize - Int(head[20]))
        pageCount = word(28)
        hasPointerMap = word(52) != 0
        guard pageSize >= 512, format.usable >= 480, pageCount > 0, word(24) == word(92) else {
            throw .internalError("the header of a database is not as SQLite leaves it")
        }
        self.storage = storage
    }

    /// Bytes of a page.
    package var pageSize: Int { format.pageSize }
    /// Bytes of a page that SQLite uses.
    var usable: Int { format.usable }

    /// The bytes of a database in memory; none of a file.
    package var bytes: UnsafeRawBufferPointer {
        switch storage {
        case .file: UnsafeRawBufferPointer(start: nil, count: 0)
        case .named: UnsafeRawBufferPointer(start: nil, count: 0)
        case .memory(let memory):
            UnsafeRawBufferPointer(start: memory.start, count: memory.count)
        }
    }

    /// Reads pages from one on.
    func read(
        _ bytes: UnsafeMutableRawBufferPointer, page: UInt32
    ) throws(EngineError) {
        let count = try Self.read(bytes, at: offset(of: page), storage)
        guard count == bytes.count else { throw damaged() }
    }

    private static func read(
        _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64, _ storage: borrowing Storage
    ) throws(EngineError) -> Int {
        switch storage {
        case .file(let file):
            return try EngineError.accessing { () throws(DurableFileError) in
                try file.read(into: bytes, at: offset)
            }
        case .named(let path, let files):
            return try EngineError.accessing { () throws(DurableFileError) in
                try files.openForReading(path).read(into: bytes, at: offset)
            }
        case .memory(let memory):
            let count = max(0, min(bytes.count, memory.count - Int(offset)))
            if count > 0 {
                bytes.copyMemory(
                    from: UnsafeRawBufferPointer(start: memory.start + Int(offset), count: count))
            }
            return count
        }
    }

    /// Whether it has no file.
    var isInMemory: Bool {
        switch storage {
        case .file: false
        case .named: false
        case .memory: true
        }
    }

    /// The bytes of a page in memory, which stay until something is written; nil of a file.
    func inMemory(page: UInt32) -> UnsafePointer<UInt8>? {
        switch storage {
        case .file: return nil
        case .named: return nil
        case .memory(let memory):
            let start = Int(offset(of: page))
            return start + pageSize <= memory.count ? UnsafePointer(memory.start + start) : nil
        }
    }

    /// Writes pages from one on.
    func write(_ bytes: UnsafeRawBufferPointer, page: UInt32) throws(EngineError) {
        try write(bytes, at: offset(of: page))
    }

    /// Writes bytes of the header, from a place in it on.
    package func write(header bytes: [UInt8], at place: Int) throws(EngineError) {
        let copy = GrowingBytes(capacity: bytes.count)
        for byte in bytes { copy.append(byte) }
        try write(UnsafeRawBufferPointer(start: copy.start, count: copy.count), at: Int64(place))
    }

    private func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(EngineError) {
        switch storage {
        case .file(let file):
            try EngineError.accessing { () throws(DurableFileError) in
                try file.write(bytes, at: offset)
            }
        case .memory(let memory): memory.put(bytes, at: Int(offset))
        case .named: throw .internalError("a file that is only read was to be written")
        }
    }

    /// Makes the header count other pages than before (offset 28), in one write.
    func setPageCount(_ count: UInt32) throws(EngineError) {
        try write(header: withUnsafeBytes(of: count.bigEndian) { Array($0) }, at: 28)
    }

    /// Cuts off what lies behind the pages that the header counts.
    func trim(to count: UInt32) throws(EngineError) {
        let size = Int64(count) * Int64(pageSize)
        switch storage {
        case .file(let file):
            try EngineError.accessing { () throws(DurableFileError) in try file.setSize(size) }
        case .memory(let memory): memory.cut(to: Int(size))
        case .named: throw .internalError("a file that is only read was to be cut")
        }
    }

    /// Makes a page that of an empty index, if it is an index's (section 1.6).
    func clearIndex(_ root: UInt32) throws(EngineError) {
        let page = GrowingBytes(zeros: pageSize)
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

    /// That a page is not as it must be.
    ///
    /// - Returns: the error.
    package func damaged() -> EngineError {
        .store(
            .notAStore(
                path: path.description,
                reason: "a page that holds copied rows is damaged"))
    }

    private func offset(of page: UInt32) -> Int64 { (Int64(page) - 1) * Int64(pageSize) }
}
