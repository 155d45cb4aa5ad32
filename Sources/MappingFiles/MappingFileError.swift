import MappingModel

/// Why a mapping file, or a steps file, could not be read or used; the text names the file and the
/// place in it.
package enum MappingFileError: Error, Hashable, Sendable {
    /// The file could not be read.
    case unreadable(String)
    /// The file is not what its format says.
    case malformed(String)
    /// The file uses something that Godwit does not support.
    case unsupported(String)
    /// A steps file is not what its format says.
    case steps(String)
}

extension MappingFileError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unreadable(let text): "the mapping cannot be read: \(text)"
        case .malformed(let text): "the mapping is malformed: \(text)"
        case .unsupported(let text): "the mapping cannot be used: \(text)"
        case .steps(let text): "the steps file cannot be used: \(text)"
        }
    }
}

extension MappingFileError {
    /// How many mistakes a message lists.
    private static let listLimit = 100

    /// The error of a file with mistakes; one of them stands in one line.
    static func mistakes(
        _ mistakes: [MappingMistake], _ error: (String) -> MappingFileError = { .malformed($0) }
    ) -> MappingFileError {
        if mistakes.count == 1, let only = mistakes.first { return error("\(only)") }
        let rest = mistakes.count - listLimit
        let lines =
            mistakes.prefix(listLimit).map { "- \($0)" } + (rest > 0 ? ["- and \(rest) more"] : [])
        return error("\(mistakes.count) mistakes\n\(lines.joined(separator: "\n"))")
    }

    /// The same error with a place before its text.
    func located(_ place: String) -> MappingFileError {
        switch self {
        case .unreadable(let text): .unreadable("\(place): \(text)")
        case .malformed(let text): .malformed("\(place): \(text)")
        case .unsupported(let text): .unsupported("\(place): \(text)")
        case .steps(let text): .steps("\(place): \(text)")
        }
    }
}
