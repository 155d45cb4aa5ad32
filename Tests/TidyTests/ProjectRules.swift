/// The manifest explains its targets, and decision records are numbered without gaps.
enum ProjectRules {
    /// Every layer has a comment right above it; every other block of targets begins with one.
    static func uncommentedTargets(_ manifest: TextFile) -> [Violation] {
        guard let start = manifest.lines.firstIndex(where: { $0.hasPrefix("    targets: [") })
        else {
            return [Violation(path: manifest.path, line: 1, text: "it lists no targets")]
        }
        var found: [Violation] = []
        var blockHasComment = false
        for index in (start + 1)..<manifest.lines.count {
            let line = manifest.lines[index].drop { $0 == " " }
            if line.isEmpty { blockHasComment = false }
            if line.hasPrefix("//") { blockHasComment = true }
            let above = manifest.lines[index - 1].drop { $0 == " " }
            let isLayer = line.hasPrefix("layer(")
            let isTarget =
                isLayer || line.hasPrefix("tests(") || line.hasPrefix(".target(")
                || line.hasPrefix(".executableTarget(") || line.hasPrefix(".systemLibrary(")
                || line.hasPrefix(".testTarget(")
            if isTarget, !blockHasComment || isLayer && !above.hasPrefix("//") {
                let text = "a target without a comment on what it is for"
                found.append(Violation(path: manifest.path, line: index + 1, text: text))
            }
        }
        return found
    }

    /// Records are named `0001-what-was-decided.md` and so on; `template.md` and `README.md`
    /// may lie beside them.
    static func misnumberedRecords(_ names: [String]) -> [Violation] {
        let folder = "docs/decisions"
        let records = names.filter { $0 != "template.md" && $0 != "README.md" }.sorted()
        return records.enumerated().compactMap { index, name in
            let digits = String(index + 1)
            let number = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
            if name.hasPrefix("\(number)-") { return nil }
            let text = "record number \(number) is expected here"
            return Violation(path: "\(folder)/\(name)", line: 1, text: text)
        }
    }
}
