import Foundation
import ManagedObjectModel

extension DefaultValue {
    /// What a boolean word of the XML means, in any case: YES, true, 1 or NO, false, 0.
    static func truth(_ word: String) -> Bool? {
        switch word.lowercased() {
        case "yes", "true", "1": true
        case "no", "false", "0": false
        default: nil
        }
    }

    /// The default that the text of an XML attribute (`defaultValueString`) stands for.
    ///
    /// It is nil where the text is no value of the type, or where no text can be one.
    init?(text: String, type: AttributeType) {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = Self.integer(text, type) else { return nil }
            self = .integer(number)
        case .double, .float:
            guard let number = Double(text), number.isFinite else { return nil }
            self = .real(number)
        case .decimal:
            guard Self.isDecimal(text) else { return nil }
            self = .decimal(text)
        case .boolean:
            guard let truth = Self.truth(text) else { return nil }
            self = .boolean(truth)
        case .string: self = .text(text)
        case .uri: self = .uri(text)
        case .uuid:
            guard let bytes = Self.uuid(text) else { return nil }
            self = .uuid(bytes)
        case .undefined, .date, .binary, .transformable, .objectID, .composite: return nil
        }
    }

    /// A whole number in the range of the type.
    ///
    /// `0.0` and `NO` remain where an attribute once had another type, and mean 0: models of
    /// which Core Data's compiled form is known say so for `NO`.
    private static func integer(_ text: String, _ type: AttributeType) -> Int64? {
        if text == "NO" { return 0 }
        guard let number = Int64(text) ?? Double(text).flatMap({ Int64(exactly: $0) }) else {
            return nil
        }
        switch type {
        case .integer16: return Int16(exactly: number) == nil ? nil : number
        case .integer32: return Int32(exactly: number) == nil ? nil : number
        default: return number
        }
    }

    /// Whether the text is a decimal number: sign, digits, point, digits, exponent.
    private static func isDecimal(_ text: String) -> Bool {
        guard text.utf8.count <= 200, let number = Double(text), number.isFinite else {
            return false
        }
        let marks = Set("+-.eE".utf8)
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) || marks.contains($0) }
    }

    /// The 16 bytes of a UUID in its form of 36 characters.
    private static func uuid(_ text: String) -> [UInt8]? {
        guard let value = UUID(uuidString: text) else { return nil }
        return withUnsafeBytes(of: value.uuid) { [UInt8]($0) }
    }
}
