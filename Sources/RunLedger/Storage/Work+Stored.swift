import Jobs

// Work as two columns: its kind as a word, and the number of its chunk.

extension Work {
    /// What the column `work` holds.
    var kind: String {
        switch self {
        case .whole: "whole"
        case .copy: "copy"
        case .link: "link"
        }
    }

    /// The number of its chunk; 0 for work that has none.
    var chunk: Int {
        switch self {
        case .whole: 0
        case .copy(let chunk), .link(let chunk): chunk
        }
    }

    /// Reads what was stored; nil for an unknown word.
    init?(kind: String, chunk: Int) {
        switch kind {
        case "whole": self = .whole
        case "copy": self = .copy(chunk: chunk)
        case "link": self = .link(chunk: chunk)
        default: return nil
        }
    }
}
