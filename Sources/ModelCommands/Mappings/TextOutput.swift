import ArgumentParser
import CommandSupport
import DurableFiles

/// `--output` of commands that write a text.
struct TextOutput: ParsableArguments {
    @Option(help: "The file to write; it must not exist. Default: standard output.")
    var output: String?

    /// Writes the text.
    ///
    /// - Throws: `CommandFailure` with status 64 for a file that exists, 74 where it cannot be
    ///   written.
    func write(_ text: String) throws(CommandFailure) {
        guard let output else { return Console.printRaw(text) }
        let files = DurableFileSystem()
        try CommandFailure.translating {
            let path = FilePath(output)
            guard try FileStatus.ifPresent(path) == nil else {
                throw CommandFailure.usage("\(output) exists already; name another file")
            }
            try files.publish(
                Array(text.utf8), to: path, permissions: 0o644, existing: .refuse)
        }
    }
}
