import MigrationPlans
import SafeSQLite

/// Pages that were read together.
package final class ReadWindow {
    /// The most pages that are read at one time.
    private let most: UInt32
    private let file: PageImage
    private let isInMemory: Bool
    private let bytes: GrowingBytes
    private var first: UInt32 = 0
    private var count: UInt32 = 0
    private var last: UInt32 = 0
    private let stop = StatementStop.current

    /// - Parameters:
    ///   - file: which is read.
    ///   - most: the most pages that are read at one time.
    package init(_ file: PageImage, most: Int = 32) {
        self.file = file
        self.most = UInt32(clamping: most)
        isInMemory = file.isInMemory
        bytes = GrowingBytes(capacity: isInMemory ? 0 : most * file.pageSize)
    }

    /// The bytes of a page; they stay until another page is wanted.
    func page(_ number: UInt32) throws(EngineError) -> UnsafePointer<UInt8> {
        guard number > 0, number <= file.pageCount else { throw file.damaged() }
        if isInMemory {
            if stop?.isSet == true { throw file.cancelled() }
            guard let page = file.inMemory(page: number) else { throw file.damaged() }
            return page
        }
        if number < first || number - first >= count {
            if stop?.isSet == true { throw file.cancelled() }
            let follows = number > last && number - last <= most
            let wanted = follows ? min(most, file.pageCount - number + 1) : 1
            let space = UnsafeMutableRawBufferPointer(
                start: bytes.start, count: Int(wanted) * file.pageSize)
            try file.read(space, page: number)
            (first, count) = (number, wanted)
        }
        last = number
        return UnsafePointer(bytes.start + Int(number - first) * file.pageSize)
    }
}
