import SafeSQLite

/// Which pages of a file have a place, and whether the pointer map knows it.
struct PageCensus {
    /// What a page is, as the pointer map says it (file format §1.8).
    enum Kind: UInt8 {
        case root = 1
        case free = 2
        /// The first page of a record's rest; its parent has the record.
        case firstOverflow = 3
        /// A further one; its parent is the one before.
        case overflow = 4
        /// A page below another one of its tree.
        case tree = 5
    }

    private let file: PageFile
    private let header: Header
    private var taken: [UInt64]
    private var count: Int64 = 0
    /// Pages of the pointer map that were read last, by the rest of their place.
    private var known: [PointerPage?]
    private let window: PageWindow

    /// Numbers of the header that `DatabaseHeader` has not.
    private struct Header {
        let firstTrunk: Int64
        let freePages: Int64
        let largestRoot: Int64
        let isIncremental: Bool
    }

    private struct PointerPage {
        var number: Int64
        var bytes: PageBytes
    }

    init(_ file: PageFile) throws(StoreError) {
        self.file = file
        window = PageWindow(file)
        let page = try window.page(1)
        header = Header(
            firstTrunk: Int64(Varint.word(page + 32)), freePages: Int64(Varint.word(page + 36)),
            largestRoot: Int64(Varint.word(page + 52)), isIncremental: Varint.word(page + 64) != 0)
        taken = [UInt64](repeating: 0, count: Int(file.pageCount / 64) + 1)
        known = [PointerPage?](repeating: nil, count: Self.knownPages)
    }

    private static let knownPages = 64

    /// Whether all pages have a place, and the header knows the highest root.
    func isComplete(highestRoot: Int64) -> Bool {
        guard hasMap ? header.largestRoot == highestRoot : !header.isIncremental else {
            return false
        }
        var others: Int64 = lockPage <= file.pageCount ? 1 : 0
        if hasMap {
            var map = mapPage(of: 2)
            while map <= file.pageCount {
                others += 1
                // Behind the last page that this one knows.
                map = mapPage(of: (map - 2) / (entries + 1) * (entries + 1) + entries + 3)
            }
        }
        return count + others == file.pageCount
    }

    /// Gives a page its place.
    ///
    /// - Returns: false where it has one, may have none, or the pointer map says otherwise.
    /// - Throws: `StoreError` where the pointer map cannot be read.
    mutating func take(
        _ page: Int64, as kind: Kind, of parent: Int64
    ) throws(StoreError) -> Bool {
        guard page > 0, page <= file.pageCount, page != lockPage else { return false }
        let (word, bit) = (Int(page / 64), UInt64(1) << UInt64(page % 64))
        guard taken[word] & bit == 0 else { return false }
        taken[word] |= bit
        count += 1
        guard hasMap, page > 1 else { return true }
        let map = mapPage(of: page)
        guard map != page else { return false }
        let start = try pointers(map).start + Int(5 * (page - map - 1))
        return start[0] == kind.rawValue && Int64(Varint.word(start + 1)) == parent
    }

    /// Gives the pages of a record's rest their places.
    ///
    /// - Parameters:
    ///   - first: the page that the record names.
    ///   - bytes: of the rest.
    ///   - parent: the page that has the record.
    ///   - window: in which they are read.
    /// - Returns: as `take`; false also where there are more or fewer pages.
    /// - Throws: `StoreError` where they cannot be read.
    mutating func takeChain(
        from first: Int64, bytes: Int, of parent: Int64, _ window: PageWindow
    ) throws(StoreError) -> Bool {
        var (page, before) = (first, parent)
        let pages = (bytes + file.usable - 5) / (file.usable - 4)
        for place in 0..<pages {
            guard try take(page, as: place == 0 ? .firstOverflow : .overflow, of: before) else {
                return false
            }
            before = page
            page = Int64(Varint.word(try window.page(page)))
        }
        return page == 0
    }

    /// Gives the free pages their places (file format §1.5).
    ///
    /// - Returns: as `take`; false also where there are more or fewer than the header says.
    /// - Throws: `StoreError` where they cannot be read.
    mutating func takeFreePages(_ window: PageWindow) throws(StoreError) -> Bool {
        var left = header.freePages
        var trunk = header.firstTrunk
        while trunk != 0 {
            left -= 1
            guard left >= 0, try take(trunk, as: .free, of: 0) else { return false }
            let page = try window.page(trunk)
            let next = Int64(Varint.word(page))
            let leaves = Varint.word(page + 4)
            // SQLite writes six fewer, and its check allows all of them.
            guard leaves <= file.usable / 4 - 2, Int64(leaves) <= left else { return false }
            for leaf in 0..<leaves {
                let free = Int64(Varint.word(page + 8 + 4 * leaf))
                guard try take(free, as: .free, of: 0) else { return false }
            }
            left -= Int64(leaves)
            trunk = next
        }
        return left == 0
    }

    // MARK: - The pointer map

    /// Whether the file has a pointer map.
    private var hasMap: Bool { header.largestRoot != 0 }

    /// The page that holds the bytes on which SQLite locks, and nothing else.
    private var lockPage: Int64 { (1 << 30) / Int64(file.pageSize) + 1 }

    /// Entries of one page of the pointer map.
    private var entries: Int64 { Int64(file.usable / 5) }

    /// The page of the pointer map that knows a page; the page itself if it is one.
    private func mapPage(of page: Int64) -> Int64 {
        let map = (page - 2) / (entries + 1) * (entries + 1) + 2
        return map == lockPage ? map + 1 : map
    }

    private mutating func pointers(_ page: Int64) throws(StoreError) -> PageBytes {
        let place = Int(page / (entries + 1)) % Self.knownPages
        if let found = known[place], found.number == page { return found.bytes }
        let bytes = known[place]?.bytes ?? PageBytes(file.pageSize)
        bytes.start.update(from: try window.page(page), count: file.pageSize)
        known[place] = PointerPage(number: page, bytes: bytes)
        return bytes
    }
}
