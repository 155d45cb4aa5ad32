import DurableFiles
import RunReports

/// Words for a shell.
package enum ShellWord {
    /// A text as one word.
    package static func quoted(_ text: String) -> String { quoted(FilePath(text)) }

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
