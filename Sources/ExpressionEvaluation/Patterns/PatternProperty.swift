/// A property of Unicode scalars that a pattern may ask for.
enum PatternProperty: Sendable {
    /// General categories by their abbreviations of one or two letters.
    case category(String)
    case alphabetic, uppercase, lowercase, whiteSpace, hexDigit, word, digit, alphanumeric
    case blank, graphic, printable, ascii, any

    /// The property of a name in `\p{…}`; letter case, spaces, `_` and `-` do not count.
    init?(name: String) {
        var name = name.lowercased().filter { $0 != " " && $0 != "_" && $0 != "-" }
        for prefix in ["gc=", "generalcategory="] where name.hasPrefix(prefix) {
            name.removeFirst(prefix.count)
        }
        if let category = Self.categories[name] {
            self = .category(category)
        } else if let property = Self.properties[name] {
            self = property
        } else {
            return nil
        }
    }

    /// The property of a name in `[:…:]`.
    init?(posixName name: String) {
        guard let property = Self.posix[name] else { return nil }
        self = property
    }

    /// Names for suggestions.
    static let names = [
        "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P", "S",
        "Z", "C", "Letter", "Mark", "Number", "Punctuation", "Symbol", "Separator", "Alphabetic",
        "Uppercase", "Lowercase", "White_Space", "Hex_Digit", "ASCII", "Any",
    ]

    /// Names for suggestions of `[:…:]`.
    static var posixNames: [String] { posix.keys.sorted() }

    private static let categories: [String: String] = {
        var categories: [String: String] = [:]
        let short = [
            "L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "Mn", "Mc", "Me", "N", "Nd", "Nl", "No", "P",
            "Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "S", "Sm", "Sc", "Sk", "So", "Z", "Zs", "Zl",
            "Zp", "C", "Cc", "Cf", "Cs", "Co", "Cn",
        ]
        for name in short { categories[name.lowercased()] = name }
        let long = [
            "letter": "L", "uppercaseletter": "Lu", "lowercaseletter": "Ll",
            "titlecaseletter": "Lt", "modifierletter": "Lm", "otherletter": "Lo", "mark": "M",
            "nonspacingmark": "Mn", "spacingmark": "Mc", "enclosingmark": "Me", "number": "N",
            "decimalnumber": "Nd", "letternumber": "Nl", "othernumber": "No", "punctuation": "P",
            "symbol": "S", "mathsymbol": "Sm", "currencysymbol": "Sc", "separator": "Z",
            "spaceseparator": "Zs", "other": "C", "control": "Cc", "format": "Cf",
            "unassigned": "Cn", "privateuse": "Co", "digit": "Nd", "punct": "P", "cntrl": "Cc",
        ]
        return categories.merging(long) { first, _ in first }
    }()

    private static let properties: [String: PatternProperty] = [
        "alphabetic": .alphabetic, "alpha": .alphabetic, "uppercase": .uppercase,
        "upper": .uppercase, "lowercase": .lowercase, "lower": .lowercase,
        "whitespace": .whiteSpace, "space": .whiteSpace, "hexdigit": .hexDigit, "ascii": .ascii,
        "any": .any, "alnum": .alphanumeric,
    ]

    private static let posix: [String: PatternProperty] = [
        "alpha": .alphabetic, "digit": .digit, "alnum": .alphanumeric, "upper": .uppercase,
        "lower": .lowercase, "punct": .category("P"), "space": .whiteSpace,
        "cntrl": .category("Cc"), "blank": .blank, "xdigit": .hexDigit, "graph": .graphic,
        "print": .printable, "word": .word,
    ]

    /// Whether a scalar has the property.
    func holds(_ scalar: Unicode.Scalar) -> Bool {
        let properties = scalar.properties
        let category = properties.generalCategory
        switch self {
        case .category(let name): return category.abbreviation.hasPrefix(name)
        case .alphabetic: return properties.isAlphabetic
        case .uppercase: return properties.isUppercase
        case .lowercase: return properties.isLowercase
        case .whiteSpace: return properties.isWhitespace
        case .hexDigit: return properties.isHexDigit
        case .digit: return category == .decimalNumber
        case .alphanumeric: return properties.isAlphabetic || category == .decimalNumber
        case .word: return Self.isWord(scalar)
        case .blank: return scalar == "\t" || category == .spaceSeparator
        case .graphic: return Self.isGraphic(scalar)
        case .printable:
            return category == .spaceSeparator || Self.isGraphic(scalar)
        case .ascii: return scalar.isASCII
        case .any: return true
        }
    }

    /// `\w` of ICU: letters, marks, decimal digits, connectors and joiners.
    static func isWord(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII {
            return scalar == "_" || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
        }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .connectorPunctuation:
            return true
        default:
            return scalar.properties.isAlphabetic || scalar.value == 0x200C
                || scalar.value == 0x200D
        }
    }

    private static func isGraphic(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .surrogate, .unassigned: false
        default: !scalar.properties.isWhitespace
        }
    }
}

extension Unicode.GeneralCategory {
    /// The two letters of the category, such as `Lu`.
    var abbreviation: String {
        switch self {
        case .uppercaseLetter: "Lu"
        case .lowercaseLetter: "Ll"
        case .titlecaseLetter: "Lt"
        case .modifierLetter: "Lm"
        case .otherLetter: "Lo"
        case .nonspacingMark: "Mn"
        case .spacingMark: "Mc"
        case .enclosingMark: "Me"
        case .decimalNumber: "Nd"
        case .letterNumber: "Nl"
        case .otherNumber: "No"
        case .connectorPunctuation: "Pc"
        case .dashPunctuation: "Pd"
        case .openPunctuation: "Ps"
        case .closePunctuation: "Pe"
        case .initialPunctuation: "Pi"
        case .finalPunctuation: "Pf"
        case .otherPunctuation: "Po"
        case .mathSymbol: "Sm"
        case .currencySymbol: "Sc"
        case .modifierSymbol: "Sk"
        case .otherSymbol: "So"
        case .spaceSeparator: "Zs"
        case .lineSeparator: "Zl"
        case .paragraphSeparator: "Zp"
        case .control: "Cc"
        case .format: "Cf"
        case .surrogate: "Cs"
        case .privateUse: "Co"
        case .unassigned: "Cn"
        @unknown default: "Cn"
        }
    }
}
