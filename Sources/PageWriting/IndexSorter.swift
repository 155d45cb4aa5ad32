import DurableFiles
import MigrationPlans

/// A file without a name that holds sorted runs: it goes with the process.
final class RunFile {
    let file: OpenFile
    /// Where each run lies.
    private(set) var runs: [Range<Int64>] = []

    /// - Parameters:
    ///   - path: a name that the file has for a moment.
    ///   - files: makes it.
    /// - Throws: `EngineError.file`.
    init(_ path: FilePath, _ files: DurableFileSystem) throws(EngineError) {
        file = try EngineError.accessing { () throws(DurableFileError) in
            if try FileStatus.ifPresent(path) != nil { try files.remove(path) }
            return try files.create(path)
        }
        try EngineError.accessing { () throws(DurableFileError) in try files.remove(path) }
    }

    /// Begins a run behind the others.
    func begin() {
        let end = runs.last?.upperBound ?? 0
        runs.append(end..<end)
    }

    /// Writes on in the last run.
    func write(_ bytes: GrowingBytes) throws(EngineError) {
        let run = runs[runs.count - 1]
        let raw = UnsafeRawBufferPointer(start: bytes.start, count: bytes.count)
        try EngineError.accessing { () throws(DurableFileError) in
            try file.write(raw, at: run.upperBound)
        }
        runs[runs.count - 1] = run.lowerBound..<run.upperBound + Int64(bytes.count)
    }
}

/// Sorts the entries of an index in bounded memory: sorted runs of them go into a scratch file.
///
/// Entries come in the order of rowids.
final class IndexSorter {
    private struct Entry {
        let prefix: UInt64
        let place: Int
    }

    private let order: IndexKeyOrder
    private let columns: [Int?]
    private let bytes: GrowingBytes
    private let budget: Int
    private var entries: [Entry] = []
    private var spare: [Entry] = []
    private let scratch: FilePath
    private let files: DurableFileSystem
    private var runs: RunFile?

    /// - Parameters:
    ///   - order: of the entries.
    ///   - columns: the indexed columns by their places in the table; nil for the rowid.
    ///   - budget: bytes of memory that entries take; twice as much beside them.
    ///   - scratch: a name that the scratch file has for a moment.
    ///   - files: makes it.
    init(
        _ order: IndexKeyOrder, _ columns: [Int?], budget: Int, scratch: FilePath,
        _ files: DurableFileSystem
    ) {
        self.order = order
        self.columns = columns
        self.budget = budget
        self.scratch = scratch
        self.files = files
        bytes = GrowingBytes(capacity: min(budget, 1 << 12))
    }

    /// Adds the entry of a row.
    ///
    /// - Parameter row: of the table.
    /// - Throws: `EngineError` where a scratch file cannot be written.
    func add(_ row: TableRecords.Row) throws(EngineError) {
        let own = RecordBytes.type(of: row.rowid)
        let ownSize = RecordBytes.size(ofType: own) ?? 0
        var header = RecordBytes.varintSize(own)
        var content = ownSize
        for column in columns {
            let type = column.map { row.types[$0] } ?? own
            header += RecordBytes.varintSize(type)
            content += RecordBytes.size(ofType: type) ?? 0
        }
        // The length of the header counts itself.
        header += header < 127 ? 1 : 2
        let size = header + content
        if !entries.isEmpty, bytes.count + size + 4 > budget || entries.count > budget / 12 {
            try spill()
        }
        bytes.reserve(size + 4)
        let start = bytes.start + bytes.count
        RecordBytes.put(UInt32(size), start, 4)
        let record = start + 4
        var place = RecordBytes.putVarint(UInt64(header), record)
        var value = record + header
        for column in columns {
            guard let column else {
                place += RecordBytes.putVarint(own, record + place)
                value = put(row.rowid, ownSize, value)
                continue
            }
            let type = row.types[column]
            place += RecordBytes.putVarint(type, record + place)
            let count = RecordBytes.size(ofType: type) ?? 0
            if count > 0, let from = row.values[column] {
                value.update(from: from, count: count)
                value += count
            }
        }
        _ = RecordBytes.putVarint(own, record + place)
        _ = put(row.rowid, ownSize, value)
        entries.append(Entry(prefix: order.prefix(record), place: bytes.count + 4))
        bytes.take(size + 4)
    }

