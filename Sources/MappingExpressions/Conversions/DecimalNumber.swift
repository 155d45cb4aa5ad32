/// A decimal number as `NSDecimalNumber` has it: up to 38 digits and a power of ten.
///
/// Sums, differences and products are exact as long as they fit 38 digits; digits behind are
/// rounded half away from zero.
package struct DecimalNumber: Hashable, Sendable {
    private static let digitLimit = 38
    private static let exponents = -128...127
    /// Above every mantissa: 10 to the 38th.
    private static let mantissaEnd: UInt128 = powers[digitLimit]

    private static let powers: [UInt128] = {
        var powers: [UInt128] = [1]
        while powers.count <= digitLimit { powers.append(powers[powers.count - 1] * 10) }
        return powers
    }()

    /// Without trailing zeros; zero has the exponent zero and no sign.
    private let mantissa: UInt128
    private let exponent: Int
    let isNegative: Bool

    /// Nil for what is too large for the exponent, or too small and not zero.
    private init?(_ isNegative: Bool, _ mantissa: UInt128, _ exponent: Int) {
        var mantissa = mantissa
        var exponent = exponent
        while mantissa >= Self.mantissaEnd {
            let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: 10)
            mantissa = quotient + (remainder >= 5 ? 1 : 0)
            exponent += 1
        }
        while mantissa != 0, mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
        while exponent > Self.exponents.upperBound, mantissa != 0,
            mantissa < Self.mantissaEnd / 10
        {
            mantissa *= 10
            exponent -= 1
        }
        guard mantissa == 0 || Self.exponents.contains(exponent) else { return nil }
        self.mantissa = mantissa
        self.exponent = mantissa == 0 ? 0 : exponent
        self.isNegative = isNegative && mantissa != 0
    }

    /// The number that an integer is.
    package init(_ value: Int64) {
        var mantissa = UInt128(value.magnitude)
        var exponent = 0
        while mantissa != 0, mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
        self.mantissa = mantissa
        self.exponent = exponent
        isNegative = value < 0
    }

    /// The number of a text; nil for another text, and for numbers out of range.
    package init?(_ text: String) {
        guard LiteralText.isDecimal(text) else { return nil }
        var mantissa: UInt128 = 0
        var exponent = 0
        var rest = text.utf8[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        var isFraction = false
        var roundsUp: Bool?
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "."): isFraction = true
            case 0x30...0x39:
                if mantissa < Self.mantissaEnd / 10 {
                    mantissa = mantissa * 10 + UInt128(byte - 0x30)
                    exponent -= isFraction ? 1 : 0
                } else {
                    roundsUp = roundsUp ?? (byte >= 0x35)
                    exponent += isFraction ? 0 : 1
                }
            case UInt8(ascii: "e"), UInt8(ascii: "E"):
                guard let written = Int(String(Substring(rest))) else { return nil }
                exponent += written
                rest = rest.suffix(0)
            default: break
            }
        }
        self.init(isNegative, mantissa + (roundsUp == true ? 1 : 0), exponent)
    }

    /// All digits, with a point where there is a fraction.
    package var text: String {
        var digits = String(mantissa)
        if exponent >= 0 {
            digits += String(repeating: "0", count: exponent)
        } else {
            let missing = 1 - exponent - digits.count
            if missing > 0 { digits = String(repeating: "0", count: missing) + digits }
            digits.insert(".", at: digits.index(digits.endIndex, offsetBy: exponent))
        }
        return (isNegative ? "-" : "") + digits
    }

    /// The nearest real number.
    package var real: Double { Double(text) ?? 0 }

    /// Whether the number is zero.
    package var isZero: Bool { mantissa == 0 }

    /// The integer that it is; nil where it has a fraction or does not fit.
    package var integer: Int64? { exponent >= 0 ? Int64(text) : nil }

    /// The number with the other sign.
    package var negated: DecimalNumber {
        DecimalNumber(!isNegative, mantissa, exponent) ?? self
    }

    /// The number without its sign.
    package var magnitude: DecimalNumber { isNegative ? negated : self }

    /// The whole number that a way of rounding gives.
    package func rounded(_ rule: FloatingPointRoundingRule) -> DecimalNumber {
        guard exponent < 0 else { return self }
        let power = -exponent < Self.powers.count ? Self.powers[-exponent] : nil
        var whole = power.map { mantissa / $0 } ?? 0
        // Not zero, because trailing zeros are gone.
        if rule == .up && !isNegative || rule == .down && isNegative { whole += 1 }
        return DecimalNumber(isNegative, whole, 0) ?? self
    }

    /// The sum; nil out of range.
    package func adding(_ other: DecimalNumber) -> DecimalNumber? {
        guard !isZero else { return other }
        guard !other.isZero else { return self }
        let (large, small) = leadingPlace >= other.leadingPlace ? (self, other) : (other, self)
        // The larger one gets all digits it can have, the smaller one loses what is behind them.
        let lowest = min(large.exponent, small.exponent)
        let place = max(lowest, large.leadingPlace - Self.digitLimit)
        let isSum = large.isNegative == small.isNegative
        guard let one = large.mantissa(at: place),
            let two = small.mantissa(at: place, halfRoundsUp: isSum)
        else { return nil }
        if isSum {
            return DecimalNumber(large.isNegative, one + two, place)
        }
        // A difference may have a digit less, which leaves room for one that was lost.
        if place > lowest, one >= two, one - two <= Self.mantissaEnd / 10,
            let one = large.mantissa(at: place - 1),
            let two = small.mantissa(at: place - 1, halfRoundsUp: false)
        {
            return DecimalNumber(large.isNegative, one - two, place - 1)
        }
        return one >= two
            ? DecimalNumber(large.isNegative, one - two, place)
            : DecimalNumber(small.isNegative, two - one, place)
    }

    /// The power of ten above the first digit.
    private var leadingPlace: Int { Self.digitCount(mantissa) + exponent }

    private static func digitCount(_ value: UInt128) -> Int {
        powers.firstIndex { value < $0 } ?? powers.count
    }

    /// The mantissa for another exponent, rounded; nil where it has too many digits.
    ///
    /// Half of a digit that is subtracted rounds down, so that the difference rounds up.
    private func mantissa(at place: Int, halfRoundsUp: Bool = true) -> UInt128? {
        let shift = exponent - place
        if shift >= 0 {
            guard shift < Self.powers.count else { return nil }
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: Self.powers[shift])
            return overflows ? nil : product
        }
        guard -shift < Self.powers.count else { return 0 }
        let power = Self.powers[-shift]
        let (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: power)
        let isHalf = remainder == power - remainder
        return quotient + (remainder > power - remainder || isHalf && halfRoundsUp ? 1 : 0)
    }

    /// The product; nil out of range.
    package func multiplied(by other: DecimalNumber) -> DecimalNumber? {
        let product = mantissa.multipliedFullWidth(by: other.mantissa)
        let sign = isNegative != other.isNegative
        var place = exponent + other.exponent
        guard product.high != 0 else { return DecimalNumber(sign, product.low, place) }
        // Both factors have at most 38 digits, so that 10 to the 38th leaves a fitting quotient.
        var divisor = Self.digitLimit
        while divisor > 1, product.high < Self.powers[divisor - 1] { divisor -= 1 }
        // One more where it has a digit too many, so that it is rounded once only.
        if divisor < Self.digitLimit,
            Self.powers[divisor].dividingFullWidth(product).quotient >= Self.mantissaEnd
        {
            divisor += 1
        }
        let power = Self.powers[divisor]
        let (quotient, remainder) = power.dividingFullWidth(product)
        place += divisor
        return DecimalNumber(sign, quotient + (remainder >= power - remainder ? 1 : 0), place)
    }

    /// The quotient; nil for a divisor of zero, too.
    package func divided(by other: DecimalNumber) -> DecimalNumber? {
        guard !other.isZero else { return nil }
        var (quotient, remainder) = mantissa.quotientAndRemainder(dividingBy: other.mantissa)
        var place = exponent - other.exponent
        while remainder != 0, quotient < Self.mantissaEnd / 10 {
            let wide = remainder.multipliedFullWidth(by: 10)
            let digit = other.mantissa.dividingFullWidth(wide)
            quotient = quotient * 10 + digit.quotient
            remainder = digit.remainder
            place -= 1
        }
        if remainder != 0, remainder >= other.mantissa - remainder { quotient += 1 }
        return DecimalNumber(isNegative != other.isNegative, quotient, place)
    }

    /// What truncated division leaves, with the sign of the dividend; nil out of range.
    package func remainder(dividingBy other: DecimalNumber) -> DecimalNumber? {
        guard let whole = divided(by: other)?.rounded(.towardZero),
            let rest = whole.multiplied(by: other)?.negated.adding(self)
        else { return nil }
        // The quotient may have been rounded up to a whole number.
        guard !rest.isZero, rest.isNegative != isNegative else { return rest }
        return rest.adding(isNegative ? other.magnitude.negated : other.magnitude)
    }

    /// Whether it is below another number.
    package static func < (one: DecimalNumber, other: DecimalNumber) -> Bool {
        if one.isNegative != other.isNegative { return one.isNegative }
        return one.isNegative ? other.isCloserToZero(than: one) : one.isCloserToZero(than: other)
    }

    private func isCloserToZero(than other: DecimalNumber) -> Bool {
        if isZero || other.isZero { return isZero && !other.isZero }
        if leadingPlace != other.leadingPlace { return leadingPlace < other.leadingPlace }
        let place = min(exponent, other.exponent)
        guard let own = mantissa(at: place), let others = other.mantissa(at: place) else {
            return false
        }
        return own < others
    }
}
