import ExpressionEvaluation
import Foundation
import ManagedObjectModel
import MappingExpressions
import Testing

@Suite("Expressions: conversions")
struct ConversionTests {
    static let types: [(String, String)] = [
        // Numbers.
        ("CONVERT(5, 'integer16')", "5"), ("CONVERT(5.0, 'integer32')", "5"),
        ("CONVERT('42', 'integer64')", "42"), ("CONVERT('-7.0', 'integer64')", "-7"),
        ("CONVERT('1e3', 'integer16')", "1000"), ("CONVERT(TRUE, 'integer16')", "1"),
        ("CONVERT(budget * 2, 'integer32')", "2001"), ("CONVERT(5, 'double')", "5.0"),
        ("CONVERT('2.5', 'double')", "2.5"), ("CONVERT(budget, 'double')", "1000.5"),
        ("CONVERT(0.1, 'decimal')", "CAST('0.1', 'NSDecimalNumber')"),
        ("CONVERT('12.50', 'decimal')", "CAST('12.5', 'NSDecimalNumber')"),
        ("CONVERT(founded, 'double')", "100.0"), ("CONVERT(founded, 'integer64')", "100"),
        ("CONVERT(9007199254740993, 'decimal')", "9007199254740993"),
        ("CONVERT('7.0', 'decimal')", "7"),
        ("CONVERT('3.141592653589793', 'double')", "\(Double.pi)"),
        ("CONVERT('1e300', 'double')", "1e300"), ("CONVERT(16777216, 'float')", "16777216.0"),
        // Truth values.
        ("CONVERT(1, 'boolean')", "TRUE"), ("CONVERT(0.0, 'boolean')", "FALSE"),
        ("CONVERT('Yes', 'boolean')", "TRUE"), ("CONVERT('false', 'boolean')", "FALSE"),
        ("CONVERT('0', 'boolean')", "FALSE"), ("CONVERT(TRUE, 'string')", "'1'"),
        // Texts and what has a text.
        ("CONVERT(12, 'string')", "'12'"), ("CONVERT(2.0, 'string')", "'2'"),
        ("CONVERT(key, 'string')", "'00010203-0405-0607-0809-0A0B0C0D0E0F'"),
        ("CONVERT('00010203-0405-0607-0809-0a0b0c0d0e0f', 'uuid')", "key"),
        ("CONVERT(key, 'uri')", "CAST('urn:uuid:00010203-0405-0607-0809-0A0B0C0D0E0F', 'NSURL')"),
        ("CONVERT(CONVERT(key, 'uri'), 'uuid')", "key"),
        ("CONVERT(CONVERT(key, 'binary'), 'uuid')", "key"),
        ("CONVERT('http://a.example/', 'uri')", "home"),
        ("CONVERT(home, 'string')", "'http://a.example/'"),
        ("CONVERT('é', 'binary')", "CAST('C3A9', 'NSData')"),
        ("CONVERT(CAST('C3A9', 'NSData'), 'string')", "'é'"),
        // Dates.
        ("CONVERT(100, 'date')", "founded"),
        ("CONVERT(founded, 'string')", "'2001-01-01T00:01:40Z'"),
        ("CONVERT(CAST(0.25, 'NSDate'), 'string')", "'2001-01-01T00:00:00.25Z'"),
        ("CONVERT('2001-01-01T00:01:40Z', 'date')", "founded"),
        ("CONVERT('2001-01-01 00:01:40', 'date')", "founded"),
        ("CONVERT('2001-01-01T02:01:40+02:00', 'date')", "founded"),
        ("CONVERT('2001-01-01T00:01:40.000', 'date')", "founded"),
        ("CONVERT('2001-01-02', 'date')", "CAST(86400, 'NSDate')"),
        ("CONVERT('01.01.2001 00:01:40', 'date', 'dd.MM.yyyy HH:mm:ss')", "founded"),
        ("CONVERT('1/1/2001 12:01 am', 'date', 'M/d/yyyy h:mm a')", "CAST(60, 'NSDate')"),
        (
            "CONVERT('Mon, 1 Jan 2001 02:00', 'date', 'E, d MMM yyyy HH:mm', '+02:00')",
            "CAST(0, 'NSDate')"
        ),
        (
            "CONVERT(founded, 'string', 'EEEE d MMMM yy, hh:mm a', '-01:00')",
            "'Sunday 31 December 00, 11:01 PM'"
        ),
        ("CONVERT(founded, 'string', \"yyyy''MM'T'SSS XX\", '+05:30')", "\"2001'01T000 +0530\""),
        ("CONVERT(nil, 'date')", "nil"), ("CONVERT(motto, 'integer16')", "nil"),
    ]

