/// What `quick_check` found, in words.
enum CheckFindings {
    /// Findings that are told; the others are counted.
    private static let limit = 3

    /// One line for rows that may have several lines each, under headings such as
    /// `*** in database main ***`.
    static func words(_ rows: [String]) -> String {
        let findings = rows.flatMap { $0.split(separator: "\n") }.filter { !$0.hasPrefix("***") }
        guard !findings.isEmpty else { return "no answer" }
        let told = findings.prefix(limit).joined(separator: "; ")
        let more = findings.count - limit
        return more > 0 ? "\(told); and \(more) more" : told
    }
}
