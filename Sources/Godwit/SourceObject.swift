public import Foundation
import MigrationEngine

/// An object of the source store, which nothing can change.
///
/// Godwit reads a value when it is asked for. An object is of use while the hook runs that got it.
public struct SourceObject {
    let portion: PolicyPortion
    let object: SourceObjectKey

    /// The name of its entity.
    public var entity: String { object.entity }
    /// Its primary key: the number behind `p` in its URI.
    public var key: Int64 { object.key }

    /// The value of an attribute; nil for none.
    public func value(_ attribute: String) throws -> Value? {
        try portion.value(attribute, of: object).map { Value($0) }
    }

    /// The value of a string attribute.
    ///
    /// - Throws: an error for an attribute of another type; so do the other typed reads.
    public func string(_ attribute: String) throws -> String? {
        try typed(attribute) { if case .string(let text) = $0 { text } else { nil } }
    }

    /// The value of an integer attribute.
    public func integer(_ attribute: String) throws -> Int64? {
        try typed(attribute) { if case .integer(let number) = $0 { number } else { nil } }
    }

    /// The value of a double or float attribute.
    public func double(_ attribute: String) throws -> Double? {
        try typed(attribute) { if case .double(let number) = $0 { number } else { nil } }
    }

    /// The value of a boolean attribute.
    public func boolean(_ attribute: String) throws -> Bool? {
        try typed(attribute) { if case .boolean(let flag) = $0 { flag } else { nil } }
    }

    /// The value of a date attribute.
    public func date(_ attribute: String) throws -> Date? {
        try typed(attribute) { if case .date(let date) = $0 { date } else { nil } }
    }

    /// The value of a binary attribute, also where it lies in a file of its own.
    public func data(_ attribute: String) throws -> Data? {
        try typed(attribute) { if case .data(let data) = $0 { data } else { nil } }
    }

    /// The value of a UUID attribute.
    public func uuid(_ attribute: String) throws -> UUID? {
        try typed(attribute) { if case .uuid(let uuid) = $0 { uuid } else { nil } }
    }

    /// A part of the value of a binary or string attribute.
    ///
    /// Godwit reads no more than the part, so that a value need not fit into memory.
    ///
    /// - Parameters:
    ///   - attribute: its name.
    ///   - offset: of the first byte, from 0.
    ///   - count: the most bytes.
    /// - Returns: fewer bytes at the end of the value, nil where there is none.
    /// - Throws: an error for an attribute of another type.
    public func bytes(_ attribute: String, from offset: Int64, count: Int64) throws -> Data? {
        try portion.bytes(attribute, of: object, from: offset, count: count).map { Data($0) }
    }

    /// The object behind a to-one relationship; nil for none.
    public func object(_ relationship: String) throws -> SourceObject? {
        try portion.target(relationship, of: object).map {
            SourceObject(portion: portion, object: $0)
        }
    }

    /// Calls a body for every object behind a relationship, in the order of keys.
    public func forEachObject(
        _ relationship: String, _ body: (SourceObject) throws -> Void
    ) throws {
        try portion.forEachTarget(relationship, of: object) {
            try body(SourceObject(portion: portion, object: $0))
        }
    }

    /// The number of objects behind a relationship.
    public func count(_ relationship: String) throws -> Int {
        var count = 0
        try portion.forEachTarget(relationship, of: object) { _ in count += 1 }
        return count
    }

    private func typed<Content>(
        _ attribute: String, _ content: (Value) -> Content?
    ) throws -> Content? {
        guard let value = try value(attribute) else { return nil }
        guard let found = content(value) else {
            throw PolicyFailure("source attribute \(entity).\(attribute) is of another type")
        }
        return found
    }
}
