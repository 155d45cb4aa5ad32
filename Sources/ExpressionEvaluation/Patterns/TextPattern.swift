package import MappingExpressions

/// A regular expression that whole texts match or not, as `MATCHES` asks.
///
/// The syntax is a subset of ICU's: literals, `.`, sets with ranges, negation, nested sets, classes
/// such as `[:alpha:]`, `\d \w \s \h` and `\p{…}` with general categories and common properties,
/// anchors, word boundaries, groups, alternatives, quantifiers and the flags i, m and s. The
/// machine follows all alternatives at once (Thompson's construction), so that no pattern takes
/// more time than its instructions times the scalars of the text. It compares Unicode scalars,
/// as ICU does: a composed letter does not match its decomposition. Case is ignored by simple
/// case folding, one scalar for one.
package struct TextPattern: Sendable {
    private let program: PatternProgram

    /// Reads a pattern.
    ///
    /// - Parameters:
    ///   - pattern: at most 4,096 scalars.
    ///   - ignoresCase: as if the pattern started with `(?i)`.
    /// - Throws: `ExpressionError` for what is malformed, unknown, unsupported or too large; its
    ///   message quotes nothing of the pattern.
    /// - Complexity: O(instructions), at most 20,000.
    package init(_ pattern: String, ignoresCase: Bool = false) throws(ExpressionError) {
        let node = try PatternParser.parse(pattern, flags: PatternFlags(ignoresCase: ignoresCase))
        program = try PatternProgram(node)
    }

    /// A pattern as a table; nil for one that fails or has none.
    static func table(_ pattern: String, ignoresCase: Bool) -> PatternTable? {
        do throws(ExpressionError) {
            let read = try TextPattern(pattern, ignoresCase: ignoresCase)
            var maker = PatternTableMaker(read.program)
            return maker.table()
        } catch {
            return nil
        }
    }

    /// Whether the whole text matches.
    ///
    /// - Complexity: O(instructions × scalars).
    package func matches(_ text: String) -> Bool {
        var machine = PatternMachine(program, text)
        return machine.run()
    }
}
