import ExpressionEvaluation
import Foundation
import MappingExpressions
import Testing

@Suite("Expressions: patterns of MATCHES")
struct PatternTests {
    @Test(
        "a table",
        arguments: [
            ("", "", true), ("", "a", false), ("abc", "abc", true), ("abc", "abcd", false),
            ("abc", "xabc", false), ("a.c", "abc", true), ("a.c", "a\nc", false),
            ("(?s)a.c", "a\nc", true), ("(?s).", "\r\n", true), ("(?s)..", "\r\n", false),
            ("a.c", "a👩c", true), ("a*", "", true),
            ("a*", "aaaa", true), ("a+", "", false), ("a+?", "aaa", true), ("a??b", "ab", true),
            ("a{3}", "aaa", true), ("a{3}", "aa", false), ("a{2,}", "aaaa", true),
            ("a{2,3}", "aaaa", false), ("a{0}", "", true), ("(ab){2}", "abab", true),
            ("a|b|", "b", true), ("a|b|", "", true), ("(?:ab|a)(c|bcd)", "abcd", true),
            ("(?<year>\\d{4})", "2001", true), ("[abc]+", "cab", true), ("[^abc]", "d", true),
            ("[^abc]", "a", false), ("[a-f0-9]+", "beef42", true), ("[-a]+", "-a", true),
            ("[a-]+", "a-", true), ("[\\]\\\\]+", "]\\", true), ("[[a-c][x-z]]+", "axz", true),
            ("[^[a-c]]", "b", false), ("[[:alpha:]]+", "éß", true),
            ("[[:^digit:]]", "5", false), ("[[:punct:]]+", ".,!", true),
            ("[[:space:]x]+", " x\t", true), ("[[:xdigit:]]+", "aF9", true),
            ("[[:upper:]][[:lower:]]", "Éa", true), ("[\\d\\s]+", "1 2", true),
            ("\\d+", "١٢", true), ("\\D+", "12", false), ("\\w+", "é_1", true),
            ("\\w+", "a-b", false), ("\\W", "-", true), ("\\s", "\u{A0}", true),
            ("\\S", " ", false),
            ("\\p{L}+", "aéß", true), ("\\p{Lu}", "a", false), ("\\p{Lu}", "É", true),
            ("\\P{L}", "1", true), ("\\p{Letter}+", "ж", true), ("\\p{gc=Nd}", "7", true),
            ("\\p{white_space}", " ", true), ("\\p{Sc}", "€", true),
            ("[\\p{L}\\p{Nd}]+", "a1", true),
            ("^abc$", "abc", true), ("^a$", "a\n", false), ("a$\\n", "a\n", true),
            ("a\\z\\n", "a\n", false), ("a\\Z\\n", "a\n", true), ("a$\\r\\n", "a\r\n", true),
            ("a$b", "ab", false), ("(?m)a$\\n^b", "a\nb", true), ("a\\n^b", "a\nb", false),
            ("\\Aa\\z", "a", true), ("\\bfoo\\b.*", "foo bar", true), ("foo\\b.*", "foobar", false),
            ("foo\\Bbar", "foobar", true), ("e\\b\u{301}", "e\u{301}", false),
            ("(?i)abc", "aBC", true), ("a(?i)b", "aB", true), ("a(?i)b", "AB", false),
            ("a(?i:b)c", "aBc", true), ("a(?i:b)c", "aBC", false), ("(?i)[a-f]+", "ABC", true),
            ("(?i)[^a]", "A", false), ("(?i)é", "É", true), ("(?i)σ", "ς", true),
            ("(?i)k", "\u{212A}", true), ("(?i)[k]", "\u{212A}", true),
            ("(?i)[\u{212A}]", "K", true),
            ("(?i)ı", "i", false), ("(?i)\\p{Lu}", "a", true), ("(?i-i)a", "A", false),
            ("é", "e\u{301}", false), ("e\u{301}", "e\u{301}", true), ("ß", "ss", false),
            ("\\u00e9", "é", true), ("\\x41\\x{1F469}", "A👩", true), ("\\t\\n", "\t\n", true),
            ("\\Qa.b\\E+", "a.bb", true), ("\\Qa.b", "axb", false), ("\\.\\*\\$", ".*$", true),
            ("(a|b)*abb", "abababb", true), ("(a*)*", "aaa", true), ("(a*)+b", "aab", true),
            ("((a?){3}b){2}", "aabab", true), ("(|a)+", "aa", true), ("(^)*a", "a", true),
            ("x}", "x}", true), ("x]", "x]", true),
            (
                "[A-Z0-9._%+-]+@[A-Za-z0-9.-]+\\.[A-Za-z]{2,4}", "A.B@example.org", true
            ),
        ])
    func table(pattern: String, text: String, expected: Bool) throws {
        #expect(try TextPattern(pattern).matches(text) == expected)
    }

