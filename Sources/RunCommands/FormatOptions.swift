import ArgumentParser
import CommandSupport
import Foundation
import RunReports

/// How a command that gates a build prints what it found.
enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json, junit, github
}

/// `--format` and `--json`.
struct FormatOptions: ParsableArguments {
    @Option(
        help: """
            text, json, junit (JUnit XML for build servers) or github (annotations of GitHub \
            Actions). Default: text.
            """)
    var format: OutputFormat?

    @Flag(help: "The same as --format json.")
    var json = false

    func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json cannot be used with --format \(format.rawValue)")
        }
    }

    /// The format to print.
    var chosen: OutputFormat { json ? .json : format ?? .text }

    /// A report without cases that begins now, on this machine.
    func checkReport(_ name: String) -> CheckReport {
        // The schema of JUnit takes no time zone.
        let now = ISO8601DateFormatter().string(from: Date()).prefix { $0 != "Z" }
        return CheckReport(name: name, timestamp: String(now), host: HostName.own)
    }
}
