/// Paths of a list, short enough for a column and still told apart.
struct PathLabels: Hashable, Sendable {
    /// What the labels leave out at both ends, as a path with `…` in between; empty for nothing.
    let frame: String
    /// In the order of the paths.
    let labels: [String]

    /// Leaves out the folders that all paths begin with, and where that is not enough, what all
    /// of them end with.
    ///
    /// - Parameters:
    ///   - paths: any texts.
    ///   - columns: the width of the longest label.
    init(_ paths: [String], columns: Int) {
        let parts = paths.map { $0.split(separator: "/", omittingEmptySubsequences: false) }
        let shortest = parts.map(\.count).min() ?? 0
        guard paths.count > 1, let first = parts.first else {
            frame = ""
            labels = paths.map { WrappedText.tail($0, columns: columns) }
            return
        }
        // One name of each path always stays.
        var start = 0
        while start < shortest - 1, parts.allSatisfy({ $0[start] == first[start] }) { start += 1 }
        let folder = first[..<start].map { $0 + "/" }.joined()
        let whole = parts.map { $0[start...].joined(separator: "/") }
        var end = 0
        while end < shortest - start - 1,
            parts.allSatisfy({ $0.suffix(end + 1) == first.suffix(end + 1) })
        {
            end += 1
        }
        if end == 0 || whole.allSatisfy({ $0.count <= columns }) {
            frame = folder.isEmpty ? "" : folder + "…"
            labels = whole.map { WrappedText.tail($0, columns: columns) }
        } else {
            frame = folder + "…/" + first.suffix(end).joined(separator: "/")
            labels = parts.map { names in
                let middle = names[start...].dropLast(end).joined(separator: "/")
                return WrappedText.tail(middle, columns: columns)
            }
        }
    }
}
