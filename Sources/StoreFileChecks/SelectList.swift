package import SafeSQLite

/// The columns of a row loop: names in, places in the row out.
package struct SelectList: Sendable {
    package private(set) var names: [String] = []
    private var places: [String: Int] = [:]
    /// What is read under a name that is no column's.
    private var expressions: [String: SQLText] = [:]

    /// A list that begins with these columns.
    package init(_ leading: [String] = []) {
        for name in leading { _ = place(of: name) }
    }

    /// The place of a column, which is added unless it is there.
    package mutating func place(of name: String) -> Int {
        if let known = places[name] { return known }
        places[name] = names.count
        names.append(name)
        return names.count - 1
    }

    /// Whether all that is read are columns.
    package var isPlain: Bool { expressions.isEmpty }

    /// Gives a name to an expression over the table's row, so that it can be read as a column.
    package mutating func define(_ name: String, as expression: SQLText) {
        expressions[name] = expression
    }

    /// The statement over a table itself, never over one of its indexes.
    ///
    /// `key`: the column that the range bounds.
    /// `extra`: expressions after the columns.
    /// `condition`: that rows must fulfil; nil for all in the range.
    package func sql(
        table: String, key: String, range: KeyRange, extra: [SQLText] = [],
        condition: SQLText? = nil
    ) -> SQLText {
        let conditions = [range.condition(on: SQLText.quoted(key)), condition].compactMap { $0 }
        let list = names.map { expressions[$0] ?? SQLText.quoted($0) } + extra
        return "SELECT \(list.joined(separator: ", ")) FROM \(SQLText.quoted(table)) NOT INDEXED"
            + (conditions.isEmpty ? "" : " WHERE \(conditions.joined(separator: " AND "))")
    }
}

extension [SQLText] {
    /// The place of an expression, which is added unless it is there.
    package mutating func place(of expression: SQLText) -> Int {
        if let known = firstIndex(of: expression) { return known }
        append(expression)
        return count - 1
    }
}
