import ArgumentParser
package import Logging

/// What a command logs to standard error, and in which form.
package struct LogOptions: ParsableArguments {
    @Option(
        help: """
            Log messages of this level and above: trace, debug, info, notice, warning, error or \
            critical. Default: info.
            """)
    var logLevel: LogLevel?

    @Option(help: "Write log messages as text, or as one JSON object per line (json).")
    var logFormat: LogFormat?

    /// Whether an option of the log was given.
    package var isGiven: Bool { logLevel != nil || logFormat != nil }

    /// The log of this process.
    ///
    /// It is not set up for the whole process: no library of ours logs, and tests run in one.
    package var logger: Logger {
        Logger(label: "godwit") { _ in
            LineLogHandler(
                level: (logLevel ?? .info).value, format: logFormat ?? .text,
                wallTime: { CommandEnvironment.wallMilliseconds() }, write: Console.log)
        }
    }
}

/// The levels of a log, by swift-log's words.
enum LogLevel: String, CaseIterable, ExpressibleByArgument {
    case trace, debug, info, notice, warning, error, critical

    /// The level as swift-log has it.
    var value: Logger.Level {
        switch self {
        case .trace: .trace
        case .debug: .debug
        case .info: .info
        case .notice: .notice
        case .warning: .warning
        case .error: .error
        case .critical: .critical
        }
    }
}

/// How lines of a log are written.
enum LogFormat: String, CaseIterable, ExpressibleByArgument {
    case text
    case json
}
