import MappingExpressions
import MappingModel
import Yams

/// What stands in the place of some values of an attribute: `{value: …, table: {OLD: NEW},
/// otherwise: …, default: …}`.
struct YAMLValueTable {
    private var entries: [(old: MappingExpression, new: MappingExpression)] = []
    private var otherwise: MappingExpression?
    private var missing: MappingExpression?

    /// - Throws: `MappingMistake` for a table without a value for others, and for one
    ///   beside nothing.
    init(_ fields: YAMLFields, _ node: Node) throws(MappingMistake) {
        missing = try fields["default"].map { node throws(MappingMistake) in
            try node.constant()
        }
        otherwise = try fields["otherwise"].map { node throws(MappingMistake) in
            try node.constant()
        }
        guard let table = fields["table"] else {
            guard otherwise == nil, missing != nil else {
                throw node.malformed("value needs default, or table and otherwise, beside it")
            }
            return
        }
        guard otherwise != nil else {
            throw node.malformed(
                "a table needs otherwise, which sets the result for values outside the table; a "
                    + "missing value stays missing unless default, or a key null, says otherwise")
        }
        for (key, value) in try table.pairs() {
            let old = try key.constant()
            guard !entries.contains(where: { $0.old == old }) else {
                throw key.malformed("the table has this value twice")
            }
            entries.append((old, try value.constant()))
        }
        guard !entries.isEmpty else { throw table.malformed("the table is empty") }
        guard entries.count <= Self.limit else {
            throw table.malformed("the table has more than \(Self.limit) values")
        }
    }

    /// Each value is one level of the expression, of which there are 64 at most.
    private static let limit = 48

    /// The values of an expression with those of the table in their place.
    ///
    /// A missing value is `default`, else what the table has for null, else none.
    func expression(over value: MappingExpression) -> MappingExpression {
        var result = otherwise ?? value
        for entry in entries.reversed() where entry.old != .null {
            result = .conditional(
                .comparison(PredicateComparison(value, .equal, entry.old)), entry.new, result)
        }
        let none = missing ?? entries.first { $0.old == .null }?.new ?? .null
        return .conditional(
            .comparison(PredicateComparison(value, .equal, .null)), none, result)
    }
}
