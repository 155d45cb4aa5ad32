extension StringProtocol {
    /// Whether a text has the bytes of another one, as SQLite compares texts.
    ///
    /// `==` of Swift takes canonically equivalent texts for equal: "é" in one code point and in
    /// two, or "K" and the Kelvin sign.
    /// - Complexity: O(n) in the bytes.
    @inlinable
    package func isExactly(_ other: some StringProtocol) -> Bool {
        utf8.elementsEqual(other.utf8)
    }
}

extension Optional where Wrapped: StringProtocol {
    /// Whether both are nil, or both have the same bytes.
    package func isExactly(_ other: Wrapped?) -> Bool {
        switch (self, other) {
        case (nil, nil): true
        case (let text?, let other?): text.isExactly(other)
        default: false
        }
    }
}
