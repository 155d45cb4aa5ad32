/// No type is spread over more than five files, no target has more than 4,000 lines of ours.
enum SizeRules {
    static let typeFiles = 5
    static let targetLines = 4_000

    /// Types of these sources that more files declare or extend, at the top level.
    ///
    /// Types of other packages are left out: everyone may extend them.
    static func scatteredTypes(_ codes: [Code]) -> [Violation] {
        var files: [String: Set<String>] = [:]
        var declared: [String: [(path: String, line: Int)]] = [:]
        for code in codes {
            for (index, line) in code.lines.enumerated() {
                guard let (name, isExtension) = topLevelType(line) else { continue }
                files[name, default: []].insert(code.path)
                if !isExtension { declared[name, default: []].append((code.path, index + 1)) }
            }
        }
        return declared.compactMap { name, places in
            // Types of one name in several targets share the count: each may have so many files.
            guard let first = places.first, let count = files[name]?.count,
                count > typeFiles * places.count
            else { return nil }
            return Violation(
                path: first.path, line: first.line,
                text: "\(name) is spread over \(count) files, more than \(typeFiles)")
        }
    }

    /// Targets of these files that have more lines.
    static func largeTargets(_ files: [TextFile]) -> [Violation] {
        var lines: [String: Int] = [:]
        for file in files {
            let parts = file.path.split(separator: "/")
            guard parts.count > 2, parts[0] == "Sources" else { continue }
            lines[String(parts[1]), default: 0] += file.lines.count
        }
        return lines.filter { $0.value > targetLines }.map { target, count in
            Violation(
                path: "Sources/\(target)", line: 1,
                text: "\(count) lines, more than \(targetLines): split the target")
        }
    }

    private static let modifiers: Set<Substring> = [
        "open", "public", "package", "internal", "private", "fileprivate", "final", "indirect",
        "nonisolated",
    ]
    private static let kinds: Set<Substring> = [
        "struct", "enum", "class", "actor", "protocol", "extension",
    ]

    /// The name of the type that a line declares or extends at the top level.
    private static func topLevelType(_ line: String) -> (name: String, isExtension: Bool)? {
        guard let first = line.first, first.isLetter || first == "@" else { return nil }
        let plain = line.replacing(/@\w+(\([^)]*\))?/, with: "")
        var words = plain.split(separator: " ")[...]
        while let word = words.first, modifiers.contains(word) { words.removeFirst() }
        guard let kind = words.popFirst(), kinds.contains(kind), let name = words.first else {
            return nil
        }
        let letters = name.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
        return letters.isEmpty ? nil : (String(letters), kind == "extension")
    }
}
