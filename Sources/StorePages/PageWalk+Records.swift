import SafeSQLite

// Records of a page against the columns of their table or index.

extension PageWalk {
    /// The longest header that SQLite reads.
    private static var longestHeader: Int { 98_307 }

    /// Whether a record fits its columns.
    func fits(
        _ page: UnsafePointer<UInt8>, _ start: Int, _ payload: Int, _ local: Int, _ tree: Tree
    ) throws(StoreError) -> Bool {
        var place = start
        let begin = place
        let header = Varint.read(page, &place)
        // Each field has a number of at most nine bytes.
        guard header >= place - begin, header <= payload, header <= Self.longestHeader,
            header <= 9 * (tree.fields + 2)
        else { return false }
        if header <= local {
            return fits(page, place..<(begin + header), payload - header, tree)
        }
        guard
            let bytes = try longHeader(page, header, from: begin, local: local)
        else { return false }
        return bytes.withUnsafeBufferPointer {
            guard let start = $0.baseAddress else { return false }
            return fits(start, (place - begin)..<header, payload - header, tree)
        }
    }

    /// Whether serial types name the right number of fields, and as many bytes as there are.
    private func fits(
        _ bytes: UnsafePointer<UInt8>, _ range: Range<Int>, _ content: Int, _ tree: Tree
    ) -> Bool {
        var (place, count, sum) = (range.lowerBound, 0, 0)
        while place < range.upperBound {
            let type = Varint.read(bytes, &place)
            switch type {
            case 0, 8, 9: break
            case 1...4: sum += type
            case 5: sum += 6
            case 6, 7: sum += 8
            default:
                guard type >= 12, (type - 12) / 2 <= content - sum else { return false }
                sum += (type - 12) / 2
            }
            // Bytes there would be in the file, and no statement would show them.
            if count == tree.keyField, type != 0 { return false }
            count += 1
            guard sum <= content, count <= tree.fields else { return false }
        }
        guard place == range.upperBound, sum == content else { return false }
        return !tree.isIndex || count == tree.fields
    }

    /// The header of a record that reaches into overflow pages; nil where it is none.
    private func longHeader(
        _ page: UnsafePointer<UInt8>, _ count: Int, from start: Int, local: Int
    ) throws(StoreError) -> [UInt8]? {
        var bytes = Array(UnsafeBufferPointer(start: page + start, count: local))
        var next = Int64(Varint.word(page + start + local))
        while bytes.count < count {
            guard next > 0, next <= file.pageCount else { return nil }
            let more = try overflow.page(next)
            next = Int64(Varint.word(more))
            bytes += UnsafeBufferPointer(start: more + 4, count: file.usable - 4)
        }
        // Numbers at the end are read up to nine bytes.
        return Array(bytes.prefix(count)) + [UInt8](repeating: 0, count: PageWindow.padding)
    }
}
