/// A value of a property list, with the types that the binary format tells apart.
///
/// Nothing that the format distinguishes is lost on the way in, so that a value that was read
/// and written again has the same type: an integer never becomes a real, 4-byte reals stay
/// 4-byte reals, and text that is no valid UTF-16 is kept unit by unit.
package enum PropertyList: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// Up to 16 bytes; those of up to 4 bytes in a file are unsigned.
    case integer(Int128)
    case real(Double)
    /// A real of 4 bytes.
    case shortReal(Float)
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date(Double)
    case data([UInt8])
    case string(String)
    /// UTF-16 with unpaired surrogates, which a `String` cannot hold.
    case brokenString([UInt16])
    /// A reference into the object table of a keyed archive.
    case uid(UInt64)
    case array([PropertyList])
    /// In the order of the file; equality depends on it.
    case set([PropertyList])
    /// In the order of the file; equality depends on it. Keys differ from each other.
    case dictionary([Entry])

    /// One key of a dictionary with its value.
    package struct Entry: Hashable, Sendable {
        package var key: String
        package var value: PropertyList

        package init(_ key: String, _ value: PropertyList) {
            self.key = key
            self.value = value
        }
    }
}

extension PropertyList {
    /// The value of a key where this is a dictionary that has it, else nil.
    ///
    /// - Complexity: O(keys).
    package subscript(key: String) -> PropertyList? {
        guard case .dictionary(let entries) = self else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// The same dictionary with one value set, or removed where it is nil.
    ///
    /// A key that is there keeps its place, a new one goes to the end. What is no dictionary is
    /// returned as it is.
    package func setting(_ key: String, to value: PropertyList?) -> PropertyList {
        guard case .dictionary(var entries) = self else { return self }
        let place = entries.firstIndex { $0.key == key }
        switch (place, value) {
        case (let place?, let value?): entries[place].value = value
        case (let place?, nil): entries.remove(at: place)
        case (nil, let value?): entries.append(Entry(key, value))
        case (nil, nil): break
        }
        return .dictionary(entries)
    }

    /// The text, where this is a string.
    package var text: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The number, where this is an integer that fits 64 bits.
    package var integer64: Int64? {
        if case .integer(let number) = self { Int64(exactly: number) } else { nil }
    }

    /// The bytes, where this is data.
    package var bytes: [UInt8]? {
        if case .data(let bytes) = self { bytes } else { nil }
    }

    /// The elements, where this is an array or a set.
    package var elements: [PropertyList]? {
        switch self {
        case .array(let elements), .set(let elements): elements
        default: nil
        }
    }

    /// The keys with their values, where this is a dictionary.
    package var entries: [Entry]? {
        if case .dictionary(let entries) = self { entries } else { nil }
    }
}
