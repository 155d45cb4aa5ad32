import MigrationPlans

/// A record that is put together, value by value (SQLite file format §2.1).
///
/// Values stay where they are until the record is written.
package final class NewRecord {
    /// Serial types by column.
    let types: UnsafeMutablePointer<UInt64>
    /// Where the values begin.
    let values: UnsafeMutablePointer<UnsafePointer<UInt8>?>
    let columns: Int
    private var header = 0
    private var content = 0
    /// Bytes of values that were made for this record.
    private let made: UnsafeMutablePointer<UInt8>
    private let gathered = GrowingBytes(capacity: 0)
    private var isGathered = false
    /// A record that was taken as it is.
    private var whole: UnsafePointer<UInt8>?

    /// - Parameter columns: how many it has.
    package init(columns: Int) {
        self.columns = columns
        types = .allocate(capacity: max(1, columns))
        values = .allocate(capacity: max(1, columns))
        made = .allocate(capacity: 8 * max(1, columns) + RecordBytes.padding)
        types.initialize(repeating: 0, count: max(1, columns))
        values.initialize(repeating: nil, count: max(1, columns))
        made.initialize(repeating: 0, count: 8 * max(1, columns) + RecordBytes.padding)
    }

    deinit {
        types.deallocate()
        values.deallocate()
        made.deallocate()
    }

    @inline(__always)
    func set(_ column: Int, type: UInt64, _ value: UnsafePointer<UInt8>?) {
        types[column] = type
        values[column] = value
    }

    @inline(__always)
    func setNull(_ column: Int) { types[column] = 0 }

    /// Sets an integer in the shortest form.
    @inline(__always)
    func set(_ column: Int, integer: Int64) {
        let type = RecordBytes.type(of: integer)
        let bytes = made + 8 * column
        let size = RecordBytes.size(ofType: type) ?? 0
        for place in 0..<size {
            bytes[place] = UInt8(truncatingIfNeeded: integer >> Int64(8 * (size - 1 - place)))
        }
        set(column, type: type, UnsafePointer(bytes))
    }

    @inline(__always)
    func set(_ column: Int, real: Double) {
        let bytes = made + 8 * column
        let word = real.bitPattern
        for place in 0..<8 {
            bytes[place] = UInt8(truncatingIfNeeded: word >> UInt64(8 * (7 - place)))
        }
        set(column, type: 7, UnsafePointer(bytes))
    }

    /// Adds up the lengths; to be called when all columns are set.
    @inline(__always)
    package func close() {
        header = 0
        content = 0
        for column in 0..<columns {
            header += RecordBytes.varintSize(types[column])
            content += RecordBytes.size(ofType: types[column]) ?? 0
        }
        // The length of the header counts itself.
        header += header < 127 ? 1 : (header < 16_382 ? 2 : 3)
        isGathered = false
        whole = nil
    }

    /// Takes a whole record as it is: it has no columns here.
    ///
    /// - Parameters:
    ///   - record: its bytes, which stay until it is written.
    ///   - count: how many there are.
    package func take(_ record: UnsafePointer<UInt8>, _ count: Int) {
        (header, content) = (count, 0)
        whole = record
    }

    /// The bytes of the whole record.
    var size: Int { header + content }

    /// Writes the record.
    func write(to bytes: UnsafeMutablePointer<UInt8>) {
        if let whole { return bytes.update(from: whole, count: header) }
        var place = RecordBytes.putVarint(UInt64(header), bytes)
        var value = bytes + header
        // Values that were neighbours are copied together.
        var run = (start: UnsafePointer(bytes), count: 0)
        for column in 0..<columns {
            let type = types[column]
            if type < 0x80 {
                bytes[place] = UInt8(truncatingIfNeeded: type)
                place += 1
            } else {
                place += RecordBytes.putVarint(type, bytes + place)
            }
            let count = RecordBytes.size(ofType: type) ?? 0
            guard count > 0, let from = values[column] else { continue }
            if from == run.start + run.count {
                run.count += count
            } else {
                value.update(from: run.start, count: run.count)
                value += run.count
                run = (from, count)
            }
        }
        value.update(from: run.start, count: run.count)
    }

    /// The record as bytes of its own, which stay until the next one is closed.
    func bytes() -> UnsafePointer<UInt8> {
        if let whole { return whole }
        if !isGathered {
            gathered.removeAll()
            gathered.reserve(size)
            write(to: gathered.start)
            isGathered = true
        }
        return UnsafePointer(gathered.start)
    }
}
