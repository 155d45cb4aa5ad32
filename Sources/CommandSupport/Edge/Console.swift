import DurableFiles
import Foundation
import Glibc
import RunReports

/// Standard output for data, standard error for everything else.
///
/// All texts pass through here, and names in them come from files of strangers: control
/// characters are made visible, so that no name can steer the terminal or forge a line.
package enum Console {
    /// Writes a text and a line break to standard output.
    package static func print(_ text: String) { write(visible(text) + "\n", to: STDOUT_FILENO) }

    /// Writes a text that holds nothing but what this program made of names: JSON.
    package static func printRaw(_ text: String) { write(text, to: STDOUT_FILENO) }

    /// Writes a value as JSON with sorted keys to standard output.
    ///
    /// - Throws: `CommandFailure` for a value that JSON cannot hold.
    package static func printJSON(_ value: some Encodable) throws(CommandFailure) {
        write(try json(value) + "\n", to: STDOUT_FILENO)
    }

    /// Writes a value as JSON with sorted keys to standard output, in one line.
    ///
    /// - Throws: `CommandFailure` for a value that JSON cannot hold.
    static func printJSONLine(_ value: some Encodable) throws(CommandFailure) {
        write(try json(value, isPretty: false) + "\n", to: STDOUT_FILENO)
    }

    /// Writes a text and a line break to standard error.
    package static func log(_ text: String) { write(visible(text) + "\n", to: STDERR_FILENO) }

    /// Replaces the last line of the terminal at standard error; an empty text clears it.
    package static func status(_ text: String) {
        write("\r\u{1B}[K" + visible(text), to: STDERR_FILENO)
    }

    /// Replaces the last lines of the terminal at standard error, which `count` lines are, by
    /// others; each must fit into the terminal's width, all of them into its height.
    static func redraw(_ lines: [String], over count: Int) {
        let up = count > 0 ? "\u{1B}[\(count)A" : ""
        write(
            "\r\(up)\u{1B}[J" + lines.map { visible($0) + "\n" }.joined(), to: STDERR_FILENO)
    }

    /// Writes a text and a line break to standard error where that cannot block.
    static func lastWord(_ text: String) {
        var writable = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
        // A pipe with any room takes this much at once.
        let line = Array((visible(text) + "\n").utf8.prefix(4096))
        guard poll(&writable, 1, 0) == 1, writable.revents & Int16(POLLOUT) != 0 else { return }
        _ = line.withUnsafeBytes { Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Whether standard error is a terminal.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// A value as JSON with sorted keys.
    static func json(
        _ value: some Encodable, isPretty: Bool = true
    ) throws(CommandFailure) -> String {
        do {
            return try PrintedText.json(value, isPretty: isPretty)
        } catch {
            throw CommandFailure(.bug, "a bug in Godwit: the result has no JSON: \(error)")
        }
    }

    private static func visible(_ text: String) -> String { PrintedText.visible(text) }

    private static func write(_ text: String, to descriptor: Int32) {
        Interruption.shared.gate()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            // No program reads: there is nowhere left to say so.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}
