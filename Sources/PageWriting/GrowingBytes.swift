/// Bytes in memory that grow; the room behind them can be read.
final class GrowingBytes {
    private(set) var start: UnsafeMutablePointer<UInt8>
    private(set) var count = 0
    private var capacity: Int

    /// - Parameter capacity: the room that is set aside, in bytes.
    init(capacity: Int = 4096) {
        self.capacity = capacity
        start = .allocate(capacity: capacity + RecordBytes.padding)
        (start + capacity).initialize(repeating: 0, count: RecordBytes.padding)
    }

    /// Zero bytes.
    convenience init(zeros: Int) {
        self.init(capacity: zeros)
        start.initialize(repeating: 0, count: zeros)
        count = zeros
    }

    deinit { start.deallocate() }

    func removeAll() { count = 0 }

    /// Makes room behind the bytes.
    func reserve(_ more: Int) {
        guard count + more > capacity else { return }
        let larger = max(2 * capacity, count + more)
        let moved = UnsafeMutablePointer<UInt8>.allocate(
            capacity: larger + RecordBytes.padding)
        moved.initialize(from: start, count: count)
        (moved + larger).initialize(repeating: 0, count: RecordBytes.padding)
        start.deallocate()
        (start, capacity) = (moved, larger)
    }

    func append(_ bytes: UnsafePointer<UInt8>, _ more: Int) {
        reserve(more)
        (start + count).update(from: bytes, count: more)
        count += more
    }

    func append(_ byte: UInt8) {
        reserve(1)
        start[count] = byte
        count += 1
    }

    /// Puts bytes at a place, which may lie behind the end; what is between is zero.
    func put(_ bytes: UnsafeRawBufferPointer, at place: Int) {
        guard let from = bytes.baseAddress else { return }
        let end = place + bytes.count
        if end > count {
            reserve(end - count)
            if place > count { (start + count).update(repeating: 0, count: place - count) }
            count = end
        }
        UnsafeMutableRawPointer(start + place).copyMemory(from: from, byteCount: bytes.count)
    }

    /// Leaves the first bytes.
    func cut(to count: Int) { self.count = min(self.count, count) }

    /// Takes bytes that were written behind the end into the room that was reserved.
    func take(_ more: Int) { count += more }
}
