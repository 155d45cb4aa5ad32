/// How dates are written as texts: a pattern in the letters of Unicode (UTS 35), in English and
/// without regard to any locale.
///
/// Foundation's formatter is not used: it takes `26-01-05` for the year 26, and its tables change
/// with the toolchain of each machine.
package struct DateFormat: Hashable, Sendable, Codable {
    /// Such as `dd.MM.yyyy HH:mm`.
    package let pattern: String
    /// The clock that texts without an offset of their own show: seconds east of UTC.
    package let offset: Int
    let parts: [Part]

    /// A run of one letter, or what stands as it is.
    enum Part: Hashable, Sendable, Codable {
        case literal(String)
        case field(Field, width: Int)
    }

    enum Field: String, Hashable, Sendable, Codable {
        case year = "y"
        case month = "M"
        case day = "d"
        case weekday = "E"
        case half = "a"
        case hour = "H"
        case halfHour = "h"
        case minute = "m"
        case second = "s"
        case fraction = "S"
        /// With `Z` for UTC.
        case offset = "X"
        case plainOffset = "Z"

        /// The numbers of letters that have a meaning.
        var widths: ClosedRange<Int> {
            switch self {
            case .year: 1...4
            case .month: 1...4
            case .weekday: 1...4
            case .day, .hour, .halfHour, .minute, .second: 1...2
            case .half, .plainOffset: 1...1
            case .fraction: 1...9
            case .offset: 1...3
            }
        }
    }

    /// - Parameters:
    ///   - pattern: letters, and literals in single quotation marks.
    ///   - offset: seconds east of UTC.
    /// - Throws: `ExpressionError` for a letter without a meaning, and for an open quotation.
    package init(_ pattern: String, offset: Int = 0) throws(ExpressionError) {
        self.pattern = pattern
        self.offset = offset
        parts = try Self.parts(pattern)
        guard parts.contains(where: { if case .field = $0 { true } else { false } }) else {
            throw ExpressionError(.syntax, "the format of dates has no letter for a part of one")
        }
    }

    private static func parts(_ pattern: String) throws(ExpressionError) -> [Part] {
        var parts: [Part] = []
        var rest = pattern[...]
        while let first = rest.first {
            if first == "'" {
                parts.append(.literal(try quotation(&rest)))
            } else if first.isASCII, first.isLetter {
                let run = rest.prefix { $0 == first }
                rest = rest.dropFirst(run.count)
                parts.append(try field(String(first), width: run.count))
            } else {
                let run = rest.prefix { $0 != "'" && !($0.isASCII && $0.isLetter) }
                rest = rest.dropFirst(run.count)
                parts.append(.literal(String(run)))
            }
        }
        return parts
    }

    /// A literal in quotation marks; two of them are one.
    private static func quotation(_ rest: inout Substring) throws(ExpressionError) -> String {
        rest.removeFirst()
        if rest.first == "'" {
            rest.removeFirst()
            return "'"
        }
        var text = ""
        while let first = rest.popFirst() {
            guard first == "'" else {
                text.append(first)
                continue
            }
            guard rest.first == "'" else { return text }
            rest.removeFirst()
            text.append("'")
        }
        throw ExpressionError(.syntax, "the format of dates has a ' without its second one")
    }

    private static func field(
        _ letter: String, width: Int
    ) throws(ExpressionError) -> Part {
        guard let field = Field(rawValue: letter), field.widths.contains(width),
            !(field == .year && width == 3)
        else {
            throw ExpressionError(
                .unknownName,
                "the format of dates has no \(String(repeating: letter, count: width)): known are "
                    + "y, yy, yyyy, M to MMMM, d, dd, E to EEEE, a, H, HH, h, hh, m, mm, s, ss, "
                    + "one to nine S, one to three X, and Z; other letters stand in single "
                    + "quotation marks")
        }
        return .field(field, width: width)
    }

    /// Why texts cannot be read by it; nil where they can.
    package var unreadable: String? {
        var fields: Set<Field> = []
        for case .field(let field, let width) in parts {
            if field == .year, width == 2 {
                return "two digits do not determine the century: write yyyy"
            }
            guard fields.insert(field).inserted else {
                return "\(field.rawValue) occurs twice"
            }
        }
        for field in [Field.year, .month, .day] where !fields.contains(field) {
            return "it has no \(field.rawValue), and a date needs year, month and day"
        }
        if fields.contains(.halfHour) != fields.contains(.half) {
            return "h and a belong together; H is the hour of 24"
        }
        if fields.contains(.hour), fields.contains(.halfHour) { return "it has both H and h" }
        return nil
    }

    // MARK: - Offsets

    /// What an expression names it by: the pattern, and the offset where it is not UTC.
    var arguments: [String] { offset == 0 ? [pattern] : [pattern, Self.zone(offset)] }

    /// `+02:00`; `UTC` without an offset.
    package static func zone(_ offset: Int) -> String {
        guard offset != 0 else { return "UTC" }
        let minutes = offset.magnitude / 60
        let parts = [minutes / 60, minutes % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
        return (offset < 0 ? "-" : "+") + parts.joined(separator: ":")
    }

    /// A date as a text in UTF-8.
    ///
    /// - Parameters:
    ///   - seconds: since 2001-01-01 00:00:00 UTC.
    ///   - format: nil for ISO 8601 in UTC.
    /// - Returns: nil outside of the years 1 to 9999.
    package static func utf8(_ seconds: Double, _ format: DateFormat?) -> [UInt8]? {
        if let format { DateText.utf8(seconds, format) } else { DateText.utf8(seconds) }
    }

    /// Seconds east of UTC; nil for a text that is neither `UTC` nor like `+02:00`.
    package static func offset(_ zone: String) -> Int? {
        if zone == "UTC" { return 0 }
        var reader = DateTextReader(zone)
        guard let offset = reader.offset(width: 3, isPlain: true), reader.isAtEnd else {
            return nil
        }
        return offset
    }
}

extension DateFormat {
    /// The forms of ISO 8601 that are read without a format, the most precise first.
    static let standard: [DateFormat] = {
        let days = "yyyy-MM-dd"
        let times = ["HH:mm:ss.SSSSSS", "HH:mm:ss", "HH:mm"]
        var patterns: [String] = []
        for time in times {
            for between in ["'T'", " "] {
                let local = "\(days)\(between)\(time)"
                patterns += [local + String(repeating: "X", count: 3), local]
            }
        }
        return (patterns + [days]).compactMap { pattern in
            do { return try DateFormat(pattern) } catch { return nil }
        }
    }()
}
