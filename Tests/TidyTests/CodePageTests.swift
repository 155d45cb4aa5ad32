import Testing

/// The page of states and codes names all there are, with their numbers.
@Suite struct CodePageTests {
    /// Enums by their file, and the heading of the page below which their cases are.
    static let enums: [(name: String, file: String, heading: String)] = [
        ("CommandStatus", "Sources/RunReports/CommandStatus.swift", "Exit codes"),
        ("RunState", "Sources/Jobs/RunState.swift", "Runs"),
        ("RunPhase", "Sources/ClusterVocabulary/States.swift", "Runs"),
        ("StoreState", "Sources/Jobs/StoreState.swift", "Stores"),
        ("StorePhase", "Sources/ClusterVocabulary/States.swift", "Stores"),
        ("JobPhase", "Sources/ClusterVocabulary/States.swift", "Jobs"),
        ("AttemptPhase", "Sources/ClusterVocabulary/States.swift", "Attempts"),
        ("HeldPhase", "Sources/WorkerRules/WorkerStates.swift", "Attempts"),
        ("DenialReason", "Sources/ClusterProtocol/Messages/CoordinatorMessage.swift", "Attempts"),
        ("WorkerPhase", "Sources/ClusterVocabulary/States.swift", "Workers"),
        ("State", "Sources/ClusterProtocol/Messages/ClientReply.swift", "Workers"),
        ("LinkPhase", "Sources/WorkerRules/WorkerStates.swift", "Workers"),
        ("WorkPhase", "Sources/WorkerRules/WorkerStates.swift", "Workers"),
        ("FailureCause", "Sources/Jobs/FailureCause.swift", "Causes of failures"),
        (
            "WaitingReason", "Sources/ClusterProtocol/Messages/WaitingReason.swift",
            "Reasons for waits"
        ),
        ("IdleReason", "Sources/ClusterProtocol/Messages/IdleReason.swift", "Reasons for waits"),
        ("Code", "Sources/ClusterProtocol/Messages/CoordinatorMessage.swift", "Refusals"),
    ]

    /// A case with its raw number, where the code gives one.
    struct Case: Hashable {
        let name: String
        let number: String?
    }

    /// The cases of an enum whose declaration begins a line.
    static func cases(of name: String, in text: [String]) -> [Case] {
        let code = Code(TextFile(path: "", text: text.joined(separator: "\n"))).lines
        guard let start = code.firstIndex(where: { $0.contains("enum \(name):") }) else {
            return []
        }
        let indent = code[start].prefix { $0 == " " }.count
        var cases: [Case] = []
        for line in code[(start + 1)...] {
            let words = line.drop { $0 == " " }
            let depth = line.prefix { $0 == " " }.count
            if words.hasPrefix("}"), depth == indent { break }
            // Deeper ones are those of a switch.
            guard words.hasPrefix("case "), depth == indent + 4 else { continue }
            for part in list(words.dropFirst("case ".count)) {
                let sides = part.split(separator: "=").map { $0.filter { $0 != " " } }
                let name = sides[0].prefix { $0 != "(" }
                cases.append(Case(name: String(name), number: sides.dropFirst().first))
            }
        }
        return cases
    }

    /// Splits at the commas outside of parentheses.
    private static func list(_ text: Substring) -> [String] {
        var parts = [""]
        var depth = 0
        for character in text {
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            if character == ",", depth == 0 {
                parts.append("")
            } else {
                parts[parts.count - 1].append(character)
            }
        }
        return parts
    }

    /// The lines below a heading of the page.
    private static func section(_ heading: String, of page: TextFile) -> [String] {
        guard let start = page.lines.firstIndex(of: "## \(heading)") else { return [] }
        let rest = page.lines[(start + 1)...]
        return Array(rest.prefix { !$0.hasPrefix("## ") })
    }

    @Test(arguments: enums.indices) func everyCaseIsOnThePage(index: Int) throws {
        let (name, path, heading) = Self.enums[index]
        let page = try #require(Repository.files.first { $0.path == "docs/reference/codes.md" })
        let file = try #require(Repository.files.first { $0.path == path })
        let cases = Self.cases(of: name, in: file.lines)
        try #require(cases.count > 1, "\(path) has no enum \(name)")
        let section = Self.section(heading, of: page)
        try #require(!section.isEmpty, "no section \(heading)")
        for one in cases {
            let lines = section.filter { $0.contains("`\(one.name)`") }
            #expect(!lines.isEmpty, "\(heading) does not name \(name).\(one.name)")
            if let number = one.number {
                let isNumbered = lines.contains { $0.hasPrefix("| \(number) | `\(one.name)`") }
                let isListed = lines.contains { $0.hasPrefix("| `\(one.name)`") }
                #expect(
                    isNumbered || isListed && name == "State",
                    "\(heading) gives \(name).\(one.name) another number than \(number)")
            }
        }
    }

    @Test func casesAreRead() {
        let text = """
            package enum Example: Int {
                /// One.
                case one = 1, two = 2
                case three(text: String, more: Int)
                var word: String {
                    switch self {
                        case .one: "case four"
                    }
                }
                case five
            }
            enum Other: Int { case six }
            """
        let cases = Self.cases(of: "Example", in: text.split(separator: "\n").map(String.init))
        #expect(cases.map(\.name) == ["one", "two", "three", "five"])
        #expect(cases.map(\.number) == ["1", "2", nil, nil])
        #expect(Self.cases(of: "Missing", in: ["enum Example: Int {"]).isEmpty)
    }
}
