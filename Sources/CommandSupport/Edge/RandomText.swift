/// Names that no other process has.
package enum RandomText {
    /// Random bytes in hexadecimal digits.
    package static func hexadecimal(bytes count: Int) -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<count).map { _ in
            let digits = String(UInt8.random(in: 0 ... .max, using: &generator), radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
