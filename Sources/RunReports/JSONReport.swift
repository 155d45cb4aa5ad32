import Foundation

/// The report as JSON: `{"run": …, "stores": […], "summary": …}`, one store a line.
package enum JSONReport {
    /// Writes the report, one store at a time.
    ///
    /// - Parameters:
    ///   - report: what the stores add up to.
    ///   - stores: the same stores.
    ///   - write: gets the text in pieces.
    /// - Throws: `CommandFailure` for numbers that JSON cannot hold, and what `stores` and
    ///   `write` throw.
    package static func write(
        _ report: RunReport, stores: StoreReports, to write: (String) throws -> Void
    ) throws {
        func text(_ value: some Encodable) throws -> String {
            try PrintedText.json(value, isPretty: false)
        }
        try write("{\n\"run\": \(try text(report.facts)),\n\"stores\": [")
        var separator = "\n"
        try stores.forEach { store in
            try write(separator + (try text(store)))
            separator = ",\n"
        }
        try write("\n],\n\"summary\": \(try text(report.summary))\n}\n")
    }
}
