import DurableFiles
import Glibc
import SafeSQLite

/// The pages that hold the schema of an SQLite database, read without SQLite.
///
/// SQLite parses the whole schema before it answers a question about it. The pages of the schema
/// are few and known from the file format (§1.6, §2.6), wherever in the file they lie.
struct SchemaPages: ~Copyable {
    private let file: OpenFile
    private let pageSize: Int
    /// The end of what one database may make this look at, whatever its pages point to.
    private static let mostPages = 256
    private static let beginningBytes = 65_536

    /// - Parameters:
    ///   - file: a database; stays open as long as this value.
    ///   - header: its first bytes.
    init(of file: consuming OpenFile, _ header: DatabaseHeader) {
        self.file = file
        pageSize = header.pageSize
    }

    /// What the pages of a schema say about a text.
    private enum Answer {
        case found
        case absent
        /// A page is missing or has no cells, so others may have lost the way to them.
        case damaged
    }

    /// Searches the schema for a text.
    ///
    /// A damaged page may hide others. Then this searches the beginning of the file as it is.
    ///
    /// - Parameter text: not empty; found where it lies in one page.
    /// - Returns: whether it was found; false, too, where pages are too many.
    /// - Throws: `DurableFileError`.
    /// - Complexity: reads at most 256 pages and 64 KiB.
    func contain(_ text: [UInt8]) throws(DurableFileError) -> Bool {
        switch try search(text) {
        case .found: return true
        case .absent: return false
        case .damaged:
            let beginning = try file.read(count: SchemaPages.beginningBytes, at: 0)
            return SchemaPages.hold(text, beginning)
        }
    }

    private func search(_ text: [UInt8]) throws(DurableFileError) -> Answer {
        var waiting: [UInt32] = [1]
        var read = 0
        var damaged = false
        while let number = waiting.popLast(), read < SchemaPages.mostPages {
            read += 1
            // Neither 0 nor 1 is a page below another.
            if number < 2, read > 1 {
                damaged = true
                continue
            }
            let page = try file.read(count: pageSize, at: Int64(number - 1) * Int64(pageSize))
            let start = number == 1 ? DatabaseHeader.size : 0
            switch page.count == pageSize ? page[start] : nil {
            case 0x0d:
                if SchemaPages.hold(text, page) { return .found }
            case 0x05:
                let children = SchemaPages.children(of: page, at: start)
                damaged = damaged || children.count < 2
                waiting += children.suffix(max(0, SchemaPages.mostPages - waiting.count))
            default:
                damaged = true
            }
        }
        return damaged ? .damaged : .absent
    }

    /// The pages below an interior page of a table, the last one first.
    ///
    /// A pointer that leads out of the page gives 0, the number of no page.
    private static func children(of page: [UInt8], at start: Int) -> [UInt32] {
        let count = Int(page[start + 3]) << 8 | Int(page[start + 4])
        guard start + 12 + 2 * count <= page.count else { return [] }
        var found = [word(page, start + 8)]
        // What lies behind the bound is not read anyway.
        for index in (0..<min(count, mostPages)).reversed() {
            let pointer = start + 12 + 2 * index
            let cell = Int(page[pointer]) << 8 | Int(page[pointer + 1])
            found.append(cell + 4 <= page.count ? word(page, cell) : 0)
        }
        return found
    }

    private static func word(_ page: [UInt8], _ place: Int) -> UInt32 {
        page[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Whether a page holds a text; one pass in C, for there may be a hundred thousand stores.
    private static func hold(_ text: [UInt8], _ page: [UInt8]) -> Bool {
        page.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, let first = text.first else { return false }
            var offset = 0
            while offset + text.count <= bytes.count,
                let hit = memchr(
                    start + offset, Int32(first), bytes.count - text.count - offset + 1)
            {
                if memcmp(hit, text, text.count) == 0 { return true }
                offset = UnsafeRawPointer(hit) - start + 1
            }
            return false
        }
    }
}
