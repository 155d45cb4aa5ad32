import GRDBSQLite

/// Text of SQL, or a piece of it: what `Connection` runs.
///
/// Only literals in the source are taken as they stand. A `String`, which may hold a name or a
/// value from a stranger's file, becomes a piece through `quoted`, `declared`, `text` or `literal`
/// alone; interpolating it directly does not compile.
package struct SQLText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// The text itself.
    package private(set) var description: String

    /// Takes a literal of the source.
    package init(stringLiteral value: String) { description = value }

    package init(stringInterpolation: StringInterpolation) {
        description = stringInterpolation.text
    }

    /// Takes numbers and other pieces of SQL, and nothing else.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text: String

        package init(literalCapacity: Int, interpolationCount: Int) {
            text = ""
            text.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        /// Takes what stands in the source.
        package mutating func appendLiteral(_ literal: String) { text += literal }

        /// Takes a piece of SQL.
        package mutating func appendInterpolation(_ piece: SQLText) { text += piece.description }

        /// Takes a whole number.
        package mutating func appendInterpolation(_ number: some FixedWidthInteger) {
            text += String(number)
        }
    }

    fileprivate init(unchecked text: String) { description = text }

    /// One piece behind the other.
    package static func + (left: SQLText, right: SQLText) -> SQLText {
        SQLText(unchecked: left.description + right.description)
    }

    /// Appends a piece.
    package static func += (left: inout SQLText, right: SQLText) {
        left.description += right.description
    }
}

extension SQLText: CustomStringConvertible {}

extension SQLText {
    /// A name in double quotes, safe for any name: how statements of ours name tables and columns.
    package static func quoted(_ name: String) -> SQLText {
        // Hardly any name has one, and looking at bytes is many times cheaper than replacing.
        guard name.utf8.contains(UInt8(ascii: "\"")) else {
            return SQLText(unchecked: enclosed(name, "\""))
        }
        return SQLText(unchecked: "\"" + name.replacing("\"", with: "\"\"") + "\"")
    }

    /// A name as Core Data writes it into the schema: as it stands where SQLite takes it for a
    /// name, in double quotes otherwise.
    ///
    /// SQLite takes letters and `_`, and behind the first byte also digits, `$` and every byte of a
    /// character outside ASCII; its keywords are no names.
    package static func declared(_ name: String) -> SQLText {
        guard let first = name.unicodeScalars.first,
            first == "_" || (first.isASCII && first.properties.isAlphabetic),
            name.utf8.allSatisfy(isNameByte), !isKeyword(name)
        else { return quoted(name) }
        return SQLText(unchecked: name)
    }

    private static func isKeyword(_ name: String) -> Bool {
        // Hardly any name begins otherwise, and no keyword begins like that.
        guard name.utf8.first != UInt8(ascii: "Z") else { return false }
        return sqlite3_keyword_check(name, Int32(clamping: name.utf8.count)) != 0
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
            true
        default: false
        }
    }

    private static func enclosed(_ text: String, _ quote: String) -> String {
        var result = quote
        result += text
        result += quote
        return result
    }

    /// A text in single quotes.
    package static func text(_ text: String) -> SQLText {
        guard text.utf8.contains(UInt8(ascii: "'")) else {
            return SQLText(unchecked: enclosed(text, "'"))
        }
        return SQLText(unchecked: "'" + text.replacing("'", with: "''") + "'")
    }

    /// Bytes as a blob literal.
    package static func blob(_ bytes: [UInt8]) -> SQLText {
        let digits = Array("0123456789ABCDEF".utf8)
        var text: [UInt8] = Array("X'".utf8)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        text.append(UInt8(ascii: "'"))
        return SQLText(unchecked: String(decoding: text, as: UTF8.self))
    }

    /// A number as a literal of SQL, always REAL; nil for one that is not finite.
    package static func real(_ number: Double) -> SQLText? {
        guard number.isFinite else { return nil }
        // A Double's shortest text reads back as the same number; SQLite takes it as REAL only
        // with a point or an exponent.
        let text = "\(number)"
        return SQLText(unchecked: text.contains(where: { ".eE".contains($0) }) ? text : text + ".0")
    }

    /// A name that stands in the source.
    package static func name(of constant: StaticString) -> SQLText {
        SQLText(unchecked: constant.description)
    }

    /// Numbers with commas between them.
    package static func list(_ numbers: some Sequence<some FixedWidthInteger>) -> SQLText {
        SQLText(unchecked: numbers.map { String($0) }.joined(separator: ", "))
    }

    /// The statement that made an object of a stranger's file.
    ///
    /// For `Connection.create` alone, which lets it do nothing but make that object.
    static func statement(of object: SchemaObject) -> SQLText? {
        object.sql.map { SQLText(unchecked: $0) }
    }
}

extension [SQLText] {
    /// The pieces one after the other, with a separator between them.
    package func joined(separator: SQLText = "") -> SQLText {
        var text = ""
        text.reserveCapacity(
            reduce(count * separator.description.utf8.count) { sum, piece in
                sum + piece.description.utf8.count
            })
        for index in indices {
            if index > 0 { text += separator.description }
            text += self[index].description
        }
        return SQLText(unchecked: text)
    }
}

extension SQLText {
    /// The sum of whole numbers of several rows.
    ///
    /// The sum of SQLite ends the statement where it has more than 64 bits, also on the way.
    ///
    /// - Parameter column: an expression over each row; reals in it are summed as reals.
    /// - Returns: an aggregate: exact, 0 for no rows, and infinite for more than 64 bits.
    package static func sum(ofIntegers column: SQLText) -> SQLText {
        // The lower 32 bits of all values, and what is beyond them.
        let low: SQLText = "ifnull(sum(\(column) & 4294967295), 0)"
        let high: SQLText = "(ifnull(sum(\(column) >> 32), 0) + (\(low) >> 32))"
        return "CASE WHEN count(\(column)) > total(typeof(\(column)) = 'integer') "
            + "THEN total(\(column)) WHEN \(high) BETWEEN -2147483648 AND 2147483647 "
            + "THEN (\(high) << 32) | (\(low) & 4294967295) ELSE 9e999 END"
    }
}
