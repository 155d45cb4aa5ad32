/// Leaves of a table that were filled one after the other, with the overflow pages of their cells.
///
/// Pages have no numbers yet. Where one names another, it says which page behind the last leaf that
/// is: it came before.
///
/// `@unchecked Sendable`: one thread fills it, and hands it over to another.
package final class LeafBatch: @unchecked Sendable {
    struct Page {
        /// The largest rowid of a leaf; nil for an overflow page.
        let key: Int64?
        /// Which links it has.
        let links: Range<Int>
    }

    /// A number that is missing in a page.
    struct Link {
        /// Where it belongs, in bytes from the beginning of the page.
        let place: Int
        /// The page that is meant, counted from the one behind the last leaf before.
        let page: Int
    }

    private(set) var pages: [Page] = []
    private(set) var links: [Link] = []
    /// The first rowid of rows that follow each other, where the batch has it.
    var firstRowid: Int64?
    private let bytes: GrowingBytes
    private let pageSize: Int

    /// - Parameter format: of the pages.
    init(_ format: PageFormat) {
        pageSize = format.pageSize
        bytes = GrowingBytes(capacity: 0)
    }

    /// Bytes of all pages.
    var count: Int { bytes.count }

    /// Appends a page.
    func append(_ page: UnsafePointer<UInt8>, key: Int64?, links: some Sequence<Link>) {
        let first = self.links.count
        self.links += links
        pages.append(Page(key: key, links: first..<self.links.count))
        bytes.append(page, pageSize)
    }

    /// The bytes of a page, which stay until one is appended.
    func page(_ place: Int) -> UnsafeMutablePointer<UInt8> { bytes.start + place * pageSize }

    /// Makes it empty; its space stays.
    package func clear() {
        pages.removeAll(keepingCapacity: true)
        links.removeAll(keepingCapacity: true)
        bytes.removeAll()
        firstRowid = nil
    }
}
