/// A set of Unicode scalars, such as `[a-z\d]`.
struct PatternSet: Sendable {
    /// A part of a set.
    enum Item: Sendable {
        case range(ClosedRange<UInt32>)
        case property(PatternProperty, isNegated: Bool)
        case set(PatternSet)
    }

    private var items: [Item]
    private var isNegated: Bool
    private var ignoresCase: Bool
    /// The answers for ASCII, most of all texts.
    private var lowAnswers: [Bool] = []

    init(_ items: [Item], isNegated: Bool = false, ignoresCase: Bool = false) {
        self.items = items
        self.isNegated = isNegated
        self.ignoresCase = ignoresCase
        lowAnswers = (0..<0x80).map { search(Unicode.Scalar(UInt8($0))) }
    }

    /// What is answered for all scalars beyond ASCII; nil where the answers differ.
    var beyond: Bool? {
        let isASCII = items.allSatisfy { item in
            if case .range(let range) = item { range.upperBound < 0x80 } else { false }
        }
        return isASCII && !ignoresCase ? isNegated : nil
    }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value < 0x80 ? lowAnswers[Int(scalar.value)] : search(scalar)
    }

    private func search(_ scalar: Unicode.Scalar) -> Bool {
        let variants = ignoresCase ? SimpleCase.variants(scalar) : [scalar]
        let isFound = items.contains { item in
            switch item {
            case .range(let range):
                variants.contains { range.contains($0.value) }
                    || ignoresCase && range.count == 1 && holdsVariant(range, of: scalar)
            case .property(let property, let isNegated):
                variants.contains(where: property.holds) != isNegated
            case .set(let set): set.contains(scalar)
            }
        }
        return isFound != isNegated
    }

    private func holdsVariant(_ range: ClosedRange<UInt32>, of scalar: Unicode.Scalar) -> Bool {
        Unicode.Scalar(range.lowerBound).map(SimpleCase.fold) == SimpleCase.fold(scalar)
    }
}

/// Simple case folding: one scalar for one scalar, without a locale.
enum SimpleCase {
    /// The scalar that stands for all that differ from it by case only.
    static func fold(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        // Its upper case is that of i, but without a locale of Turkish it folds to itself.
        if scalar == "ı" { return scalar }
        return lower(upper(scalar))
    }

    /// The scalar itself and its other cases.
    static func variants(_ scalar: Unicode.Scalar) -> [Unicode.Scalar] {
        switch scalar {
        case "ı": [scalar]
        // Its upper case is two letters; the one below has it as its lower case.
        case "ß": [scalar, "ẞ"]
        default: [scalar, lower(scalar), upper(scalar), fold(scalar)]
        }
    }

    private static func upper(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        only(scalar.properties.uppercaseMapping) ?? scalar
    }

    private static func lower(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        only(scalar.properties.lowercaseMapping) ?? scalar
    }

    private static func only(_ text: String) -> Unicode.Scalar? {
        text.unicodeScalars.count == 1 ? text.unicodeScalars.first : nil
    }
}
