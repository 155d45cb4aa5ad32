package import ArgumentParser
package import CommandSupport
package import MappingFiles
package import MigrationPlans
import RunReports

/// `--mapping`.
package struct MappingOptions: ParsableArguments {
    @Option(
        name: .customLong("mapping"),
        help: ArgumentHelp(
            """
            A mapping model: .xcmappingmodel, .cdm or .yaml. Repeatable. Each store uses the one \
            for its version; if there is none, Godwit infers the mapping.
            """, valueName: "file"))
    package var files: [String] = []

    package init() {}

    /// Reads the files; warnings go to standard error.
    ///
    /// - Throws: `CommandFailure` with status 64 for a path at which nothing can be read, 65 for
    ///   a file that is no mapping.
    package func choices() throws(CommandFailure) -> [MappingChoice] {
        var choices: [MappingChoice] = []
        for path in files { choices.append(try MappingChoice(loading: path)) }
        return choices
    }
}

extension MappingChoice {
    /// Reads a mapping file; its warnings go to standard error.
    ///
    /// - Throws: `CommandFailure`, as `MappingFile.load`.
    init(loading path: String) throws(CommandFailure) {
        let file = try MappingFile.load(path)
        for warning in file.warnings { Console.log("warning: \(path): \(warning)") }
        self.init(
            name: path, definition: file.definition, source: file.embedded?.source,
            destination: file.embedded?.destination)
    }
}

extension MappingFile {
    /// Reads a mapping file that a command line names.
    ///
    /// - Throws: `CommandFailure` with status 64 for a path at which nothing can be read, 65 for
    ///   a file that is no mapping.
    package static func load(_ path: String) throws(CommandFailure) -> MappingFile {
        do throws(MappingFileError) {
            return try MappingFile(path: path)
        } catch {
            switch error {
            case .unreadable: throw .usage("\(error)")
            case .malformed, .unsupported, .steps: throw CommandFailure(.badData, "\(error)")
            }
        }
    }
}
