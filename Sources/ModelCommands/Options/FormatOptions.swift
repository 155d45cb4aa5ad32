import ArgumentParser
import CommandSupport
import Foundation
package import RunReports

/// How a command that gates a build prints what it found.
package enum OutputFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case text, json, junit, github
}

/// `--format` and `--json`.
package struct FormatOptions: ParsableArguments {
    @Option(
        help: """
            text, json, junit (JUnit XML for build servers) or github (annotations of GitHub \
            Actions). Default: text.
            """)
    var format: OutputFormat?

    @Flag(help: "The same as --format json.")
    var json = false

    package init() {}

    package func validate() throws {
        if json, let format, format != .json {
            throw ValidationError("--json cannot be used with --format \(format.rawValue)")
        }
    }

    /// The format to print.
    package var chosen: OutputFormat { json ? .json : format ?? .text }

    /// Whether the format is made of cases.
    package var hasCases: Bool { chosen == .junit || chosen == .github }

    /// Runs a command that reports cases; one that cannot begin, though its options are right, is
    /// reported as a case that failed.
    ///
    /// - Parameters:
    ///   - name: of the command.
    ///   - body: gets a report without cases.
    /// - Throws: what the body throws.
    package func reporting(_ name: String, _ body: (CheckReport) throws -> Void) throws {
        let report = checkReport(name)
        do {
            try body(report)
        } catch let failure as CommandFailure {
            print(report.failed("\(failure.status)", failure.description))
            throw failure
        }
    }

    /// Prints a report in the formats that are made of cases.
    package func print(_ report: CheckReport) {
        switch chosen {
        case .text, .json: break
        case .junit: Console.printRaw(report.junit)
        case .github: Console.printRaw(report.github)
        }
    }

    /// A report without cases that begins now, on this machine.
    private func checkReport(_ name: String) -> CheckReport {
        // The schema of JUnit takes no time zone.
        let now = Date().ISO8601Format().prefix { $0 != "Z" }
        return CheckReport(name: name, timestamp: String(now), host: HostName.own)
    }
}
