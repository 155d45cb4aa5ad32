/// Validation proves the copy by other means than the copy: it names nothing of the stages that
/// made the destination, nor of what the plan decided for them (design §7).
enum IndependenceRules {
    static let judge = "Sources/MigrationEngine/Validating/"
    static let judged = ["Copying", "Merging", "Linking"].map { "Sources/MigrationEngine/\($0)/" }
    /// The plan's decisions on how rows are copied.
    static let decisions: Set<String> = [
        "Cell", "FeedColumn", "EntityCell", "SourceRelation", "RelationStorage", "RelationEnd",
        "JoinPlan", "JoinFeed", "LinkPlan", "FeedPlanner", "RelationPlanner", "JoinPlanner",
    ]

    static func check(_ codes: [Code]) -> [Violation] {
        let judged = codes.filter { code in Self.judged.contains { code.path.hasPrefix($0) } }
        let judges = codes.filter { $0.path.hasPrefix(judge) }
        let own = Set(judges.flatMap(types))
        let forbidden = decisions.union(judged.flatMap(types)).subtracting(own)
        return judges.flatMap { code in
            code.lines.enumerated().flatMap { index, line in
                words(line).filter(forbidden.contains).map {
                    Violation(
                        path: code.path, line: index + 1,
                        text: "validation must not know \($0), which belongs to what it judges")
                }
            }
        }
    }

    /// The names of types that a file declares.
    private static func types(_ code: Code) -> [String] {
        let kinds: Set<String> = ["struct", "enum", "class", "protocol", "typealias"]
        return code.lines.compactMap { line in
            let words = words(line)
            guard let kind = words.firstIndex(where: kinds.contains), kind + 1 < words.count else {
                return nil
            }
            return words[kind + 1]
        }
    }

    private static func words(_ line: String) -> [String] {
        line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }.map(String.init)
    }
}
