package import ManagedObjectModel

/// The binary property list format `bplist00`, with the UIDs that keyed archives add.
///
/// Layout: the 8-byte magic, objects, a table with the offset of each object, and a 32-byte
/// trailer that says how wide offsets and references are. Numbers are big-endian.
package enum BinaryPropertyList {
    /// The first bytes of every such file.
    package static let magic = Array("bplist00".utf8)

    static let trailerSize = 32

    /// The most levels of arrays, sets and dictionaries inside each other.
    package static let depthLimit = 128

    /// Reads a property list; the bytes may be anything.
    ///
    /// Objects that are referenced many times are decoded once and shared.
    ///
    /// - Throws: `ModelError.malformed` for anything that the format does not allow, for values
    ///   nested deeper than `depthLimit`, for an object that contains itself, and for shared
    ///   references that would unfold to far more than the file holds.
    /// - Complexity: O(bytes).
    package static func read(_ bytes: [UInt8]) throws(ModelError) -> PropertyList {
        var reader = try BinaryPropertyListReader(bytes)
        return try reader.top()
    }

    /// Writes a property list: equal values give equal bytes.
    ///
    /// Equal strings, numbers, dates and data are written once, as Apple's writer does.
    ///
    /// - Complexity: O(values).
    package static func write(_ value: PropertyList) -> [UInt8] {
        var writer = BinaryPropertyListWriter()
        return writer.write(value)
    }
}

/// The first half byte of an object says what it is.
enum BinaryPropertyListMarker {
    static let integer: UInt8 = 0x1
    static let real: UInt8 = 0x2
    static let date: UInt8 = 0x3
    static let data: UInt8 = 0x4
    static let ascii: UInt8 = 0x5
    static let utf16: UInt8 = 0x6
    static let uid: UInt8 = 0x8
    static let array: UInt8 = 0xA
    static let set: UInt8 = 0xC
    static let dictionary: UInt8 = 0xD
}
