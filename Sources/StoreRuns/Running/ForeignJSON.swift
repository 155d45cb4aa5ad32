/// Bounds on a stranger's JSON before it is decoded.
///
/// Decoding takes some 400 bytes of memory for each value.
enum ForeignJSON {
    /// The most values that are decoded.
    static let valueLimit = 500_000

    /// How many values a text may hold at most; separators inside strings count, too.
    static func values(in json: [UInt8]) -> Int {
        let (comma, bracket, brace) = (UInt8(ascii: ","), UInt8(ascii: "["), UInt8(ascii: "{"))
        return json.count { $0 == comma || $0 == bracket || $0 == brace }
    }
}
