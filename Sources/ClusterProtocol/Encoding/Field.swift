import SwiftProtobuf

/// Reads fields of decoded bodies: what is missing or unknown is an error, never a default.
enum Field {
    /// The value of a field that must be there.
    static func required<Value>(
        _ value: Value, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) -> Value {
        guard isPresent else { throw .missing(field: field) }
        return value
    }

    /// A number that must be there.
    static func int(
        _ value: Int64, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) -> Int {
        guard isPresent else { throw .missing(field: field) }
        guard let number = Int(exactly: value) else { throw .outOfRange(field: field, value) }
        return number
    }

    /// A number that may be absent.
    static func optionalInt(
        _ value: Int64, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) -> Int? {
        isPresent ? try int(value, true, field) : nil
    }

    /// A number with a fixed meaning.
    static func meaning<Value: RawRepresentable>(
        _ value: Int64, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) -> Value where Value.RawValue == Int {
        let number = try int(value, isPresent, field)
        guard let meaning = Value(rawValue: number) else {
            throw .unknownValue(field: field, value)
        }
        return meaning
    }

    /// A word with a fixed meaning.
    static func named<Value: RawRepresentable>(
        _ word: String, _ field: String
    ) throws(ProtocolError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: word) else {
            throw .badText(field: field, reason: "is not a known word")
        }
        return value
    }

    /// Text for people.
    static func people(
        _ text: String, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) -> String {
        guard isPresent else { throw .missing(field: field) }
        guard PeopleText.isClean(text) else {
            throw .badText(field: field, reason: "is too long or holds control characters")
        }
        return text
    }

    /// Text for people that may be absent.
    static func optionalPeople(
        _ text: String, _ isPresent: Bool, _ field: String
    ) throws(ProtocolError) -> String? {
        isPresent ? try people(text, true, field) : nil
    }

    /// Within a version every field of a message is known.
    static func known(_ body: some Message, _ message: String) throws(ProtocolError) {
        guard body.unknownFields == UnknownStorage() else { throw .unknownFields(message) }
    }
}
