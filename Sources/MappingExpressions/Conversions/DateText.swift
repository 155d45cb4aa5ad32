/// Dates written as texts, and read from them.
enum DateText {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]
    private static let weekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    private static let shortMonths = months.map { String($0.prefix(3)) }
    private static let shortWeekdays = weekdays.map { String($0.prefix(3)) }

    /// The names of months or weekdays, three letters of each where the pattern has fewer than
    /// four.
    private static func names(_ field: DateFormat.Field, width: Int) -> [String] {
        if field == .month { return width < 4 ? shortMonths : months }
        return width < 4 ? shortWeekdays : weekdays
    }

    // MARK: - Writing

    /// A date as a text in UTF-8; nil outside of the years 1 to 9999.
    ///
    /// `seconds`: since 2001-01-01 00:00:00 UTC. Fractions are rounded to the digits of the
    /// format; without such digits, they are cut off.
    static func utf8(_ seconds: Double, _ format: DateFormat) -> [UInt8]? {
        guard
            let date = CalendarDate(seconds, offset: format.offset, digits: format.fractionDigits)
        else { return nil }
        return [UInt8](unsafeUninitializedCapacity: format.longestText) { buffer, count in
            var writer = DateTextWriter(buffer)
            for part in format.parts {
                switch part {
                case .literal(let literal): writer.add(literal)
                case .field(let field, let width):
                    add(date, field, width: width, offset: format.offset, to: &writer)
                }
            }
            count = writer.count
        }
    }

    /// A date by ISO 8601, in UTC, with as many digits of the second as it has.
    static func utf8(_ seconds: Double) -> [UInt8]? {
        guard let date = CalendarDate(seconds, offset: 0, digits: 6) else { return nil }
        // 0001-01-01T00:00:00.000000Z
        return [UInt8](unsafeUninitializedCapacity: 27) { buffer, count in
            var writer = DateTextWriter(buffer)
            for (number, width, end) in [
                (date.year, 4, "-"), (date.month, 2, "-"), (date.day, 2, "T"),
                (date.second / 3_600, 2, ":"), (date.second / 60 % 60, 2, ":"),
                (date.second % 60, 2, ""),
            ] {
                writer.add(number, width)
                writer.add(end)
            }
            var (fraction, width) = (date.nanosecond / 1_000, 6)
            while fraction != 0, fraction % 10 == 0 {
                (fraction, width) = (fraction / 10, width - 1)
            }
            if fraction != 0 {
                writer.add(".")
                writer.add(fraction, width)
            }
            writer.add("Z")
            count = writer.count
        }
    }

    private static func add(
        _ date: CalendarDate, _ field: DateFormat.Field, width: Int, offset: Int,
        to writer: inout DateTextWriter
    ) {
        switch field {
        case .year where width == 2: writer.add(date.year % 100, 2)
        case .year: writer.add(date.year, width)
        case .month where width > 2: writer.add(names(.month, width: width)[date.month - 1])
        case .month: writer.add(date.month, width)
        case .day: writer.add(date.day, width)
        case .weekday: writer.add(names(.weekday, width: width)[date.weekday])
        case .half: writer.add(date.second < 43_200 ? "AM" : "PM")
        case .hour: writer.add(date.second / 3_600, width)
        case .halfHour: writer.add((date.second / 3_600 + 11) % 12 + 1, width)
        case .minute: writer.add(date.second / 60 % 60, width)
        case .second: writer.add(date.second % 60, width)
        case .fraction:
            let fraction = (width..<9).reduce(date.nanosecond) { number, _ in number / 10 }
            writer.add(fraction, width)
        case .offset where offset == 0: writer.add("Z")
        case .offset, .plainOffset:
            let minutes = Int(offset.magnitude / 60)
            writer.add(offset < 0 ? "-" : "+")
            writer.add(minutes / 60, 2)
            if field == .offset, width == 3 { writer.add(":") }
            if field == .plainOffset || width > 1 || offset % 3_600 != 0 {
                writer.add(minutes % 60, 2)
            }
        }
    }

    // MARK: - Reading

    /// Seconds since 2001-01-01 00:00:00 UTC; nil for a text that is not exactly of the format.
    static func seconds(_ text: String, _ format: DateFormat) -> Double? {
        var reader = DateTextReader(text)
        var date = CalendarDate()
        var offset = format.offset
        var isAfternoon: Bool?
        var weekday: Int?
        for (place, part) in format.parts.enumerated() {
            switch part {
            case .literal(let literal): guard reader.accept(literal) else { return nil }
            case .field(let field, let width):
                switch field {
                case .month where width > 2:
                    guard let name = reader.name(of: names(field, width: width)) else {
                        return nil
                    }
                    date.month = name + 1
                case .weekday:
                    guard let name = reader.name(of: names(field, width: width)) else {
                        return nil
                    }
                    weekday = name
                case .half:
                    guard let half = reader.name(of: ["AM", "PM"]) else { return nil }
                    isAfternoon = half == 1
                case .offset, .plainOffset:
                    guard
                        let found = reader.offset(width: width, isPlain: field == .plainOffset)
                    else { return nil }
                    offset = found
                default:
                    let isFixed = width > 1 || format.isNumber(place + 1)
                    guard
                        let number = reader.number(
                            digits: isFixed ? width : field.mostDigits, isFixed: isFixed),
                        set(field, number, width: width, in: &date)
                    else { return nil }
                }
            }
        }
        guard reader.isAtEnd else { return nil }
        if let isAfternoon { date.second += isAfternoon ? 43_200 : 0 }
        if let weekday, weekday != date.weekday { return nil }
        return date.seconds(offset: offset)
    }

    /// Seconds since 2001-01-01 00:00:00 UTC; nil for a text that no form of ISO 8601 is.
    static func seconds(_ text: String) -> Double? {
        guard text.utf8.count >= 10 else { return nil }
        var text = text
        // Any number of digits of a second.
        if let dot = text.firstIndex(of: ".") {
            let digits = text[text.index(after: dot)...].prefix { $0.isASCII && $0.isNumber }
            guard (1...9).contains(digits.count) else { return nil }
            let six = digits.prefix(6) + String(repeating: "0", count: max(0, 6 - digits.count))
            guard digits.dropFirst(6).allSatisfy({ $0 == "0" }) else { return nil }
            text.replaceSubrange(digits.startIndex..<digits.endIndex, with: six)
        }
        for format in DateFormat.standard {
            if let found = seconds(text, format) { return found }
        }
        return nil
    }

    /// Sets a part of a date; false for a number that it cannot be.
    private static func set(
        _ field: DateFormat.Field, _ number: Int, width: Int, in date: inout CalendarDate
    ) -> Bool {
        switch field {
        case .year: date.year = number
        case .month: date.month = number
        case .day: date.day = number
        case .hour:
            guard number < 24 else { return false }
            date.second += number * 3_600
        case .halfHour:
            guard (1...12).contains(number) else { return false }
            date.second += number % 12 * 3_600
        case .minute:
            guard number < 60 else { return false }
            date.second += number * 60
        case .second:
            guard number < 60 else { return false }
            date.second += number
        default: date.nanosecond = (width..<9).reduce(number) { product, _ in product * 10 }
        }
        return true
    }
}

