import Glibc

/// What goes to people rather than to programs.
enum StandardError {
    static func write(_ text: String) {
        fputs(text + "\n", stderr)
    }

    /// A hash as 16 digits.
    static func hexadecimal(_ word: UInt64) -> String {
        let digits = String(word, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
