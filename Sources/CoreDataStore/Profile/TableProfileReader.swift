package import DurableFiles
package import SafeSQLite

/// Walks the interior pages of a table's b-tree and samples its leaves (SQLite file format,
/// section 1.6), which costs a two-hundredth of reading the table.
///
/// The file must be at rest: no `-wal` with content, and no program that writes. Damage ends the
/// walk with an error; it can never loop, because pages are counted.
package struct TableProfileReader {
    /// Half of the most runs of leaves that a profile holds, and of the leaves that are sampled.
    package static let bucketLimit = 4096

    private struct Leaf {
        let page: Int64
        let upper: Int64?
    }

    /// Neighbouring leaves, known by their first page and their highest key.
    private struct Run {
        let page: Int64
        var upper: Int64?
        var leaves: Int64
    }

    private let path: FilePath
    private let pageSize: Int
    private let pageCount: Int64

    /// - Parameters:
    ///   - path: of the database.
    ///   - pageSize: from its header.
    ///   - pageCount: pages of the file.
    package init(path: FilePath, pageSize: Int, pageCount: Int64) {
        self.path = path
        self.pageSize = pageSize
        self.pageCount = pageCount
    }

    /// Reads the profile of the table whose b-tree starts at a page.
    ///
    /// - Throws: `StoreError.notAStore` for pages that are no table b-tree.
    /// - Complexity: reads all interior pages and up to `bucketLimit` leaves.
    package func profile(rootPage: Int64) throws(StoreError) -> TableProfile {
        try profiles(rootPages: [rootPage])[0]
    }

    /// Reads the profiles of several tables.
    ///
    /// - Returns: a profile for each root page, in their order.
    /// - Throws: `StoreError.notAStore` for pages that are no table b-tree.
    /// - Complexity: as `profile`, the file opened once.
    package func profiles(rootPages: [Int64]) throws(StoreError) -> [TableProfile] {
        do {
            let file = try DurableFileSystem().openForReading(path)
            return try rootPages.map { try profile(rootPage: $0, in: file) }
        } catch let error as StoreError {
            throw error
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }

    private func profile(rootPage: Int64, in file: borrowing OpenFile) throws -> TableProfile {
        let runs = try runs(rootPage: rootPage, in: file)
        let fileBytes = pageCount * Int64(pageSize)
        var buckets: [TableProfile.Bucket] = []
        for run in runs {
            let sampled = try load(of: run.page, in: file)
            guard sampled.rows > 0 else { continue }
            buckets.append(
                TableProfile.Bucket(
                    upper: run.upper, bytes: min(sampled.bytes * run.leaves, fileBytes),
                    rows: sampled.rows * run.leaves))
        }
        return TableProfile(buckets: buckets)
    }

    /// Runs of leaves in key order, by a walk with a stack of its own; at most twice as many as
    /// `bucketLimit`, however large the table.
    private func runs(rootPage: Int64, in file: borrowing OpenFile) throws -> [Run] {
        // All leaves are equally deep, so those of the last level need not be read to be known.
        let depth = try depth(rootPage: rootPage, in: file)
        var stack = [(Leaf(page: rootPage, upper: nil), 0)]
        var runs: [Run] = []
        var visited: Int64 = 0
        // Leaves of a run; doubled whenever there are too many runs.
        var length: Int64 = 1
        while let (entry, level) = stack.popLast() {
            visited += 1
            guard visited <= pageCount else { throw damage("pages of a table form a cycle") }
            guard level == depth else {
                let page = try read(entry.page, in: file)
                let children = try children(of: page, number: entry.page, upper: entry.upper)
                for child in children.reversed() { stack.append((child, level + 1)) }
                continue
            }
            if let last = runs.last, last.leaves < length {
                runs[runs.count - 1].leaves += 1
                runs[runs.count - 1].upper = entry.upper
                continue
            }
            if runs.count == 2 * Self.bucketLimit {
                runs = stride(from: 0, to: runs.count, by: 2).map { place in
                    Run(
                        page: runs[place].page, upper: runs[place + 1].upper,
                        leaves: runs[place].leaves + runs[place + 1].leaves)
                }
                length *= 2
            }
            runs.append(Run(page: entry.page, upper: entry.upper, leaves: 1))
        }
        return runs
    }

    private func depth(rootPage: Int64, in file: borrowing OpenFile) throws -> Int {
        var page = rootPage
        for depth in 0..<20 {
            let bytes = try read(page, in: file)
            switch bytes[header(of: page)] {
            case 0x0D: return depth
            case 0x05:
                let children = try children(of: bytes, number: page, upper: nil)
                guard let first = children.first else { throw damage("an interior page is empty") }
                page = first.page
            default: throw damage("a page of a table is not a table page")
            }
        }
        throw damage("a table is deeper than any database can be")
    }

    private func children(
        of page: [UInt8], number: Int64, upper: Int64?
    ) throws(StoreError) -> [Leaf] {
        let start = header(of: number)
        guard page[start] == 0x05 else { throw damage("a page of a table is not an interior page") }
        let cells = Int(page[start + 3]) << 8 | Int(page[start + 4])
        guard start + 12 + 2 * cells <= page.count else {
            throw damage("an interior page claims too many cells")
        }
        var result: [Leaf] = []
        for cell in 0..<cells {
            let slot = start + 12 + 2 * cell
            let at = Int(page[slot]) << 8 | Int(page[slot + 1])
            guard at + 5 <= page.count else { throw damage("a cell lies outside its page") }
            var position = at + 4
            guard let key = varint(page, &position) else {
                throw damage("a cell lies outside its page")
            }
            result.append(Leaf(page: word(page, at), upper: key))
        }
        result.append(Leaf(page: word(page, start + 8), upper: upper))
        return result
    }

    /// Rows of a leaf, and the bytes of their payload with the page's own.
    private func load(
        of number: Int64, in file: borrowing OpenFile
    ) throws -> (rows: Int64, bytes: Int64) {
        let page = try read(number, in: file)
        let start = header(of: number)
        guard page[start] == 0x0D else { throw damage("a page of a table is not a leaf") }
        let cells = Int(page[start + 3]) << 8 | Int(page[start + 4])
        guard start + 8 + 2 * cells <= page.count else { throw damage("a leaf claims too much") }
        var overflow: Int64 = 0
        for cell in 0..<cells {
            var at = Int(page[start + 8 + 2 * cell]) << 8 | Int(page[start + 9 + 2 * cell])
            guard let payload = varint(page, &at), payload >= 0 else {
                throw damage("a cell lies outside its page")
            }
            if payload > pageSize - 35 {
                overflow = min(overflow + min(payload, 1 << 31), pageCount * Int64(pageSize))
            }
        }
        return (Int64(cells), Int64(pageSize) + overflow)
    }

    private func read(_ number: Int64, in file: borrowing OpenFile) throws -> [UInt8] {
        guard (1...max(1, pageCount)).contains(number) else {
            throw damage("a page number lies outside the file")
        }
        let bytes = try file.read(count: pageSize, at: (number - 1) * Int64(pageSize))
        guard bytes.count == pageSize else { throw damage("the file is shorter than it says") }
        return bytes
    }

    // The first page starts with the database header.
    private func header(of page: Int64) -> Int { page == 1 ? 100 : 0 }

    private func word(_ page: [UInt8], _ at: Int) -> Int64 {
        page[at..<(at + 4)].reduce(Int64(0)) { $0 << 8 | Int64($1) }
    }

    /// A variable-length integer (SQLite file format, section 1.6); nil past the page's end.
    private func varint(_ page: [UInt8], _ position: inout Int) -> Int64? {
        var value: UInt64 = 0
        for count in 0..<9 {
            guard position < page.count else { return nil }
            let byte = page[position]
            position += 1
            if count == 8 { return Int64(bitPattern: value << 8 | UInt64(byte)) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return Int64(bitPattern: value) }
        }
        return nil
    }

    private func damage(_ reason: String) -> StoreError {
        .notAStore(path: path.description, reason: reason)
    }
}
