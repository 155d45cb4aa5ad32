import ManagedObjectModel

/// The forms that turn values into others, which `NSExpression` does not have.
extension ExpressionParser {
    /// `CONVERT(value, "date", "dd.MM.yyyy")`, `FIELD(value, "json", "key")` or
    /// `NORMALIZE(value, "trim")`; stands at the name.
    mutating func conversion(_ name: String) throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        return try nested { parser throws(PlacedError) in
            try parser.expect("(")
            let value = try parser.operand(atLeast: Precedence.or)
            var words: [(text: String, place: Int)] = []
            while parser.accept(",") {
                let place = parser.position
                words.append((try parser.text("a text in quotation marks"), place))
            }
            try parser.expect(")")
            let conversion: ValueConversion
            switch ReservedWords.folded(name) {
            case "convert": conversion = try Self.typeChange(words, at: start)
            case "field": conversion = .field(try Self.field(words, at: start))
            default: conversion = .normalized(try Self.steps(words, at: start))
            }
            return try ParsedOperand(
                .conversion(conversion, of: try value.expression()), over: [value], at: start)
        }
    }

    /// `ATTEMPT(value, value)`.
    mutating func attempt(_ name: String) throws(PlacedError) -> ParsedOperand {
        let start = position
        advance()
        let parts = try list(from: "(", to: ")")
        try check(parts, count: 2, of: name, at: start)
        return try ParsedOperand(
            .attempt(try parts[0].expression(), otherwise: try parts[1].expression()),
            over: parts, at: start)
    }

    private static func typeChange(
        _ words: [(text: String, place: Int)], at start: Int
    ) throws(PlacedError) -> ValueConversion {
        guard let first = words.first, words.count <= 3 else {
            throw PlacedError(
                .syntax, "CONVERT takes a value, a type, and for dates a format and a zone", start)
        }
        guard let type = ValueConversion.types[first.text] else {
            throw PlacedError(
                .unknownName, "no value can be converted to \(first.text)", first.place,
                suggestion: NameSuggestion.nearest(
                    to: first.text, among: ValueConversion.types.keys.sorted()
                ).first)
        }
        guard words.count > 1 else { return .type(type, format: nil) }
        var offset = 0
        if words.count > 2 {
            guard let zone = DateFormat.offset(words[2].text) else {
                throw PlacedError(
                    .syntax, "a zone is UTC or an offset such as +02:00", words[2].place)
            }
            offset = zone
        }
        do throws(ExpressionError) {
            return .type(type, format: try DateFormat(words[1].text, offset: offset))
        } catch {
            throw PlacedError(error.reason, error.message, words[1].place)
        }
    }

    private static func field(
        _ words: [(text: String, place: Int)], at start: Int
    ) throws(PlacedError) -> DocumentField {
        guard let first = words.first, let form = DocumentField.Form(rawValue: first.text),
            words.count > 1
        else {
            throw PlacedError(
                .syntax, "FIELD takes a value, \"json\" or \"plist\", and at least one key",
                words.first?.place ?? start)
        }
        return DocumentField(form: form, path: words.dropFirst().map(\.text))
    }

    private static func steps(
        _ words: [(text: String, place: Int)], at start: Int
    ) throws(PlacedError) -> [TextStep] {
        guard !words.isEmpty else {
            throw PlacedError(.syntax, "NORMALIZE takes a value and at least one step", start)
        }
        var steps: [TextStep] = []
        for word in words {
            guard let step = TextStep(rawValue: word.text) else {
                let known = TextStep.allCases.map(\.rawValue)
                throw PlacedError(
                    .unknownName,
                    "there is no step \(word.text); known are \(known.joined(separator: ", "))",
                    word.place)
            }
            steps.append(step)
        }
        return steps
    }
}
