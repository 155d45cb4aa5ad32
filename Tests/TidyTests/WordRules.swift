/// What must not be written anywhere: unfinished-work markers, paths of one machine, and words
/// that hide who acts or that few readers know.
enum WordRules {
    // Put together here, so that this file does not break its own rule.
    static let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    static let machinePaths = ["/wo" + "rk/", "/tmp" + "/w/", "/ho" + "me/", "/Us" + "ers/"]

    /// Words with what to write instead.
    static let obscure = [
        "who" + "ever": "name who acts", "some" + "body": "name who acts",
        "no" + "body": "name who does not act", "a" + "new": "again", "me" + "nd": "repair",
        "me" + "nds": "repairs", "me" + "nded": "repaired", "me" + "nding": "repairing",
    ]

    /// The same for phrases.
    static let obscurePhrases = [
        "for ev" + "er ": "without end, or never", "for ev" + "er.": "without end, or never",
        "told o" + "f ": "name who reports what",
    ]

    static func check(_ file: TextFile) -> [Violation] {
        file.lines.enumerated().flatMap { index, line in
            var found: [String] = []
            for marker in markers where containsWord(marker, in: line) {
                found.append("unfinished work is marked: \(marker)")
            }
            for word in words(of: line) {
                guard let instead = obscure[word.lowercased()] else { continue }
                found.append("an obscure word: \(word) (\(instead))")
            }
            for (phrase, instead) in obscurePhrases where (line + " ").contains(phrase) {
                found.append("an obscure phrase: \(phrase)(\(instead))")
            }
            for path in machinePaths where containsPathStart(path, in: line) {
                found.append("a path of one machine: \(path)")
            }
            return found.map { Violation(path: file.path, line: index + 1, text: $0) }
        }
    }

    private static func words(of line: String) -> [Substring] {
        line.split { !$0.isLetter && !$0.isNumber }
    }

    private static func containsWord(_ word: String, in line: String) -> Bool {
        words(of: line).contains { $0 == word }
    }

    /// A path starts where no name precedes the slash: folders of ours may have such names.
    private static func containsPathStart(_ path: String, in line: String) -> Bool {
        line.ranges(of: path).contains { range in
            guard range.lowerBound > line.startIndex else { return true }
            let before = line[line.index(before: range.lowerBound)]
            return !before.isLetter && !before.isNumber && !"._-/)}".contains(before)
        }
    }
}
