/// A glob pattern for a single name.
///
/// `*` stands for any text, `?` for one character, `[abc]`, `[a-z]` and `[!a]` (also `[^a]`) for
/// one of a set; a backslash takes the next character as it is. A `[` without its `]` is itself.
/// A leading dot is nothing special.
struct NamePattern: Hashable, Sendable {
    private enum Token: Hashable, Sendable {
        case anyText
        case anyCharacter
        case character(UInt32)
        case set([ClosedRange<UInt32>], isNegated: Bool)
    }

    private let tokens: [Token]

    /// Takes any bytes: everything is some pattern.
    init(_ bytes: some Sequence<UInt8>) {
        let units = NamePattern.units(of: Array(bytes))
        var tokens: [Token] = []
        var place = 0
        while place < units.count {
            let unit = units[place]
            place += 1
            switch unit {
            case NamePattern.star:
                // Two stars in a row mean no more than one.
                if tokens.last != .anyText { tokens.append(.anyText) }
            case NamePattern.questionMark: tokens.append(.anyCharacter)
            case NamePattern.backslash where place < units.count:
                tokens.append(.character(units[place]))
                place += 1
            case NamePattern.bracket:
                if let (set, end) = NamePattern.set(in: units, from: place) {
                    tokens.append(set)
                    place = end
                } else {
                    tokens.append(.character(unit))
                }
            default: tokens.append(.character(unit))
            }
        }
        self.tokens = tokens
    }

    /// Whether the pattern stands for the whole name.
    ///
    /// - Parameter name: as `units(of:)` gives it.
    /// - Returns: false also where more than the name would match.
    /// - Complexity: O(name × pattern), without recursion.
    func matches(_ name: [UInt32]) -> Bool {
        var token = 0
        var place = 0
        // Where to go on when a text was too short: the last star, and what it stands for so far.
        var star: (token: Int, place: Int)?
        while place < name.count {
            if token < tokens.count, tokens[token] == .anyText {
                star = (token, place)
                token += 1
            } else if token < tokens.count, NamePattern.matches(tokens[token], name[place]) {
                token += 1
                place += 1
            } else if let last = star {
                star = (last.token, last.place + 1)
                token = last.token + 1
                place = last.place + 1
            } else {
                return false
            }
        }
        return tokens[token...].allSatisfy { $0 == .anyText }
    }

    /// The characters of a name: Unicode scalars, and above them one for each byte that is not
    /// UTF-8, so that `?` stands for what people see and every name can be matched.
    static func units(of bytes: [UInt8]) -> [UInt32] {
        if bytes.allSatisfy({ $0 < 0x80 }) { return bytes.map { UInt32($0) } }
        var units: [UInt32] = []
        var parser = Unicode.UTF8.ForwardParser()
        var input = bytes.makeIterator()
        var place = 0
        while true {
            switch parser.parseScalar(from: &input) {
            case .valid(let encoded):
                units.append(Unicode.UTF8.decode(encoded).value)
                place += encoded.count
            case .error(let length):
                units += bytes[place..<(place + length)].map { 0x11_0000 + UInt32($0) }
                place += length
            case .emptyInput: return units
            }
        }
    }

    /// Whether bytes hold a character that makes them a pattern.
    static func isPattern(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.contains { [star, questionMark, bracket].contains(UInt32($0)) }
    }

    private static let star = UInt32(UInt8(ascii: "*"))
    private static let questionMark = UInt32(UInt8(ascii: "?"))
    private static let bracket = UInt32(UInt8(ascii: "["))
    private static let closingBracket = UInt32(UInt8(ascii: "]"))
    private static let backslash = UInt32(UInt8(ascii: "\\"))
    private static let hyphen = UInt32(UInt8(ascii: "-"))
    private static let negations = [UInt32(UInt8(ascii: "!")), UInt32(UInt8(ascii: "^"))]

    private static func matches(_ token: Token, _ unit: UInt32) -> Bool {
        switch token {
        case .anyText: false
        case .anyCharacter: true
        case .character(let wanted): wanted == unit
        case .set(let ranges, let isNegated):
            ranges.contains { $0.contains(unit) } != isNegated
        }
    }

    /// The set whose bracket stands before a place, and the place after it; nil for no set.
    private static func set(in units: [UInt32], from start: Int) -> (Token, Int)? {
        var place = start
        let isNegated = place < units.count && negations.contains(units[place])
        if isNegated { place += 1 }
        let first = place
        var ranges: [ClosedRange<UInt32>] = []
        while place < units.count {
            // Right after the opening, a closing bracket is a member.
            if units[place] == closingBracket, place > first {
                return (.set(ranges, isNegated: isNegated), place + 1)
            }
            guard let low = member(of: units, at: &place) else { return nil }
            var high = low
            if place + 1 < units.count, units[place] == hyphen,
                units[place + 1] != closingBracket
            {
                place += 1
                guard let end = member(of: units, at: &place) else { return nil }
                high = end
            }
            // A range that runs backwards has no members.
            if low <= high { ranges.append(low...high) }
        }
        return nil
    }

    private static func member(of units: [UInt32], at place: inout Int) -> UInt32? {
        if units[place] == backslash { place += 1 }
        guard place < units.count else { return nil }
        place += 1
        return units[place - 1]
    }
}
