/// A number of bytes as people write it: `65536`, `64K`, `64MiB`, `1.5 GiB`.
///
/// Units are powers of 1024, with or without `iB` or `B`, in either case.
package struct ByteSize: Hashable, Sendable {
    package let bytes: Int64

    package init(bytes: Int64) { self.bytes = bytes }

    private static let units = ["K", "M", "G", "T"]

    /// Reads a size; nil for what is none, is below 1 or passes 2⁶².
    package init?(_ text: String) {
        var rest = text.uppercased().filter { $0 != " " }
        for ending in ["IB", "B"] where rest.hasSuffix(ending) {
            rest = String(rest.dropLast(ending.count))
            // A lone `iB` is no unit.
            if ending == "IB", rest.last?.isLetter != true { return nil }
            break
        }
        var shift = 0
        if let unit = rest.last, let place = ByteSize.units.firstIndex(of: String(unit)) {
            shift = 10 * (place + 1)
            rest = String(rest.dropLast())
        }
        let parts = rest.split(separator: ".", omittingEmptySubsequences: false)
        let isDecimal = parts.allSatisfy { part in
            !part.isEmpty && part.utf8.allSatisfy { (0x30...0x39).contains($0) }
        }
        guard isDecimal, (1...2).contains(parts.count), parts.count == 1 || shift > 0,
            let number = Double(rest)
        else { return nil }
        let product = number * Double(Int64(1) << shift)
        guard product >= 1, product < 0x1p62 else { return nil }
        bytes = Int64(product)
    }

    /// The size in the largest unit that leaves at least one before the point.
    package var words: String {
        bytes < 1024 ? "\(bytes) B" : ByteWords.text(bytes)
    }
}

/// A number with its digits in groups of three.
package func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "-" : ""
    for (place, digit) in digits.enumerated() {
        if place > 0, (digits.count - place) % 3 == 0 { text.append(",") }
        text.append(digit)
    }
    return text
}

/// A number with its noun: `1 row`, `2,000 rows`.
package func counted(
    _ number: some BinaryInteger, _ noun: String, plural: String? = nil
) -> String {
    "\(grouped(number)) \(number == 1 ? noun : plural ?? noun + "s")"
}
