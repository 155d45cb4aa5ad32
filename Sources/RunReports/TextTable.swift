/// Rows of words in columns, for a terminal.
package struct TextTable {
    /// How the words of a column are put.
    package enum Alignment {
        case left
        case right
    }

    private let header: [String]
    private let alignments: [Alignment]
    private var rows: [[String]] = []

    /// - Parameter columns: title and alignment of each column.
    package init(_ columns: [(title: String, alignment: Alignment)]) {
        header = columns.map(\.title)
        alignments = columns.map(\.alignment)
    }

    /// Adds a row; it has as many words as there are columns.
    package mutating func add(_ row: [String]) { rows.append(row) }

    /// Whether there is no row.
    package var isEmpty: Bool { rows.isEmpty }

    /// The lines, the header first; without blanks at their ends.
    package var lines: [String] {
        let all = [header] + rows
        let widths = header.indices.map { column in
            all.map { $0[column].count }.max() ?? 0
        }
        return all.map { row in
            let cells = row.indices.map { column -> String in
                let blank = String(repeating: " ", count: widths[column] - row[column].count)
                return alignments[column] == .left ? row[column] + blank : blank + row[column]
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
