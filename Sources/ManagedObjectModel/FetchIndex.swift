/// A fetch index of an entity (`NSFetchIndexDescription`).
package struct FetchIndex: Hashable, Sendable, Codable {
    package var name: String
    package var elements: [FetchIndexElement]
    /// The condition of a partial index; nil for a full one.
    package var partialPredicate: Predicate?

    package init(name: String, elements: [FetchIndexElement], partialPredicate: Predicate? = nil) {
        self.name = name
        self.elements = elements
        self.partialPredicate = partialPredicate
    }
}

/// How an element of a fetch index is collated (`NSFetchIndexElementType`).
package enum FetchIndexElementType: Int, Hashable, Sendable, Codable {
    case binary = 0
    case rTree = 1
}

/// What an element of a fetch index refers to.
package enum FetchIndexTarget: Hashable, Sendable, Codable {
    /// An attribute or a relationship by name.
    case property(String)
    /// The expression `entity`: the column `Z_ENT`.
    case entity
    /// The expression `self` or `objectID`: the column `Z_PK`.
    case objectID
    /// Any other expression by its text; no layout is known for it.
    case expression(String)
}

/// One element of a fetch index.
package struct FetchIndexElement: Hashable, Sendable, Codable {
    package var target: FetchIndexTarget
    package var type: FetchIndexElementType
    package var isAscending: Bool

    package init(
        _ target: FetchIndexTarget, type: FetchIndexElementType = .binary, isAscending: Bool = true
    ) {
        self.target = target
        self.type = type
        self.isAscending = isAscending
    }
}

/// The part of predicates that partial indexes use.
package indirect enum Predicate: Hashable, Sendable, Codable {
    /// How a property is compared; raw values are SQL's operators.
    package enum Comparison: String, Hashable, Sendable, Codable {
        case lessThan = "<"
        case lessThanOrEqual = "<="
        case greaterThan = ">"
        case greaterThanOrEqual = ">="
        case equal = "="
        case notEqual = "<>"
    }

    /// A property compared with a constant; nil as the constant asks for the absence of a value.
    case compare(property: String, Comparison, DefaultValue?)
    case and([Predicate])
    case or([Predicate])
    case not(Predicate)
    /// A predicate outside this vocabulary, by its text as far as known.
    case unsupported(String)
}