    static let documents: [(String, String)] = [
        (#"FIELD('{"a": {"b": [1, 2.5]}}', "json", "a", "b", "1")"#, "2.5"),
        (#"FIELD('{"a": 9007199254740993}', "json", "a")"#, "9007199254740993"),
        (#"FIELD('{"a": true}', "json", "a")"#, "TRUE"),
        (
            #"CONVERT(FIELD('{"a": 12345678901234567890}', "json", "a"), "string")"#,
            "'12345678901234567890'"
        ),
        (
            #"CONVERT(FIELD('{"a": 0.12345678901234567890}', "json", "a"), "string")"#,
            "'0.1234567890123456789'"
        ),
        (#"FIELD('{"a": 1}', "json", "a")"#, "1"),
        (#"FIELD('{"a.b": "x"}', "json", "a.b")"#, "'x'"),
        (#"FIELD('{"a": null}', "json", "a")"#, "nil"),
        (#"FIELD('{"a": 1}', "json", "b")"#, "nil"),
        (#"FIELD('{"a": 1}', "json", "a", "b")"#, "nil"),
        (#"FIELD('[1]', "json", "1")"#, "nil"), (#"FIELD('[1]', "json", "-1")"#, "nil"),
        (#"FIELD(CONVERT('{"a": "x"}', 'binary'), "json", "a")"#, "'x'"),
        (#"FIELD(nil, "json", "a")"#, "nil"),
        (
            "FIELD('<plist><dict><key>a</key><date>2001-01-01T00:01:40Z</date></dict></plist>', "
                + "'plist', 'a')", "founded"
        ),
        (
            "FIELD('<plist><dict><key>a</key><integer>1</integer></dict></plist>', 'plist', 'a')",
            "1"
        ),
        (
            "FIELD('<plist><dict><key>a</key><true/></dict></plist>', 'plist', 'a')", "TRUE"
        ),
        (
            "FIELD('<plist><array><real>1.5</real></array></plist>', 'plist', '0')", "1.5"
        ),
        (
            "FIELD('<plist><array><data>AQI=</data></array></plist>', 'plist', '0')", "logo"
        ),
    ]

    static let texts: [(String, String)] = [
        ("NORMALIZE('  a  b ', 'trim')", "'a  b'"),
        ("NORMALIZE(' a \n b ', 'collapse')", "' a b '"),
        ("NORMALIZE('\u{A0}A ', 'trim', 'lowercase')", "'a'"),
        ("NORMALIZE('ß', 'uppercase')", "'SS'"), ("NORMALIZE(' ', 'trim', 'empty')", "nil"),
        ("NORMALIZE('a', 'empty')", "'a'"), ("length(NORMALIZE('e\u{301}', 'nfc'))", "1"),
        ("length(NORMALIZE('\u{E9}', 'nfd'))", "2"), ("NORMALIZE(motto, 'trim')", "nil"),
        ("ATTEMPT(1 / 0, 7)", "7"), ("ATTEMPT(4 / 2, 7)", "2"), ("ATTEMPT(nil, 7)", "nil"),
        ("ATTEMPT(CONVERT('x', 'date'), nil)", "nil"),
    ]

    @Test("types", arguments: types) func typesGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test("documents", arguments: documents)
    func documentsGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test("texts", arguments: texts) func textsGive(text: String, expected: String) throws {
        #expect(try TestGraph.value(text) == TestGraph.value(expected))
    }

    @Test(
        "nothing is rounded, cut off or guessed",
        arguments: [
            "CONVERT(1.5, 'integer16')", "CONVERT(40000, 'integer16')",
            "CONVERT('4O', 'integer16')", "CONVERT(' 4', 'integer16')", "CONVERT('', 'integer16')",
            "CONVERT(9007199254740993, 'double')", "CONVERT('9007199254740993', 'double')",
            "CONVERT('1e-400', 'double')", "CONVERT('12345678901234567890.12', 'decimal')",
            "CONVERT(16777217, 'float')", "CONVERT(1e300, 'float')",
            "CONVERT('1\\u00002', 'integer16')", "NORMALIZE('1\\u00002', 'trim')",
            "CONVERT(CAST('610062', 'NSData'), 'string')",
            "CONVERT(CAST('inf', 'NSNumber'), 'string')",
            #"FIELD('{"a": "x\u0000y"}', "json", "a")"#, "CONVERT(logo, 'uri')",
            "CONVERT(2, 'boolean')",
            "CONVERT('maybe', 'boolean')", "CONVERT('2001-02-29', 'date')",
            "CONVERT('2001-1-01', 'date')", "CONVERT(' 2001-01-01', 'date')",
            "CONVERT('2001-01-01x', 'date')", "CONVERT('2001-01-01T24:00:00Z', 'date')",
            "CONVERT('01-01-01', 'date', 'yyyy-MM-dd')",
            "CONVERT('2001-01-011', 'date', 'yyyy-MM-dd')",
            "CONVERT('Tue 2001-01-01', 'date', 'E yyyy-MM-dd')",
            "CONVERT('31.04.2001', 'date', 'dd.MM.yyyy')", "CONVERT(TRUE, 'date')",
            "CONVERT('x', 'uuid')", "CONVERT(home, 'uuid')", "CONVERT('a b', 'uri')",
            "CONVERT(CAST('FF', 'NSData'), 'string')", "CONVERT(logo, 'uuid')",
            "CONVERT(CAST(1e15, 'NSDate'), 'string')", "CONVERT(lead, 'string')",
            "FIELD('{', \"json\", \"a\")", "FIELD('{\"a\": [1]}', \"json\", \"a\")",
            "FIELD('{\"a\": {}}', \"json\", \"a\")", "FIELD(5, \"json\", \"a\")",
            "FIELD('nothing', \"plist\", \"a\")", "NORMALIZE(5, 'trim')",
        ])
    func failures(text: String) throws {
        let error = #expect(throws: ExpressionError.self) { try TestGraph.value(text) }
        #expect(error?.reason == .evaluation)
    }

    @Test("an error quotes no value")
    func errorsAreSilent() {
        for text in ["CONVERT('secret', 'date')", "FIELD('secret', \"json\", \"a\")"] {
            let error = #expect(throws: ExpressionError.self) { try TestGraph.value(text) }
            #expect(error?.description.contains("secret") == false)
        }
    }

    @Test(
        "mistakes in a text",
        arguments: [
            ("CONVERT(1)", "CONVERT takes a value, a type"),
            ("CONVERT(1, 'dat')", "did you mean date?"),
            ("CONVERT(1, 'date', 'yyyy-QQ')", "the format of dates has no QQ"),
            ("CONVERT(1, 'date', \"yyyy'x\")", "without its second one"),
            ("CONVERT(1, 'date', '--')", "no letter for a part"),
            ("CONVERT(1, 'date', 'yyyy-MM-dd', 'CET')", "a zone is UTC or an offset"),
            ("FIELD(1, 'yaml', 'a')", "FIELD takes a value"), ("FIELD(1, 'json')", "FIELD takes"),
            ("NORMALIZE('a')", "at least one step"), ("NORMALIZE('a', 'x')", "there is no step x"),
            ("ATTEMPT(1)", "ATTEMPT takes 2 arguments, not 1"),
        ])
    func mistakes(text: String, expected: String) {
        let error = #expect(throws: ExpressionError.self) {
            try ExpressionParser.expression(text)
        }
        #expect(error.map { "\($0)" }?.contains(expected) == true, "\(String(describing: error))")
    }

    @Test(
        "formats that no date can be read by",
        arguments: [
            ("yy-MM-dd", "century"), ("HH:mm", "has no y"), ("yyyy-MM", "has no d"),
            ("yyyy-MM-dd hh", "belong together"), ("yyyy-MM-dd HH h a", "both H and h"),
            ("yyyy-yyyy-MM-dd", "occurs twice"),
        ])
    func unreadable(pattern: String, reason: String) throws {
        let text = try #require(try DateFormat(pattern).unreadable)
        #expect(text.contains(reason), "\(text)")
    }

    /// Foundation's calendar for days, and its formatter for texts, on random moments.
    @Test("dates are those of another calendar")
    func datesOfFoundation() throws {
        var generator = SeededGenerator(seed: 7)
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.calendar = Calendar(identifier: .gregorian)
        let pattern = "EEEE, dd MMM yyyy hh:mm:ss.SSS a " + String(repeating: "X", count: 3)
        formatter.dateFormat = pattern
        for _ in 0..<4000 {
            // From 1600 to 2600, in milliseconds; before, Foundation's calendar is Julian.
            let milliseconds = Int64(generator.next() % 31_500_000_000_000) - 12_600_000_000_000
            let seconds = Double(milliseconds) / 1000
            let offset = (Int(generator.next() % 1680) - 840) * 60
            formatter.timeZone = TimeZone(secondsFromGMT: offset)
            let text = formatter.string(from: Date(timeIntervalSinceReferenceDate: seconds))
            let zone = DateFormat.zone(offset)
            let value = MappingExpression.constant(.date(seconds))
            let format = try DateFormat(pattern, offset: offset)
            let evaluator = ExpressionEvaluator(NoObjects(), now: 0)
            let made = try evaluator.value(
                of: .conversion(.type(.string, format: format), of: value))
            #expect(made == .scalar(.text(text)), "\(seconds) \(zone)")
            let read = try evaluator.value(
                of: .conversion(.type(.date, format: format), of: .constant(.text(text))))
            #expect(read == .scalar(.date(seconds)), "\(text)")
            let standard = try evaluator.value(
                of: .conversion(
                    .type(.date, format: nil),
                    of: .conversion(.type(.string, format: nil), of: value)))
            #expect(standard == .scalar(.date(seconds)), "\(seconds)")
        }
    }
}
