import DurableFiles

/// Something that can be done after a run.
package struct NextStep: Hashable, Sendable {
    /// What it is for, as a sentence's beginning.
    package let purpose: String
    /// As it is typed.
    package let command: String

    /// What makes sense after a run, the most urgent first.
    static func all(after report: RunReport) -> [NextStep] {
        let outcomes = report.summary.outcomes
        let place =
            "\(ShellWord.quoted(report.facts.run)) "
            + "--state \(ShellWord.quoted(report.facts.state))"
        var steps: [NextStep] = []
        func add(_ verb: String, _ purpose: String) {
            steps.append(NextStep(purpose: purpose, command: "godwit \(verb) \(place)"))
        }
        if outcomes[.failed] != nil {
            add("replay", "repair the causes, then retry the failed stores")
        }
        if outcomes[.deferred] != nil { add("swap", "swap the results in") }
        if report.summary.backups > 0 {
            add("rollback", "put the originals back")
            let size = ByteSize(bytes: report.summary.backupBytes).words
            add("prune", "remove the kept originals, which frees \(size)")
        }
        return steps
    }
}

/// Words for a shell.
enum ShellWord {
    /// A text as one word.
    static func quoted(_ text: String) -> String { quoted(FilePath(text)) }

    /// A path as one word that gives the same bytes back, whatever they are.
    static func quoted(_ path: FilePath) -> String {
        let plain = Set("/._-+=:@%,".utf8)
        let isPlain = path.bytes.allSatisfy { byte in
            plain.contains(byte) || (0x30...0x39).contains(byte)
                || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
        }
        if isPlain, !path.bytes.isEmpty { return path.description }
        if let text = path.string, PrintedText.visible(text) == text, !text.contains("\n") {
            return "'"
                + text.split(separator: "'", omittingEmptySubsequences: false)
                .joined(separator: "'\\''") + "'"
        }
        // bash, zsh and ksh read \xNN and \\ in $'…' as `description` writes them.
        return "$'"
            + path.description.split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "\\'") + "'"
    }
}
