/// A moment in the parts that people write, in the proleptic Gregorian calendar of ISO 8601.
struct CalendarDate: Hashable, Sendable {
    var year = 2001
    /// From 1 to 12.
    var month = 1
    /// From 1 to 31.
    var day = 1
    /// Of the day, from 0 to 86,399.
    var second = 0
    /// From 0 to 999,999,999.
    var nanosecond = 0

    static let years = 1...9999
    /// The day 2001-01-01, by which Core Data counts, in days since 1970-01-01.
    private static let referenceDay = 11_323

    init() {}

    /// Nil outside of the years 1 to 9999.
    ///
    /// - Parameters:
    ///   - seconds: since 2001-01-01 00:00:00 UTC.
    ///   - offset: of the clock that is read, in seconds east of UTC.
    ///   - digits: of the fraction of a second; further ones are rounded.
    init?(_ seconds: Double, offset: Int, digits: Int) {
        guard seconds.isFinite, seconds.magnitude < 1e12 else { return nil }
        var whole = seconds.rounded(.down)
        let scale = Self.power(digits)
        var part = ((seconds - whole) * scale).rounded()
        if part >= scale { (whole, part) = (whole + 1, 0) }
        let local = Int(whole) + offset
        let days = Self.floored(local, 86_400)
        second = local - days * 86_400
        nanosecond = Int(part) * Int(Self.power(9 - digits))
        (year, month, day) = Self.civil(days + Self.referenceDay)
        guard Self.years.contains(year) else { return nil }
    }

    /// Seconds since 2001-01-01 00:00:00 UTC; nil for a day that no calendar has.
    ///
    /// `offset`: of the clock that was read, in seconds east of UTC.
    func seconds(offset: Int) -> Double? {
        guard Self.years.contains(year), (1...12).contains(month),
            (1...Self.days(in: month, of: year)).contains(day)
        else { return nil }
        let days = Self.day(year, month, day) - Self.referenceDay
        return Double(days * 86_400 + second - offset) + Double(nanosecond) / 1e9
    }

    /// From 0, Monday, to 6.
    var weekday: Int {
        let days = Self.day(year, month, day) + 3
        return days - Self.floored(days, 7) * 7
    }

    private static func power(_ exponent: Int) -> Double {
        var product = 1.0
        for _ in 0..<exponent { product *= 10 }
        return product
    }

    private static func floored(_ number: Int, _ divisor: Int) -> Int {
        number / divisor - (number % divisor < 0 ? 1 : 0)
    }

    private static func days(in month: Int, of year: Int) -> Int {
        if month == 2 {
            return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        }
        return [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Days since 1970-01-01, in years that begin in March so that leap days come last.
    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = floored(shifted, 400)
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// The other way round.
    private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = days + 719_468
        let era = floored(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let place = (5 * dayOfYear + 2) / 153
        let month = place < 10 ? place + 3 : place - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * place + 2) / 5 + 1)
    }
}
