import Glibc

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

    /// Writes a text of ASCII whose letters become large or small ones.
    ///
    /// `buffer`: has as many bytes.
    func write(to buffer: UnsafeMutableRawBufferPointer) {
        guard let from = bytes.baseAddress, let to = buffer.baseAddress else { return }
        // A loop over bytes without a branch, of which the compiler makes one over vectors.
        let first = letters == .upper ? UInt8(ascii: "a") : UInt8(ascii: "A")
        for place in 0..<bytes.count {
            let byte = from.load(fromByteOffset: place, as: UInt8.self)
            let change: UInt8 = byte &- first < 26 ? 0x20 : 0
            to.storeBytes(of: byte ^ change, toByteOffset: place, as: UInt8.self)
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
        if !foldsCase, letters == part.letters, letters == .asTheyAre {
            guard let own = bytes.baseAddress, let other = part.bytes.baseAddress else {
                return true
            }
            return memcmp(own + place, other, part.count) == 0
        }
        for index in 0..<part.count
        where byte(place + index, foldsCase: foldsCase) != part.byte(index, foldsCase: foldsCase) {
            return false
        }
        return true
    }

    /// The first of some places at which another text stands.
    ///
    /// - Complexity: O(n × m) for n places and a part of m bytes; for most texts that have none of
    ///   it, one step for eight places.
    func firstPlace(of part: PlainBytes, in places: ClosedRange<Int>, foldsCase: Bool) -> Int? {
        var place = places.lowerBound
        if !foldsCase, letters == .asTheyAre, part.letters == .asTheyAre,
            places.upperBound + part.count <= count, let first = part.bytes.first,
            let last = part.bytes.last
        {
            // The first and the last byte of the part, at eight places at a time.
            let (firsts, lasts) = (UInt64(first) &* Self.ones, UInt64(last) &* Self.ones)
            while place + 7 <= places.upperBound {
                let end = place + part.count - 1
                let other =
                    (bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self) ^ firsts)
                    | (bytes.loadUnaligned(fromByteOffset: end, as: UInt64.self) ^ lasts)
                // The highest bit of each byte that is 0.
                let low = ~(128 &* Self.ones)
                var hits = ~(((other & low) &+ low) | other | low)
                while hits != 0 {
                    let hit = place + UInt64(littleEndian: hits).trailingZeroBitCount / 8
                    if has(part, at: hit, foldsCase: false) { return hit }
                    hits &= hits &- 1
                }
                place += 8
            }
        }
        while place <= places.upperBound {
            if has(part, at: place, foldsCase: foldsCase) { return place }
            place += 1
        }
        return nil
    }

    /// A word of bytes that are 1.
    private static let ones: UInt64 = 0x0101_0101_0101_0101

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
    /// The length in units of UTF-16; nil for what is no UTF-8, and where scalars stand for bytes
    /// (`StoredText`).
    ///
    /// - Complexity: O(n).
    var utf16Count: Int? {
        var (place, units) = (0, 0)
        while place < count {
            if place + 8 <= count, isASCII(eightBytesAt: place) {
                place += 8
                units += 8
                continue
            }
            guard let width = scalarWidth(at: place),
                bytes[place] != 0xEF || !(0x9E...0x9F).contains(bytes[place + 1])
            else { return nil }
            place += width
            units += width == 4 ? 2 : 1
        }
        return units
    }

    /// The number of bytes of a scalar beyond ASCII; nil for what is no UTF-8, scalars that stand
    /// for bytes, and line ends.
    func plainWidth(at place: Int) -> Int? {
        guard let width = scalarWidth(at: place) else { return nil }
        switch (bytes[place], bytes[place + 1]) {
        case (0xEF, 0x9E...0x9F), (0xC2, 0x85): return nil
        case (0xE2, 0x80): return (0xA8...0xA9).contains(bytes[place + 2]) ? nil : width
        default: return width
        }
    }

    /// Whether no white space beyond ASCII can be in the text: U+0085, U+00A0, U+1680, U+2000 to
    /// U+200A, U+2028, U+2029, U+202F, U+205F, U+3000.
    var hasPlainSpaces: Bool {
        for place in 0..<max(0, count - 1) where bytes[place] >= 0xC2 {
            switch (bytes[place], bytes[place + 1]) {
            case (0xC2, 0x85), (0xC2, 0xA0), (0xE1, 0x9A), (0xE2, 0x80...0x81), (0xE3, 0x80):
                return false
            default: continue
            }
        }
        return true
    }

    private func isASCII(eightBytesAt place: Int) -> Bool {
        let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
        return word & 0x8080_8080_8080_8080 == 0
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
            if place + 8 <= count, isASCII(eightBytesAt: place) {
                place += 8
                continue
            }
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
        var rest = places.lowerBound
        while rest <= places.upperBound,
            let place = firstPlace(of: part, in: rest...places.upperBound, foldsCase: false)
        {
            let end = place + part.count
            if place == 0 || bytes[place - 1] < 0x80, end == count || bytes[end] < 0x80 {
                return true
            }
            isUnsure = true
            rest = place + 1
        }
        return isUnsure ? nil : false
    }
}
