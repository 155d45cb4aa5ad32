/// A value of an attribute that allows external storage, as its column holds it: a prefix byte,
/// then the bytes or the name of a file.
package enum ExternalReference: Hashable, Sendable {
    /// The value's bytes follow the prefix.
    case inline
    /// The value is in the file of that name below `_EXTERNAL_DATA`.
    case file(String)
    /// Neither: the text says what is wrong. Such a value is copied as it stands.
    case malformed

    /// The prefix of a value that stands in the column.
    package static let inlinePrefix: UInt8 = 1
    /// The prefix of a reference to a file.
    package static let filePrefix: UInt8 = 2
    /// A reference is the prefix, a UUID of 36 characters, and a zero byte.
    package static let referenceLength = 38

    /// Reads the prefix and, of a reference, the name.
    package init(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else {
            self = .malformed
            return
        }
        switch first {
        case ExternalReference.inlinePrefix: self = .inline
        case ExternalReference.filePrefix:
            guard bytes.count == ExternalReference.referenceLength, bytes[37] == 0 else {
                self = .malformed
                return
            }
            let name = bytes[1..<37]
            // A name of hexadecimal digits and hyphens alone can never leave its folder.
            let isPlain = name.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "F"),
                    UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
            self = isPlain ? .file(String(decoding: name, as: UTF8.self)) : .malformed
        default: self = .malformed
        }
    }
}
