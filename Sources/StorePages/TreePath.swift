import SafeSQLite

/// The way from the root of a b-tree to the page that is read now.
///
/// Each inner page is kept as a copy, so that pages below it can take its window.
struct TreePath {
    /// One inner page.
    struct Level {
        let bytes: UnsafeMutablePointer<UInt8>
        var number: Int64 = 0
        /// Where its cells' places stand.
        var first = 0
        var cells = 0
        /// The cell whose child comes next; the number of cells for the rightmost child.
        var next = 0
    }

    /// The deepest tree: pages of 512 bytes with keys of full length have no more than 20 levels
    /// in the largest file.
    private static let deepest = 40

    private let file: PageFile
    let window: PageWindow
    private(set) var levels: [Level] = []
    private var spare: [UnsafeMutablePointer<UInt8>] = []
    /// Pages that may still be read: a page has one place in a tree.
    private var left: Int64

    init(_ file: PageFile) {
        self.file = file
        window = PageWindow(file)
        left = file.pageCount
    }

    func deallocate() {
        for level in levels { level.bytes.deallocate() }
        for bytes in spare { bytes.deallocate() }
    }

    var isEmpty: Bool { levels.isEmpty }

    /// The innermost page.
    var top: Level {
        get { levels[levels.count - 1] }
        set { levels[levels.count - 1] = newValue }
    }

    /// Reads a page.
    ///
    /// - Throws: `StoreError` for one that the file has not, or where more pages were read than
    ///   the file has.
    mutating func page(_ number: Int64) throws(StoreError) -> UnsafePointer<UInt8> {
        left -= 1
        guard left >= 0 else { throw file.damaged(number) }
        return try window.page(number)
    }

    /// Goes down into an inner page.
    mutating func push(
        _ page: UnsafePointer<UInt8>, number: Int64, first: Int, cells: Int
    ) throws(StoreError) {
        guard levels.count < Self.deepest, !levels.contains(where: { $0.number == number }) else {
            throw file.damaged(number)
        }
        let bytes =
            spare.popLast() ?? .allocate(capacity: file.pageSize + PageWindow.padding)
        bytes.update(from: page, count: file.pageSize)
        (bytes + file.pageSize).initialize(repeating: 0, count: PageWindow.padding)
        levels.append(Level(bytes: bytes, number: number, first: first, cells: cells))
    }

    /// Leaves the innermost page.
    mutating func pop() {
        if let level = levels.popLast() { spare.append(level.bytes) }
    }

    /// The place of a cell of the innermost page.
    func cell(_ number: Int) throws(StoreError) -> Int {
        let level = top
        let place = Varint.short(level.bytes + level.first + 2 * number)
        guard place >= level.first, place + 4 <= file.usable else {
            throw file.damaged(level.number)
        }
        return place
    }

    /// The next child of the innermost page; nil where all were taken.
    mutating func nextChild() throws(StoreError) -> Int64? {
        let level = top
        guard level.next <= level.cells else { return nil }
        let place = level.next == level.cells ? level.first - 4 : try cell(level.next)
        top.next += 1
        return Int64(Varint.word(level.bytes + place))
    }
}

extension PageFile {
    /// How many bytes of a record are in its own page (file format §1.6).
    @inline(__always)
    func local(_ count: Int, isTable: Bool) -> Int {
        let most = isTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        if count <= most { return count }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (count - least) % (usable - 4)
        return rest <= most ? rest : least
    }
}
