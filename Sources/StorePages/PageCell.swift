/// One value of a record as it stands in its page.
///
/// The bytes of a text or blob stay until the next record is read.
package struct PageCell {
    /// SQLite's storage class: 1 integer, 2 real, 3 text, 4 blob, 5 NULL.
    package var storageClass: Int32 = 5
    /// Bytes of a text or blob.
    package var count: Int = 0
    /// An integer, the bits of a real, or where the bytes of a text or blob are.
    package var word: UInt64 = 0

    package init() {}

    /// The value of an integer.
    @inline(__always)
    package var integer: Int64 { Int64(bitPattern: word) }

    /// The value of a real.
    @inline(__always)
    package var real: Double { Double(bitPattern: word) }

    /// The bytes of a text or blob.
    @inline(__always)
    package var bytes: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: UInt(word)), count: count)
    }
}
