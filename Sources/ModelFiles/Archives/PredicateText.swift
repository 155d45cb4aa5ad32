import ManagedObjectModel

/// Words of the predicate format.
enum PredicateText {
    /// The class whose functions a predicate names without saying so.
    static let functionReceiver = "_NSPredicateUtilities"
    static let countSuffix = ".@count"

    /// Whether a text is a path of property names and nothing else.
    static func isKeyPath(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, !("0"..."9").contains(first) else {
            return false
        }
        return text.unicodeScalars.allSatisfy { scalar in
            scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) || scalar == "_"
                || scalar == "." || scalar == "@"
        }
    }

    /// A constant as a predicate writes it.
    static func of(_ value: DefaultValue) -> String {
        switch value {
        case .integer(let number): String(number)
        case .real(let number): "\(number)"
        case .decimal(let text): text
        case .boolean(let flag): flag ? "1" : "0"
        case .text(let text), .uri(let text): Predicate.quoted(text)
        case .date(let seconds): "CAST(\(seconds), \"NSDate\")"
        case .data, .uuid: "<data>"
        }
    }

    /// The word for an `NSPredicateOperatorType`; its options stand in brackets behind it.
    static func operatorWord(_ number: Int64, options: Int64) -> String {
        let word =
            switch number {
            case 0: "<"
            case 1: "<="
            case 2: ">"
            case 3: ">="
            case 4: "=="
            case 5: "!="
            case 6: "MATCHES"
            case 7: "LIKE"
            case 8: "BEGINSWITH"
            case 9: "ENDSWITH"
            case 10: "IN"
            case 99: "CONTAINS"
            case 100: "BETWEEN"
            default: "<operator \(number)>"
            }
        let letters = (options & 1 != 0 ? "c" : "") + (options & 2 != 0 ? "d" : "")
        return letters.isEmpty ? word : "\(word)[\(letters)]"
    }
}

extension Predicate.Comparison {
    /// From an `NSPredicateOperatorType`; nil for those that are no comparison of order.
    init?(archived number: Int64) {
        switch number {
        case 0: self = .lessThan
        case 1: self = .lessThanOrEqual
        case 2: self = .greaterThan
        case 3: self = .greaterThanOrEqual
        case 4: self = .equal
        case 5: self = .notEqual
        default: return nil
        }
    }

    var archivedNumber: Int64 {
        switch self {
        case .lessThan: 0
        case .lessThanOrEqual: 1
        case .greaterThan: 2
        case .greaterThanOrEqual: 3
        case .equal: 4
        case .notEqual: 5
        }
    }
}