extension DateFormat.Field {
    /// The most digits of a number of this part that has no fixed width.
    fileprivate var mostDigits: Int {
        switch self {
        case .year: 4
        case .fraction: 1
        default: 2
        }
    }
}

extension DateFormat {
    /// The digits of a second that are told apart: the format's, up to the microseconds that a
    /// date's real number has.
    fileprivate var fractionDigits: Int {
        var most = 0
        for case .field(.fraction, let width) in parts { most = max(most, width) }
        return most == 0 ? 6 : min(most, 6)
    }

    /// The most bytes of a text.
    fileprivate var longestText: Int {
        parts.reduce(0) { sum, part in
            switch part {
            case .literal(let literal): sum + literal.utf8.count
            // "Wednesday", "September", nine digits of a second.
            case .field: sum + 9
            }
        }
    }

    /// Whether a part begins with a digit, so that the number before it must have its own width.
    fileprivate func isNumber(_ place: Int) -> Bool {
        guard parts.indices.contains(place) else { return false }
        switch parts[place] {
        case .literal(let text): return text.first?.isNumber == true
        case .field(.weekday, _), .field(.half, _), .field(.offset, _), .field(.plainOffset, _):
            return false
        case .field(.month, let width): return width <= 2
        case .field: return true
        }
    }
}

/// Writes the parts of a date into room for them.
private struct DateTextWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    mutating func add(_ text: String) {
        for byte in text.utf8 {
            buffer[count] = byte
            count += 1
        }
    }

    /// A number from 0 on, with zeros before it up to a width.
    mutating func add(_ number: Int, _ width: Int) {
        var (digits, most) = (1, 10)
        while number >= most { (digits, most) = (digits + 1, most * 10) }
        digits = max(digits, width)
        var rest = number
        for place in stride(from: count + digits - 1, through: count, by: -1) {
            buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += digits
    }
}

/// Reads the parts of a date from the start of a text.
struct DateTextReader {
    private var rest: Substring.UTF8View

    init(_ text: String) { rest = text[...].utf8 }

    var isAtEnd: Bool { rest.isEmpty }

    /// Takes a text away; false where the rest does not begin with it.
    mutating func accept(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// A number of ASCII digits: exactly so many, or at least one and at most so many.
    mutating func number(digits: Int, isFixed: Bool) -> Int? {
        let found = rest.prefix(digits).prefix { (0x30...0x39).contains($0) }
        guard !found.isEmpty, !isFixed || found.count == digits else { return nil }
        rest = rest.dropFirst(found.count)
        return found.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    /// The place of a name, whatever the cases of its letters.
    mutating func name(of names: [String]) -> Int? {
        for (place, name) in names.enumerated() {
            let head = rest.prefix(name.utf8.count)
            let isEqual = head.elementsEqual(name.utf8) { $0 | 0x20 == $1 | 0x20 }
            guard isEqual else { continue }
            rest = rest.dropFirst(name.utf8.count)
            return place
        }
        return nil
    }

    /// Seconds east of UTC: `+02`, `+0200` or `+02:00` by the width, and `Z` unless it is plain.
    mutating func offset(width: Int, isPlain: Bool) -> Int? {
        if !isPlain, accept("Z") { return 0 }
        let isEast = accept("+")
        guard isEast || accept("-") else { return nil }
        guard let hours = number(digits: 2, isFixed: true), hours <= 14 else { return nil }
        var minutes = 0
        let hasColon = width == 3 && accept(":")
        guard hasColon == (width == 3) else { return nil }
        let isOptional = width == 1 && !isPlain
        if let found = number(digits: 2, isFixed: true) {
            guard found < 60 else { return nil }
            minutes = found
        } else if !isOptional {
            return nil
        }
        return (isEast ? 1 : -1) * (hours * 3_600 + minutes * 60)
    }
}
