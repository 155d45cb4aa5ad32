public import Foundation
import ManagedObjectModel

/// The value of an attribute; no value is `nil`.
public enum Value: Hashable, Sendable {
    /// Of an Integer 16, 32 or 64 attribute.
    case integer(Int64)
    /// Of a Double or Float attribute.
    case double(Double)
    /// Of a Decimal attribute.
    case decimal(Decimal)
    /// Of a Boolean attribute.
    case boolean(Bool)
    /// Of a String attribute.
    case string(String)
    /// Of a Date attribute.
    case date(Date)
    /// Of a Binary Data or Transformable attribute.
    case data(Data)
    /// Of a UUID attribute.
    case uuid(UUID)
    /// Of a URI attribute, as text.
    case uri(String)
}

extension Value: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// A double.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// A boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

extension Value {
    /// A value as the engine has it.
    init(_ value: DefaultValue) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .real(let number): self = .double(number)
        case .decimal(let text):
            // A column can hold numbers that are beyond decimals.
            let decimal = Decimal(string: text) ?? .nan
            self = decimal.isNaN ? .double(Double(text) ?? 0) : .decimal(decimal)
        case .boolean(let flag): self = .boolean(flag)
        case .text(let text): self = .string(text)
        case .date(let seconds): self = .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .data(let bytes): self = .data(Data(bytes))
        case .uuid(let bytes): self = UUID(bytes).map { .uuid($0) } ?? .data(Data(bytes))
        case .uri(let text): self = .uri(text)
        }
    }

    /// The value for the engine.
    var engineValue: DefaultValue {
        switch self {
        case .integer(let number): .integer(number)
        case .double(let number): .real(number)
        case .decimal(let number): .decimal(number.description)
        case .boolean(let flag): .boolean(flag)
        case .string(let text): .text(text)
        case .date(let date): .date(date.timeIntervalSinceReferenceDate)
        case .data(let data): .data([UInt8](data))
        case .uuid(let uuid): .uuid(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
        case .uri(let text): .uri(text)
        }
    }
}

extension UUID {
    /// A UUID of 16 bytes; nil for another number of them.
    fileprivate init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }
}
