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
/// Entries of one sorter come in the order of rowids.
final class IndexSorter {
    private struct Entry {
        let prefix: UInt64
        let place: Int
    }

    private let order: IndexKeyOrder
    private let columns: [Int?]
    private let bytes: GrowingBytes
    private let budget: Int
    private let longest: Int
    private var entries: [Entry] = []
    private var spare: [Entry] = []
    private let scratch: FilePath
    private let files: DurableFileSystem
    private var runs: RunFile?

    /// - Parameters:
    ///   - order: of the entries.
    ///   - columns: the indexed columns by their places in the table; nil for the rowid.
    ///   - budget: bytes of memory that entries take; twice as much beside them.
    ///   - longest: the most bytes of an entry: one of each run is in memory when runs are merged.
    ///   - scratch: a name that the scratch file has for a moment.
    ///   - files: makes it.
    init(
        _ order: IndexKeyOrder, _ columns: [Int?], budget: Int, longest: Int = .max,
        scratch: FilePath,
        _ files: DurableFileSystem
    ) {
        self.order = order
        self.columns = columns
        self.budget = budget
        self.longest = longest
        self.scratch = scratch
        self.files = files
        bytes = GrowingBytes(capacity: min(budget, 1 << 12))
    }

    /// Adds the entry of a row.
    ///
    /// - Parameter row: of the table.
    /// - Returns: false for an entry that is too long.
    /// - Throws: `EngineError` where a scratch file cannot be written.
    func add(_ row: TableRecords.Row) throws(EngineError) -> Bool {
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
        guard size <= longest else { return false }
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
        return true
    }

    private func put(
        _ rowid: Int64, _ size: Int, _ bytes: UnsafeMutablePointer<UInt8>
    ) -> UnsafeMutablePointer<UInt8> {
        for place in 0..<size {
            bytes[place] = UInt8(truncatingIfNeeded: rowid >> Int64(8 * (size - 1 - place)))
        }
        return bytes + size
    }

    /// Hands all entries of several sorters to a body, in order.
    ///
    /// - Parameters:
    ///   - sorters: of one index.
    ///   - body: takes an entry and its length.
    /// - Throws: `EngineError` where scratch files fail, and what the body throws.
    static func forEach(
        of sorters: [IndexSorter],
        _ body: (UnsafePointer<UInt8>, Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        let sorters = sorters.filter { !$0.isEmpty }
        if sorters.count == 1, sorters[0].runs == nil {
            return try sorters[0].forEachInMemory(body)
        }
        for sorter in sorters { try sorter.spillLast() }
        let count = sorters.reduce(0) { $0 + ($1.runs?.runs.count ?? 0) }
        var readers: [RunReader] = []
        for sorter in sorters {
            guard let file = sorter.runs else { continue }
            let room = max(8 << 10, min(64 << 10, sorter.budget / count))
            readers += file.runs.map { RunReader(file, $0, room: room, sorter.order) }
        }
        guard let order = sorters.first?.order else { return }
        try RunMerge(readers, order).forEach(body)
        for sorter in sorters { sorter.runs = nil }
    }

    private var isEmpty: Bool { entries.isEmpty && runs == nil }

    private func forEachInMemory(
        _ body: (UnsafePointer<UInt8>, Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        sort()
        for entry in entries { try body(bytes.start + entry.place, size(of: entry)) }
    }

    /// Writes the last run, and gives back the memory of entries.
    private func spillLast() throws(EngineError) {
        try spill()
        (entries, spare) = ([], [])
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
