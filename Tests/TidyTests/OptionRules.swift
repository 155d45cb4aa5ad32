/// Texts of libraries name no option of a program: the command line alone knows which it has.
enum OptionRules {
    private static let allowed = [
        "Sources/CommandSupport/", "Sources/ModelCommands/", "Sources/RunCommands/",
        "Sources/GodwitCommands/", "Sources/godwit/", "Sources/godwit-bench/",
        "Sources/godwit-sim/",
        // Variables of CSS.
        "Sources/RunReports/HTMLStyle.swift",
    ]

    static func check(_ code: Code) -> [Violation] {
        guard !allowed.contains(where: { code.path.hasPrefix($0) }) else { return [] }
        return code.original.indices.filter { index in
            let line = code.original[index]
            guard !line.drop(while: \.isWhitespace).hasPrefix("//") else { return false }
            return line.ranges(of: "--").contains { range in
                let after = line[range.upperBound...]
                // In code it would be an operator, which the language does not have.
                return after.first?.isLowercase == true && after.first?.isASCII == true
            }
        }.map {
            Violation(
                path: code.path, line: $0 + 1,
                text: "an option in a library's text: the command line adds it")
        }
    }
}
