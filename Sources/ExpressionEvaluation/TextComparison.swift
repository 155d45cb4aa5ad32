import Foundation
import MappingExpressions

/// Compares texts by Unicode alone, so that no locale changes a result.
struct TextComparison {
    let options: PredicateComparison.Options

    /// The scalars that stand for a text: its canonical decomposition, without case and
    /// diacritics where the options say so; as they are for `[n]`.
    ///
    /// Case is folded fully, ß to ss. Diacritics are the scalars of the decomposition that combine
    /// with the one before; a letter such as ø has no decomposition and stays.
    ///
    /// - Complexity: O(n).
    func scalars(_ text: String) -> [Unicode.Scalar] {
        var scalars = isDecomposed ? Self.decomposed(text) : Array(text.unicodeScalars)
        if options.contains(.diacriticInsensitive) {
            scalars.removeAll { $0.properties.canonicalCombiningClass != .notReordered }
        }
        guard options.contains(.caseInsensitive) else { return scalars }
        scalars = scalars.flatMap(Self.fold)
        return isDecomposed ? Self.decomposed(String(String.UnicodeScalarView(scalars))) : scalars
    }

    private var isDecomposed: Bool {
        !options.contains(.normalized) || options.contains(.diacriticInsensitive)
    }

    private static func decomposed(_ text: String) -> [Unicode.Scalar] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return Array(text.unicodeScalars) }
        return Array(text.decomposedStringWithCanonicalMapping.unicodeScalars)
    }

    /// Full case folding of one scalar.
    ///
    /// The two detours reach the folded form from every letter: ẞ by its lower case, ς by its
    /// upper case.
    static func fold(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        if scalar.isASCII {
            return [
                ("A"..."Z").contains(scalar) ? Unicode.Scalar(UInt8(scalar.value | 0x20)) : scalar
            ]
        }
        // Its upper case is that of i, but it is a letter of its own.
        if scalar == "ı" { return [scalar] }
        let lower = scalar.properties.lowercaseMapping.unicodeScalars
        let upper = lower.flatMap { $0.properties.uppercaseMapping.unicodeScalars }
        return upper.flatMap { $0.properties.lowercaseMapping.unicodeScalars }
    }

    /// Whether two texts are equal: canonically, or byte for byte with `[n]`.
    func equal(_ one: String, _ other: String) -> Bool {
        if options.isEmpty { return one == other }
        return scalars(one) == scalars(other)
    }

    /// Whether one text is before the other, by the scalars of the canonical composition.
    func isLess(_ one: String, _ other: String) -> Bool {
        if options.isEmpty { return one < other }
        let one = scalars(one)
        let other = scalars(other)
        return one.lexicographicallyPrecedes(other) { $0.value < $1.value }
    }

    /// Whether a text starts with another one, which ends no text within a letter.
    func begins(_ text: String, with part: String) -> Bool {
        if let isBeginning = beginsPlainly(text, part) { return isBeginning }
        let text = scalars(text)
        let part = scalars(part)
        return text.starts(with: part) && endsLetter(text, at: part.count)
    }

    /// The same where the part is ASCII, and the text up to the byte behind the part.
    ///
    /// No mark begins with an ASCII byte. Nil otherwise.
    private func beginsPlainly(_ text: String, _ part: String) -> Bool? {
        let foldsCase = options.contains(.caseInsensitive)
        let fold = { (byte: UInt8) in
            foldsCase && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        var rest = text.utf8.makeIterator()
        var isSame = true
        for wanted in part.utf8 {
            guard wanted < 0x80 else { return nil }
            // A text that ends here is shorter, whatever the rest of the part is.
            guard let found = rest.next() else { return false }
            guard found < 0x80 else { return nil }
            isSame = isSame && fold(found) == fold(wanted)
        }
        guard let behind = rest.next(), behind >= 0x80 else { return isSame }
        return nil
    }

    /// Whether a text ends with another one, which does not start within a letter.
    func ends(_ text: String, with part: String) -> Bool {
        let text = scalars(text)
        let part = scalars(part)
        return part.count <= text.count && text.suffix(part.count) == part[...]
            && endsLetter(text, at: text.count - part.count)
    }

    /// Whether a text has another one in it, from the start of a letter to the end of one.
    ///
    /// - Complexity: O(text + part), and a multiple of it for texts with many marks.
    func contains(_ text: String, _ part: String) -> Bool {
        let text = scalars(text)
        let part = scalars(part)
        guard !part.isEmpty else { return true }
        guard part.count <= text.count else { return false }
        let borders = Self.borders(part)
        var matched = 0
        for index in text.indices {
            while matched > 0, matched == part.count || text[index] != part[matched] {
                matched = borders[matched - 1]
            }
            if text[index] == part[matched] { matched += 1 }
            if matched == part.count, endsLetter(text, at: index + 1),
                endsLetter(text, at: index + 1 - part.count)
            {
                return true
            }
        }
        return false
    }

    /// For every start of a text the longest end of it that is also its start.
    private static func borders(_ part: [Unicode.Scalar]) -> [Int] {
        var borders = [0]
        var length = 0
        for index in part.indices.dropFirst() {
            while length > 0, part[index] != part[length] { length = borders[length - 1] }
            if part[index] == part[length] { length += 1 }
            borders.append(length)
        }
        return borders
    }

    /// Whether no combining mark continues the letter before a place; bytes have no letters.
    private func endsLetter(_ text: [Unicode.Scalar], at place: Int) -> Bool {
        guard !options.contains(.normalized), place > 0, place < text.count else { return true }
        return !text[place].properties.isGraphemeExtend
    }

    /// Whether a whole text is as a form with `?` for one character and `*` for any number.
    ///
    /// A backslash takes from `?`, `*` and itself their meaning. Characters are those that readers
    /// see (grapheme clusters).
    ///
    /// - Complexity: O(text × form) at worst.
    func isLike(_ text: String, _ form: String) -> Bool {
        let text = Array(String(String.UnicodeScalarView(scalars(text))))
        let form = wildcards(Array(String(String.UnicodeScalarView(scalars(form)))))
        var place = 0
        var next = 0
        // Where the last star stands, and where the text goes on behind what it takes.
        var star: (form: Int, text: Int)?
        while place < text.count {
            if next < form.count, case .many = form[next] {
                star = (next, place)
                next += 1
            } else if next < form.count, fits(form[next], text[place]) {
                next += 1
                place += 1
            } else if let last = star {
                star = (last.form, last.text + 1)
                next = last.form + 1
                place = last.text + 1
            } else {
                return false
            }
        }
        return form[next...].allSatisfy { if case .many = $0 { true } else { false } }
    }

    private enum Wildcard {
        case character(Character)
        case one
        case many
    }

    private func fits(_ wildcard: Wildcard, _ character: Character) -> Bool {
        switch wildcard {
        case .character(let wanted):
            options.contains(.normalized)
                ? wanted.unicodeScalars.elementsEqual(character.unicodeScalars)
                : wanted == character
        case .one: true
        case .many: false
        }
    }

    private func wildcards(_ form: [Character]) -> [Wildcard] {
        var wildcards: [Wildcard] = []
        var index = 0
        while index < form.count {
            switch form[index] {
            case "*": wildcards.append(.many)
            case "?": wildcards.append(.one)
            case "\\" where index + 1 < form.count:
                index += 1
                let isSpecial = ["*", "?", "\\"].contains(form[index])
                if !isSpecial { wildcards.append(.character("\\")) }
                wildcards.append(.character(form[index]))
            default: wildcards.append(.character(form[index]))
            }
            index += 1
        }
        return wildcards
    }
}