    private func put(
        _ rowid: Int64, _ size: Int, _ bytes: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        for place in 0..<size {
            bytes[place] = UInt8(truncatingIfNeeded: rowid >> Int64(8 * (size - 1 - place)))
        }
        return bytes + size
    }

    /// Hands all entries to a body, in order.
    ///
    /// - Throws: `EngineError` where scratch files fail, and what the body throws.
    func forEach(
        _ body: (UnsafePointer<UInt8>, Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        guard runs != nil else {
            sort()
            for entry in entries { try body(bytes.start + entry.place, size(of: entry)) }
            return
        }
        try spill()
        (entries, spare) = ([], [])
        guard let file = runs else { return }
        let room = max(8 << 10, min(64 << 10, budget / file.runs.count))
        let readers = file.runs.map { RunReader(file, $0, room: room, order) }
        try RunMerge(readers, order).forEach(body)
        runs = nil
    }

    private func size(of entry: Entry) -> Int {
        Int(RecordBytes.number(bytes.start + entry.place - 4, 4))
    }

    /// Writes the entries in memory into a scratch file, in order.
    private func spill() throws(EngineError) {
        guard !entries.isEmpty else { return }
        sort()
        if runs == nil { runs = try RunFile(scratch, files) }
        guard let file = runs else { return }
        file.begin()
        let out = GrowingBytes(capacity: 1 << 18)
        for entry in entries {
            let size = size(of: entry) + 4
            if out.count + size > 1 << 18 {
                try file.write(out)
                out.removeAll()
            }
            out.append(bytes.start + entry.place - 4, size)
        }
        try file.write(out)
        entries.removeAll(keepingCapacity: true)
        bytes.removeAll()
    }

    /// Sorts by prefixes, digit by digit and stable; then those of one prefix by all they have.
    private func sort() {
        guard entries.count > Self.few else { return sortFew() }
        sortPrefixes()
        var start = 0
        entries.withUnsafeMutableBufferPointer { entries in
            while start < entries.count {
                var end = start + 1
                var isSorted = true
                while end < entries.count, entries[end].prefix == entries[start].prefix {
                    if isSorted, compare(entries[end - 1], entries[end]) > 0 { isSorted = false }
                    end += 1
                }
                if !isSorted {
                    var group = UnsafeMutableBufferPointer(rebasing: entries[start..<end])
                    group.sort { compare($0, $1) < 0 }
                }
                start = end
            }
        }
    }

    @inline(__always)
    private func compare(_ left: Entry, _ right: Entry) -> Int {
        order.compare(bytes.start + left.place, bytes.start + right.place)
    }

    /// Entries that comparisons sort faster than digits.
    private static let few = 96

    private func sortFew() {
        entries.withUnsafeMutableBufferPointer { entries in
            guard entries.count > 1 else { return }
            for place in 1..<entries.count {
                let entry = entries[place]
                var hole = place
                while hole > 0 {
                    let before = entries[hole - 1]
                    guard
                        before.prefix > entry.prefix
                            || before.prefix == entry.prefix && compare(before, entry) > 0
                    else { break }
                    entries[hole] = before
                    hole -= 1
                }
                entries[hole] = entry
            }
        }
    }

    private func sortPrefixes() {
        let count = entries.count
        guard count > 1 else { return }
        var counts = [Int](repeating: 0, count: 8 * 256)
        for entry in entries {
            for digit in 0..<8 {
                counts[digit << 8 | Int(entry.prefix >> UInt64(8 * digit) & 0xFF)] += 1
            }
        }
        if spare.count < count {
            spare = [Entry](repeating: Entry(prefix: 0, place: 0), count: count)
        }
        for digit in 0..<8 {
            let own = digit << 8..<(digit + 1) << 8
            // A digit that all share sorts nothing.
            if counts[own].contains(count) { continue }
            var start = 0
            for place in own {
                let number = counts[place]
                counts[place] = start
                start += number
            }
            entries.withUnsafeBufferPointer { from in
                spare.withUnsafeMutableBufferPointer { to in
                    counts.withUnsafeMutableBufferPointer { counts in
                        for entry in from {
                            let place =
                                digit << 8 | Int(entry.prefix >> UInt64(8 * digit) & 0xFF)
                            to[counts[place]] = entry
                            counts[place] += 1
                        }
                    }
                }
            }
            swap(&entries, &spare)
            // The spare may have been longer.
            if entries.count > count { entries.removeLast(entries.count - count) }
        }
    }
}

/// Reads the entries of one run in order.
final class RunReader {
    private let runs: RunFile
    private let end: Int64
    private let bytes: GrowingBytes
    /// Bytes that are read at once.
    private let room: Int
    private var larger: GrowingBytes?
    private var offset: Int64
    private var filled = 0
    private var next = 0
    private let order: IndexKeyOrder
    /// The entry that was read last.
    private(set) var entry: UnsafePointer<UInt8>
    private(set) var count = 0
    private(set) var prefix: UInt64 = 0

