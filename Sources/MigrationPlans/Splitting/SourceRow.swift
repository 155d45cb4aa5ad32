package import SafeSQLite

/// A row of a source table as a statement knows it.
package struct SourceRow {
    /// The name of the row.
    package let name: SQLText
    /// The schema of the source, with a point behind it; empty for the only one.
    package let schema: SQLText
    /// How many queries around it read paths: their rows have other names.
    let depth: Int

    /// - Parameters:
    ///   - name: of the row.
    ///   - schema: with a point behind it, or empty.
    package init(_ name: SQLText, schema: SQLText) {
        self.init(name, schema: schema, depth: 0)
    }

    init(_ name: SQLText, schema: SQLText, depth: Int) {
        self.name = name
        self.schema = schema
        self.depth = depth
    }

    /// A row of a source that is attached as `src`.
    package static func attached(_ name: SQLText) -> SourceRow {
        SourceRow(name, schema: "src.")
    }
}
