extension PredicateComparison {
    /// `IN` of members that are written out, as comparisons of two values; nil for another
    /// comparison.
    ///
    /// All are constants and variables: the left side is said for each member, and no member can
    /// fail, which an evaluation of all would show.
    package var asComparisons: MappingPredicate? {
        guard quantifier == .direct, relation == .contained, case .list(let members) = right,
            !members.isEmpty, ([left] + members).allSatisfy(\.isLeaf)
        else { return nil }
        return .or(
            members.map {
                .comparison(PredicateComparison(left, .equal, $0, options: options))
            })
    }
}

extension MappingExpression {
    /// Whether it is a value of the row or a constant.
    fileprivate var isLeaf: Bool {
        switch self {
        case .null, .constant, .variable: true
        default: false
        }
    }
}
