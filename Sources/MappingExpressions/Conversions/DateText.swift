/// Dates written as texts, and read from them.
enum DateText {
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ]
    private static let weekdays = [
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
    ]

    /// The names of months or weekdays, three letters of each where the pattern has fewer than
    /// four.
    private static func names(_ field: DateFormat.Field, width: Int) -> [String] {
        let names = field == .month ? months : weekdays
        return width < 4 ? names.map { String($0.prefix(3)) } : names
    }

    static func padded(_ number: Int, _ width: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, width - text.count)) + text
    }

    // MARK: - Writing

    /// A date as a text; nil outside of the years 1 to 9999.
    ///
    /// `seconds`: since 2001-01-01 00:00:00 UTC. Fractions are rounded to the digits of the
    /// format; without such digits, they are cut off.
    static func text(_ seconds: Double, _ format: DateFormat) -> String? {
        guard
            let date = CalendarDate(seconds, offset: format.offset, digits: format.fractionDigits)
        else {
            return nil
        }
        var text = ""
        for part in format.parts {
            switch part {
            case .literal(let literal): text += literal
            case .field(let field, let width):
                text += self.text(date, field, width: width, offset: format.offset)
            }
        }
        return text
    }

    /// A date by ISO 8601, in UTC, with as many digits of the second as it has.
    static func text(_ seconds: Double) -> String? {
        guard let date = CalendarDate(seconds, offset: 0, digits: 6) else { return nil }
        let clock = [date.second / 3_600, date.second / 60 % 60, date.second % 60]
        let day = padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2)
        var text = day + "T" + clock.map { padded($0, 2) }.joined(separator: ":")
        if date.nanosecond != 0 {
            var digits = padded(date.nanosecond / 1_000, 6)[...]
            while digits.last == "0" { digits.removeLast() }
            text += ".\(digits)"
        }
        return text + "Z"
    }

    private static func text(
        _ date: CalendarDate, _ field: DateFormat.Field, width: Int, offset: Int
    ) -> String {
        switch field {
        case .year: return width == 2 ? padded(date.year % 100, 2) : padded(date.year, width)
        case .month where width > 2: return names(.month, width: width)[date.month - 1]
        case .month: return padded(date.month, width)
        case .day: return padded(date.day, width)
        case .weekday: return names(.weekday, width: width)[date.weekday]
        case .half: return date.second < 43_200 ? "AM" : "PM"
        case .hour: return padded(date.second / 3_600, width)
        case .halfHour: return padded((date.second / 3_600 + 11) % 12 + 1, width)
        case .minute: return padded(date.second / 60 % 60, width)
        case .second: return padded(date.second % 60, width)
        case .fraction: return String(padded(date.nanosecond, 9).prefix(width))
        case .offset where offset == 0: return "Z"
        case .plainOffset where offset == 0: return "+0000"
        case .offset, .plainOffset:
            let zone = DateFormat.zone(offset)
            if field == .offset, width == 3 { return zone }
            let isWhole = field == .offset && width == 1 && offset % 3_600 == 0
            return isWhole ? String(zone.prefix(3)) : zone.filter { $0 != ":" }
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
        let widths = parts.map { part in
            if case .field(.fraction, let width) = part { width } else { 0 }
        }
        let most = widths.max() ?? 0
        return most == 0 ? 6 : min(most, 6)
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
