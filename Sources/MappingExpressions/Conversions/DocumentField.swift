import Foundation
package import ManagedObjectModel

/// One value of a JSON document or a property list.
package struct DocumentField: Hashable, Sendable, Codable {
    /// The forms of documents.
    package enum Form: String, Hashable, Sendable, Codable, CaseIterable {
        case json
        /// A property list, binary or XML.
        case plist
    }

    package let form: Form
    /// Keys of dictionaries, and places in lists that count from 0; at least one.
    package let path: [String]

    package init(form: Form, path: [String]) {
        self.form = form
        self.path = path
    }

    /// The value in a document.
    ///
    /// - Parameter document: a text, or bytes.
    /// - Returns: nil where the path leads nowhere or to null.
    /// - Throws: `ExpressionError` for what is no document, and for a list or a dictionary at the
    ///   end of the path.
    /// - Complexity: O(size of the document).
    package func value(in document: DefaultValue) throws(ExpressionError) -> DefaultValue? {
        let bytes: Data
        switch document {
        case .text(let text): bytes = Data(text.utf8)
        case .data(let data): bytes = Data(data)
        default: throw ExpressionError(.evaluation, "\(document.kindName) is not a document")
        }
        do {
            return switch form {
            case .json: try Self.json(path).decode(DecodedField.self, from: bytes).value
            case .plist: try Self.plist(path).decode(DecodedField.self, from: bytes).value
            }
        } catch let error as ExpressionError {
            throw error
        } catch {
            // The error's own words quote the document.
            throw ExpressionError(.evaluation, "the value is not a \(form.rawValue) document")
        }
    }

    private static func json(_ path: [String]) -> JSONDecoder {
        let decoder = JSONDecoder()
        if let key = DecodedField.pathKey { decoder.userInfo[key] = path }
        return decoder
    }

    private static func plist(_ path: [String]) -> PropertyListDecoder {
        let decoder = PropertyListDecoder()
        if let key = DecodedField.pathKey { decoder.userInfo[key] = path }
        return decoder
    }
}

/// A value at the end of a path; the rest of the document is not made into values.
private struct DecodedField: Decodable {
    static let pathKey = CodingUserInfoKey(rawValue: "path")

    let value: DefaultValue?

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }

        init?(intValue: Int) { nil }
    }

    init(from decoder: any Decoder) throws {
        let path = Self.pathKey.flatMap { decoder.userInfo[$0] as? [String] } ?? []
        // A single word is a property list of the old form, but no document.
        guard Self.isContainer(decoder) else {
            throw ExpressionError(.evaluation, "the value is not a document with fields")
        }
        value = try Self.value(path[...], of: decoder)
    }

    private static func value(
        _ path: ArraySlice<String>, of decoder: any Decoder
    ) throws -> DefaultValue? {
        guard let key = path.first else { return try scalar(decoder) }
        if let fields = found({ try decoder.container(keyedBy: Name.self) }) {
            let name = Name(stringValue: key)
            guard fields.contains(name) else { return nil }
            return try value(path.dropFirst(), of: try fields.superDecoder(forKey: name))
        }
        guard var list = found({ try decoder.unkeyedContainer() }), let place = Int(key),
            place >= 0
        else { return nil }
        while !list.isAtEnd {
            let isWanted = list.currentIndex == place
            let member = try list.superDecoder()
            if isWanted { return try value(path.dropFirst(), of: member) }
        }
        return nil
    }

    /// The value by what it is decoded as: the order tells the kinds of both forms apart.
    private static func scalar(_ decoder: any Decoder) throws -> DefaultValue? {
        let single = try decoder.singleValueContainer()
        if single.decodeNil() { return nil }
        if !isContainer(decoder) {
            if let flag = found({ try single.decode(Bool.self) }) { return .boolean(flag) }
            if let number = found({ try single.decode(Int64.self) }) { return .integer(number) }
            if let number = try number(single) { return number }
            if let text = found({ try single.decode(String.self) }) { return .text(text) }
            if let date = found({ try single.decode(Date.self) }) {
                return .date(date.timeIntervalSinceReferenceDate)
            }
            if let data = found({ try single.decode(Data.self) }) { return .data([UInt8](data)) }
        }
        throw ExpressionError(.evaluation, "the field is not a single value")
    }

    /// A number beyond integers; one with more digits than a real number has stays a decimal.
    private static func number(_ single: any SingleValueDecodingContainer) throws -> DefaultValue? {
        if let large = found({ try single.decode(UInt64.self) }) { return .decimal("\(large)") }
        guard let real = found({ try single.decode(Double.self) }) else { return nil }
        guard let decimal = found({ try single.decode(Decimal.self) }),
            let wanted = DecimalNumber("\(decimal)"), DecimalNumber("\(real)") != wanted
        else { return .real(real) }
        return .decimal(wanted.text)
    }

    private static func isContainer(_ decoder: any Decoder) -> Bool {
        found({ try decoder.container(keyedBy: Name.self) }) != nil
            || found({ try decoder.unkeyedContainer() }) != nil
    }

    /// What decoding gives; nil for a value of another kind.
    private static func found<Value>(_ decode: () throws -> Value) -> Value? {
        do { return try decode() } catch { return nil }
    }
}
