/// The bytes of a text, with what becomes of its letters.
struct PlainBytes {
    let bytes: UnsafeRawBufferPointer
    let letters: PlainText.Letters

    var count: Int { bytes.count }

    @inline(__always)
    func byte(_ place: Int, foldsCase: Bool) -> UInt8 {
        Self.changed(bytes[place], foldsCase ? .lower : letters)
    }

    @inline(__always)
    static func changed(_ byte: UInt8, _ letters: PlainText.Letters) -> UInt8 {
        switch letters {
        case .asTheyAre: byte
        case .upper: (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & 0xDF : byte
        case .lower: (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
    }

    /// Whether the bytes up to a place and the one there are ASCII, or the text ends before.
    ///
    /// Then no mark of a letter continues what stands before the place.
    func isASCII(through place: Int) -> Bool {
        bytes.prefix(place + 1).allSatisfy { $0 < 0x80 }
    }

    /// Whether another text stands at a place.
    func has(_ part: PlainBytes, at place: Int, foldsCase: Bool) -> Bool {
        guard place >= 0, part.count <= count - place else { return false }
        for index in 0..<part.count
        where byte(place + index, foldsCase: foldsCase) != part.byte(index, foldsCase: foldsCase) {
            return false
        }
        return true
    }

    /// Whether the text is before another one, by its bytes.
    func isLess(than other: PlainBytes, foldsCase: Bool) -> Bool {
        for index in 0..<min(count, other.count) {
            let (own, theirs) = (
                byte(index, foldsCase: foldsCase), other.byte(index, foldsCase: foldsCase)
            )
            if own != theirs { return own < theirs }
        }
        return count < other.count
    }
}

// MARK: - Beyond ASCII

extension PlainBytes {
    /// The length in units of UTF-16; nil for what is no UTF-8.
    ///
    /// - Complexity: O(n).
    var utf16Count: Int? {
        var (place, units) = (0, 0)
        while place < count {
            guard let width = scalarWidth(at: place) else { return nil }
            place += width
            units += width == 4 ? 2 : 1
        }
        return units
    }

    /// The number of bytes of the scalar at a place; nil for what is none (The Unicode Standard,
    /// table 3-7).
    private func scalarWidth(at place: Int) -> Int? {
        let (first, width, second): (UInt8, Int, ClosedRange<UInt8>)
        first = bytes[place]
        switch first {
        case 0..<0x80: return 1
        case 0xC2...0xDF: (width, second) = (2, 0x80...0xBF)
        case 0xE0: (width, second) = (3, 0xA0...0xBF)
        case 0xED: (width, second) = (3, 0x80...0x9F)
        case 0xE1...0xEF: (width, second) = (3, 0x80...0xBF)
        case 0xF0: (width, second) = (4, 0x90...0xBF)
        case 0xF1...0xF3: (width, second) = (4, 0x80...0xBF)
        case 0xF4: (width, second) = (4, 0x80...0x8F)
        default: return nil
        }
        guard place + width <= count, second.contains(bytes[place + 1]) else { return nil }
        for next in place + 2..<max(place + 2, place + width)
        where bytes[next] & 0xC0 != 0x80 {
            return nil
        }
        return width
    }

    /// Whether the text is UTF-8, and no scalar of it means the same as an ASCII character: the
    /// Greek question mark, the Greek accent and the sign of the kelvin do.
    private var isDistinct: Bool {
        var place = 0
        while place < count {
            guard let width = scalarWidth(at: place) else { return false }
            switch (bytes[place], width) {
            case (0xCD, _) where bytes[place + 1] == 0xBE: return false
            case (0xE1, _) where bytes[place + 1] == 0xBF && bytes[place + 2] == 0xAF: return false
            case (0xE2, _) where bytes[place + 1] == 0x84 && bytes[place + 2] == 0xAA: return false
            default: place += width
            }
        }
        return true
    }

    /// Whether the text has an ASCII text at one of some places; nil where an evaluator must say
    /// whether a mark of a letter touches it.
    func has(_ part: PlainBytes, amid places: ClosedRange<Int>) -> Bool? {
        guard isDistinct else { return nil }
        var isUnsure = false
        for place in places where has(part, at: place, foldsCase: false) {
            let end = place + part.count
            if place == 0 || bytes[place - 1] < 0x80, end == count || bytes[end] < 0x80 {
                return true
            }
            isUnsure = true
        }
        return isUnsure ? nil : false
    }
}
