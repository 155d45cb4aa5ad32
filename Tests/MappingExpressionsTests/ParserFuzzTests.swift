import MappingExpressions
import Testing

@Suite("Expressions: hostile texts")
struct ParserFuzzTests {
    static let texts = [
        "SUBQUERY($source.items, $x, $x.price > 5 AND $x.name LIKE[cd] 'a*').@count",
        "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', 'A', b)",
        "TERNARY($source.a == nil, CAST('1.5', 'NSDecimalNumber'), -2 ** 3 + ~4 << 1)",
        "ANY a.@sum.b BETWEEN {0x1F, 1.5e3} OR NOT (c IN {'é', \"\\u00e9\"} && d[FIRST] != #size)",
        "a UNION b MINUS {now(), uppercase(c), add:to:(1, $source.d)}",
    ]

    /// Reads a text both ways; what is read must read back.
    private func read(_ text: String) throws {
        let expression = Result { () throws(ExpressionError) in
            try ExpressionParser.expression(text)
        }
        switch expression {
        case .success(let value): try #require(try ExpressionParser.expression(value.text) == value)
        case .failure(let error): try check(error, text)
        }
        let predicate = Result { () throws(ExpressionError) in
            try ExpressionParser.predicate(text)
        }
        switch predicate {
        case .success(let value): try #require(try ExpressionParser.predicate(value.text) == value)
        case .failure(let error): try check(error, text)
        }
    }

    private func check(_ error: ExpressionError, _ text: String) throws {
        if let column = error.column { try #require((1...text.count + 1).contains(column)) }
        try #require(!error.description.isEmpty)
    }

    @Test("random bytes", arguments: UInt64(0)..<4)
    func bytes(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<2_500 {
            let bytes = (0..<generator.below(60)).map { _ in UInt8(generator.below(256)) }
            try read(String(decoding: bytes, as: UTF8.self))
        }
    }

    @Test("random tokens", arguments: UInt64(0)..<4)
    func tokens(seed: UInt64) throws {
        let tokens = [
            "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "**", "~", "!", "NOT", "AND",
            "OR", "ANY", "a", "$x", "#and", "@count", "1", "2.5", "'t'", "==", "<", "IN", "LIKE",
            "[c]", "SUBQUERY", "CAST", "TERNARY", "FUNCTION", "sum", "now()", "nil", "SELF",
            "UNION", "FIRST", "SIZE", "'NSDate'", "TRUEPREDICATE", "&", "<<", ":=", "add:to:",
        ]
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let count = 1 + generator.below(14)
            try read((0..<count).map { _ in tokens.one(&generator) }.joined(separator: " "))
        }
    }

    @Test("valid texts with random changes", arguments: UInt64(0)..<4)
    func mutations(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<4_000 {
            var scalars = Array(Self.texts.one(&generator).unicodeScalars)
            for _ in 0...generator.below(4) where !scalars.isEmpty {
                let place = generator.below(scalars.count)
                switch generator.below(4) {
                case 0: scalars.remove(at: place)
                case 1: scalars.insert(scalars[generator.below(scalars.count)], at: place)
                case 2: scalars.swapAt(place, generator.below(scalars.count))
                default: scalars[place] = Unicode.Scalar(UInt8(generator.below(256)))
                }
            }
            try read(String(String.UnicodeScalarView(scalars)))
        }
    }
}
