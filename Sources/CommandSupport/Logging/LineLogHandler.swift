import Foundation
import Logging

/// Writes log messages as lines.
///
/// A line of text begins with the time in UTC (ISO 8601, whole seconds), the level and the
/// program's name. What a message is about stands before it as `KIND: RUN/STORE: `. A line of JSON
/// has the time to the millisecond, the level, the message, and the metadata by their keys; the
/// number of a store is a number.
struct LineLogHandler: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level
    let format: LogFormat
    /// Milliseconds since 1970.
    let wallTime: @Sendable () -> Int64
    let write: @Sendable (String) -> Void

    init(
        level: Logger.Level, format: LogFormat, wallTime: @escaping @Sendable () -> Int64,
        write: @escaping @Sendable (String) -> Void
    ) {
        logLevel = level
        self.format = format
        self.wallTime = wallTime
        self.write = write
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        switch format {
        case .text: write(text(event, all))
        case .json: write(json(event, all))
        }
    }

    private func text(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        let date = Date(timeIntervalSince1970: Double(wallTime() / 1000))
        var line = "\(date.ISO8601Format()) \(event.level) godwit: "
        if let kind = metadata.text(.kind) { line += "\(kind): " }
        if let run = metadata.text(.run) {
            line += run + (metadata.text(.store).map { "/\($0)" } ?? "") + ": "
        }
        return line + "\(event.message)"
    }

    /// A message as JSON; its keys are sorted.
    private struct Entry: Encodable {
        let time: String
        let level: String
        let message: String
        let metadata: Logger.Metadata

        struct Key: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(_ text: String) { stringValue = text }
            init?(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode(time, forKey: Key("time"))
            try container.encode(level, forKey: Key("level"))
            try container.encode(message, forKey: Key("message"))
            for (key, value) in metadata {
                let text = "\(value)"
                if key == LogKey.store.rawValue, let number = Int(text) {
                    try container.encode(number, forKey: Key(key))
                } else {
                    try container.encode(text, forKey: Key(key))
                }
            }
        }
    }

    private func json(_ event: LogEvent, _ metadata: Logger.Metadata) -> String {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
        let time = Date(timeIntervalSince1970: Double(wallTime()) / 1000).formatted(style)
        let entry = Entry(
            time: time, level: event.level.rawValue, message: "\(event.message)",
            metadata: metadata)
        do throws(CommandFailure) {
            return try Console.json(entry, isPretty: false)
        } catch {
            return #"{"level":"error","message":"a message has no JSON"}"#
        }
    }
}
