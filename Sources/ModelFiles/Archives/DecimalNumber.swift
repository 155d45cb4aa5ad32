/// A decimal number as `NSDecimalNumber` holds it: ±digits × 10^exponent.
struct DecimalNumber: Hashable {
    var isNegative: Bool
    var digits: UInt128
    var exponent: Int

    init(isNegative: Bool, digits: UInt128, exponent: Int) {
        self.isNegative = isNegative
        self.digits = digits
        self.exponent = exponent
    }

    /// From text such as `-12.50` or `1e3`; nil where it is none or does not fit 128 bits of
    /// digits and an exponent of one byte.
    init?(_ text: String) {
        var rest = Substring(text)
        isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest.removeFirst() }
        exponent = 0
        if let mark = rest.firstIndex(where: { $0 == "e" || $0 == "E" }) {
            guard let power = Int(rest[rest.index(after: mark)...]), abs(power) <= 1000 else {
                return nil
            }
            exponent = power
            rest = rest[..<mark]
        }
        let parts = rest.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, rest.utf8.count <= 200 else { return nil }
        var figures = Substring(parts.joined())
        // Zeros at the end may be too many for 128 bits of digits.
        while parts.count == 1 && figures.utf8.count > 38 && figures.last == "0" {
            figures.removeLast()
            exponent += 1
        }
        guard !figures.isEmpty, figures.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let digits = UInt128(figures)
        else { return nil }
        self.digits = digits
        if parts.count == 2 { exponent -= parts[1].utf8.count }
        guard (-128...127).contains(exponent) else { return nil }
    }

    /// The number without an exponent, with as many places as it has.
    var text: String {
        var figures = String(digits)
        if exponent > 0 && digits != 0 { figures += String(repeating: "0", count: exponent) }
        if exponent < 0 {
            let missing = -exponent + 1 - figures.count
            if missing > 0 { figures = String(repeating: "0", count: missing) + figures }
            let point = figures.index(figures.endIndex, offsetBy: exponent)
            figures.insert(".", at: point)
        }
        return (isNegative ? "-" : "") + figures
    }

    /// The same number without an exponent; nil where the text is none.
    static func plain(_ text: String) -> String? { DecimalNumber(text)?.text }
}
