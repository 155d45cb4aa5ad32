extension DeleteRule {
    /// The word of Xcode and of the XML model, such as `No Action`.
    package var word: String {
        switch self {
        case .noAction: "No Action"
        case .nullify: "Nullify"
        case .cascade: "Cascade"
        case .deny: "Deny"
        }
    }

    /// The rule that a word of the XML model names; nil for an unknown word.
    package init?(word: String) {
        switch word {
        case "No Action": self = .noAction
        case "Nullify": self = .nullify
        case "Cascade": self = .cascade
        case "Deny": self = .deny
        default: return nil
        }
    }
}
