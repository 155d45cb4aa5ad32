import DurableFiles
import MigrationPlans

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
    /// A reader with what tells most entries apart: comparisons touch no counted reference.
    private struct Head {
        var prefix: UInt64
        let reader: Unmanaged<RunReader>

        @inline(__always)
        var entry: UnsafePointer<UInt8> { reader._withUnsafeGuaranteedRef { $0.entry } }
    }

    private let readers: [RunReader]
    private let order: IndexKeyOrder

    init(_ readers: [RunReader], _ order: IndexKeyOrder) {
        self.readers = readers
        self.order = order
    }

    func forEach(
        _ body: (UnsafePointer<UInt8>, Int) throws(EngineError) -> Void
    ) throws(EngineError) {
        var heap: [Head] = []
        for reader in readers where try reader.step() {
            heap.append(Head(prefix: reader.prefix, reader: .passUnretained(reader)))
            var child = heap.count - 1
            while child > 0, comes(heap[child], before: heap[(child - 1) / 2]) {
                heap.swapAt(child, (child - 1) / 2)
                child = (child - 1) / 2
            }
        }
        // The heads name readers that live as long as the array does.
        defer { withExtendedLifetime(readers) {} }
        while let first = heap.first {
            let (entry, count) = first.reader._withUnsafeGuaranteedRef { ($0.entry, $0.count) }
            try body(entry, count)
            let next = try step(first.reader)
            if let next {
                heap[0].prefix = next
            } else {
                heap[0] = heap[heap.count - 1]
                heap.removeLast()
            }
            sink(&heap)
        }
    }

    /// Steps a reader; returns its new prefix, nil behind the last entry.
    @inline(__always)
    private func step(_ reader: Unmanaged<RunReader>) throws(EngineError) -> UInt64? {
        let result = reader._withUnsafeGuaranteedRef { reader in
            Result { () throws(EngineError) in try reader.step() ? reader.prefix : nil }
        }
        return try result.get()
    }

    private func sink(_ heap: inout [Head]) {
        var parent = 0
        while true {
            var least = parent
            let child = 2 * parent + 1
            if child < heap.count, comes(heap[child], before: heap[least]) { least = child }
            if child + 1 < heap.count, comes(heap[child + 1], before: heap[least]) {
                least = child + 1
            }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }

    @inline(__always)
    private func comes(_ left: Head, before right: Head) -> Bool {
        if left.prefix != right.prefix { return left.prefix < right.prefix }
        return order.compare(left.entry, right.entry) < 0
    }
}
