/// Numbers of bytes as people read them.
package enum ByteWords {
    /// The number in the largest unit of powers of 1024 that leaves at least one before the
    /// point, with one digit behind it, such as `10.0 MiB`.
    package static func text(_ bytes: Int64) -> String {
        guard bytes >= 1024 else { return bytes == 1 ? "1 byte" : "\(bytes) bytes" }
        var value = Double(bytes)
        var unit = ""
        // Rounding may reach 1024.0 of a unit, which is one of the next.
        for next in ["KiB", "MiB", "GiB", "TiB"] where value >= 1023.95 {
            value /= 1024
            unit = next
        }
        let tenths = Int64((value * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) \(unit)"
    }
}