    @Test(
        "what is refused",
        arguments: [
            ("a(?=b)", "character 2 of the pattern: look-ahead is not supported"),
            ("a(?!b)", "character 2 of the pattern: look-ahead is not supported"),
            ("(?<=a)b", "character 1 of the pattern: look-behind is not supported"),
            ("(?<!a)b", "character 1 of the pattern: look-behind is not supported"),
            ("(?>a)", "character 1 of the pattern: atomic groups are not supported"),
            ("(?#x)", "character 1 of the pattern: comments are not supported"),
            ("a++", "character 2 of the pattern: possessive quantifiers are not supported"),
            ("(a)\\1", "character 4 of the pattern: back-references are not supported"),
            ("\\k<a>", "character 1 of the pattern: back-references are not supported"),
            ("\\X", "character 1 of the pattern: the escape \\X is not supported"),
            ("\\y", "character 1 of the pattern: an unknown escape"),
            ("[a&&b]", "character 3 of the pattern: operations on sets are not supported"),
            ("[a--b]", "character 3 of the pattern: operations on sets are not supported"),
            ("(?x)a", "character 3 of the pattern: the flag x is not supported"),
            ("(?P<a>b)", "character 1 of the pattern: unknown kind of group"),
            ("a**", "character 3 of the pattern: a quantifier follows a quantifier"),
            ("*a", "character 1 of the pattern: a quantifier has nothing before it"),
            ("{a", "character 1 of the pattern: { stands for itself only as \\{"),
            ("a{x}", "character 3 of the pattern: a count is expected"),
            ("a{2,1}", "character 2 of the pattern: the maximum is below the minimum"),
            ("a{1001}", "character 3 of the pattern: a count of more than 1000"),
            ("(a", "character 1 of the pattern: a group does not end"),
            ("a)", "character 2 of the pattern: unexpected )"),
            ("[a", "character 1 of the pattern: a set does not end"),
            ("[]", "character 1 of the pattern: an empty set"),
            ("[b-a]", "character 2 of the pattern: a range ends before it starts"),
            ("\\p{Lx}", "character 1 of the pattern: an unknown property; did you mean Lo?"),
            ("\\p{Leter}", "character 1 of the pattern: an unknown property; did you mean Letter?"),
            ("\\pL", "character 1 of the pattern: a property is written \\p{…}"),
            ("[[:alpa:]]", "character 2 of the pattern: an unknown class; did you mean alpha?"),
            (
                "\\u12",
                "character 1 of the pattern: the hexadecimal digits of a scalar are expected"
            ),
            ("a\\", "character 2 of the pattern: the pattern ends with \\"),
            ("((a{1000}){1000}){1000}", "the pattern needs more than 20000 instructions"),
            ("(((){1000}a?){1000}){1000}", "the pattern needs more than 20000 instructions"),
        ])
    func refused(pattern: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) { try TextPattern(pattern) }
        #expect(error?.description == expected)
    }

    @Test("nested groups and sets are bounded")
    func bounded() {
        for (open, close) in [("(", ")"), ("[", "a]"), ("(?i:", ")")] {
            let pattern =
                String(repeating: open, count: 500) + "a" + String(repeating: close, count: 500)
            let error = #expect(throws: ExpressionError.self) { try TextPattern(pattern) }
            #expect(error?.reason == .limit)
        }
        let long = #expect(throws: ExpressionError.self) {
            try TextPattern(String(repeating: "a", count: 4_097))
        }
        #expect(long?.reason == .limit)
    }

    @Test(
        "patterns that ruin engines with backtracking take linear time",
        arguments: [
            "(a+)+$", "(a*)*b", "(a|aa)+b", "(a|a)*b", "(.*a){8}b", "(a?){30}a{30}b", "(a+a+)+b",
            "([a-z]+)*\\d",
        ])
    func linear(pattern: String) throws {
        let compiled = try TextPattern(pattern)
        let text = String(repeating: "a", count: 100_000)
        let clock = ContinuousClock()
        let duration = clock.measure {
            #expect(compiled.matches(text) == (pattern == "(a+)+$"))
            #expect(!compiled.matches(text + "!"))
        }
        // A backtracking engine would not end in the lifetime of the machine.
        #expect(duration < .seconds(120))
    }

    @Test("random patterns match what ICU matches", arguments: UInt64(0)..<4)
    func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<1_500 {
            let pattern = Self.pattern(&generator, depth: 3)
            let own = try TextPattern(pattern)
            let other = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
            for _ in 0..<8 {
                let pieces = ["a", "b", "A", "é", "1", " ", "\n", "_", "ß", "\r\n"]
                let count = generator.below(7)
                let text = (0..<count).map { _ in pieces.one(&generator) }.joined()
                let range = NSRange(text.startIndex..., in: text)
                let expected = other.firstMatch(in: text, range: range) != nil
                try #require(
                    own.matches(text) == expected, "\(pattern) on \(text.debugDescription)")
            }
        }
    }

    private static func pattern(_ generator: inout SeededGenerator, depth: Int) -> String {
        let atoms = [
            "a", "b", "é", ".", "[ab]", "[^a]", "\\d", "\\w", "\\s", "\\S", "[a-zé]", "\\p{L}",
            "[[:alpha:]1]", "(?i)a", "(?i:é)", "\\b", "^", "$", "\\Z", "[\\W_]", "1", "(?m:$)",
            "(?m:^)", "(?s:.)", "\\B", "\\P{Lu}", "[[:punct:]]",
        ]
        guard depth > 0 else { return atoms.one(&generator) }
        switch generator.below(5) {
        case 0: return atoms.one(&generator)
        case 1:
            let quantifiers = ["*", "+", "?", "{2}", "{1,3}", "*?", "+?", "{0,1}"]
            // ICU skips ways through loops around what may be empty, so that something is in it.
            return "(?:" + pattern(&generator, depth: depth - 1)
                + ["a", "\\w", ".", "[^a]"].one(&generator) + ")" + quantifiers.one(&generator)
        case 2:
            return "(" + pattern(&generator, depth: depth - 1) + "|"
                + pattern(&generator, depth: depth - 1) + ")"
        default:
            return pattern(&generator, depth: depth - 1) + pattern(&generator, depth: depth - 1)
        }
    }

    @Test("random texts are patterns or errors, without a trap", arguments: UInt64(0)..<4)
    func hostile(seed: UInt64) throws {
        let pieces = [
            "(", ")", "[", "]", "^", "-", "\\", "{", "}", ",", "1", "a", "?", "*", "+", "|", ":",
            "\\p", "{L}", "[:", ":]", "\\Q", "\\E", "(?", "<", ">", "=", "i", "$", ".", "\\x", "&&",
            "é", "{1000}",
        ]
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<3_000 {
            let count = generator.below(14)
            let pattern = (0..<count).map { _ in pieces.one(&generator) }.joined()
            let result = Result { () throws(ExpressionError) in try TextPattern(pattern) }
            guard case .success(let compiled) = result else { continue }
            _ = compiled.matches("a1é$(")
        }
    }
}