    init(_ runs: RunFile, _ run: Range<Int64>, room: Int, _ order: IndexKeyOrder) {
        self.runs = runs
        (offset, end) = (run.lowerBound, run.upperBound)
        self.room = room
        bytes = GrowingBytes(capacity: room)
        entry = UnsafePointer(bytes.start)
        self.order = order
    }

    /// Reads the next entry; false behind the last one.
    func step() throws(EngineError) -> Bool {
        let start = bytes.start
        if filled - next < 4 {
            try refill()
            if filled == 0 { return false }
            guard filled >= 4 else { throw broken() }
        }
        count = Int(RecordBytes.number(start + next, 4))
        if filled - next - 4 < count { try refill() }
        if filled - next - 4 < count {
            // Longer than the buffer: what is not in it is read into one of its own.
            let whole = larger ?? GrowingBytes()
            larger = whole
            whole.removeAll()
            whole.reserve(count)
            let read = try EngineError.accessing { () throws(DurableFileError) in
                try runs.file.read(
                    into: UnsafeMutableRawBufferPointer(start: whole.start, count: count),
                    at: offset - Int64(filled - next) + 4)
            }
            guard read == count else { throw broken() }
            offset += Int64(4 + count - (filled - next))
            (filled, next) = (0, 0)
            entry = UnsafePointer(whole.start)
        } else {
            entry = UnsafePointer(start + next + 4)
            next += 4 + count
        }
        prefix = order.prefix(entry)
        return true
    }

    /// Moves what is left to the front and reads on.
    private func refill() throws(EngineError) {
        let left = filled - next
        bytes.start.update(from: bytes.start + next, count: left)
        let most = min(Int64(room - left), end - offset)
        let rest = UnsafeMutableRawBufferPointer(start: bytes.start + left, count: Int(most))
        let read = try EngineError.accessing { () throws(DurableFileError) in
            try runs.file.read(into: rest, at: offset)
        }
        offset += Int64(read)
        (filled, next) = (left + read, 0)
    }

    private func broken() -> EngineError {
        .internalError("a scratch file of an index is shorter than it was written")
    }
}

/// Takes entries from several readers, always the first in order.
struct RunMerge {
    private let readers: [RunReader]
    private let order: IndexKeyOrder

    init(_ readers: [RunReader], _ order: IndexKeyOrder) {
        self.readers = readers
        self.order = order
    }

    func forEach(
        _ body: (UnsafePointer<UInt8>, Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        var heap: [Int] = []
        for number in readers.indices where try readers[number].step() {
            heap.append(number)
            var child = heap.count - 1
            while child > 0, comes(heap[child], before: heap[(child - 1) / 2]) {
                heap.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
        }
        while let first = heap.first {
            let reader = readers[first]
            try body(reader.entry, reader.count)
            if try !reader.step() {
                heap[0] = heap[heap.count - 1]
                heap.removeLast()
            }
            sink(&heap)
        }
    }

    private func sink(_ heap: inout [Int]) {
        var parent = 0
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2] where child < heap.count {
                if comes(heap[child], before: heap[least]) { least = child }
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    @inline(__always)
    private func comes(_ left: Int, before right: Int) -> Bool {
        let (left, right) = (readers[left], readers[right])
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        return order.compare(left.entry, right.entry) < 0
    }
}
