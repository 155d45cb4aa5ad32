import Foundation

/// The log of a long-running process: each line begins with its time.
struct ServiceLog: Sendable {
    /// Milliseconds since 1970.
    let wallTime: @Sendable () -> Int64

    /// The log of this process.
    static let standard = ServiceLog {
        CommandEnvironment.wallMilliseconds()
    }

    /// Writes a line to standard error.
    func write(_ text: String) { Console.log(line(text)) }

    /// The line of a text: the time in UTC (ISO 8601, whole seconds), then the program's name.
    func line(_ text: String) -> String {
        let date = Date(timeIntervalSince1970: Double(wallTime() / 1000))
        return "\(ISO8601DateFormatter().string(from: date)) godwit: \(text)"
    }
}
