package import SafeSQLite

/// The rows of `Z_PRIMARYKEY`.
package struct PrimaryKeys: Hashable, Sendable, Codable {
    /// One entity's row.
    package struct Row: Hashable, Sendable, Codable {
        package let number: Int64
        package let name: String
        /// The parent's number, 0 for a root.
        package let parent: Int64
        /// The highest key ever given out; counts in roots only.
        package let maximum: Int64

        package init(number: Int64, name: String, parent: Int64, maximum: Int64) {
            self.number = number
            self.name = name
            self.parent = parent
            self.maximum = maximum
        }

        // The name by its bytes, as SQLite has it.
        package static func == (left: Row, right: Row) -> Bool {
            left.number == right.number && left.parent == right.parent
                && left.maximum == right.maximum && left.name.isExactly(right.name)
        }
    }

    /// By ascending number.
    package let rows: [Row]

    package init(rows: [Row]) { self.rows = rows }

    /// The first number that history and CloudKit reserve for themselves.
    package static let firstReserved: Int64 = 16_000
    /// The numbers of persistent history's tables.
    private static let history: ClosedRange<Int64> = 16_001...16_003
    /// Keys from here on are refused: nothing can be put above them safely.
    package static let keyLimit: Int64 = 1 << 62

    /// Rows of the model's own entities.
    package var entities: [Row] { rows.filter { $0.number < PrimaryKeys.firstReserved } }
    /// Rows of persistent history (16001 … 16003).
    package var reserved: [Row] { rows.filter { $0.number >= PrimaryKeys.firstReserved } }
    /// Rows that stand for neither an entity nor persistent history.
    var unexplained: [Row] { reserved.filter { !PrimaryKeys.history.contains($0.number) } }

    /// The row of a number; nil where there is none.
    package func row(number: Int64) -> Row? { rows.first { $0.number == number } }

    /// Reads and checks the table.
    ///
    /// - Throws: `StoreError.notAStore` for doubled names, parents that do not exist or form a
    ///   cycle, and maxima near 2⁶³. A maximum that is negative or below a key in use is taken as
    ///   it is: nothing but the highest key is lost with it.
    package static func read(_ connection: Connection) throws(StoreError) -> PrimaryKeys {
        let path = connection.path
        var rows: [Row] = []
        let list = try connection.prepare(
            "SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY ORDER BY Z_ENT")
        while try list.step() {
            guard rows.count < StoreSchema.objectLimit else {
                throw .notAStore(path: path, reason: "Z_PRIMARYKEY has too many rows")
            }
            guard list.storageClass(0) == 1 else {
                throw .notAStore(
                    path: path, reason: "Z_PRIMARYKEY has an entity number that is not a number")
            }
            rows.append(
                Row(
                    number: list.integer(0), name: try list.name(1), parent: list.integer(2),
                    maximum: list.integer(3)))
        }
        if let fault = fault(in: rows) { throw .notAStore(path: path, reason: fault) }
        return PrimaryKeys(rows: rows)
    }

    /// Whether a row has a value of a type that Core Data does not write.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package static func hasOddTypes(_ connection: Connection) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM Z_PRIMARYKEY WHERE typeof(Z_ENT) <> 'integer' "
                + "OR typeof(Z_NAME) <> 'text' OR typeof(Z_SUPER) <> 'integer' "
                + "OR typeof(Z_MAX) <> 'integer'") != 0
    }

    /// What is wrong with the rows; nil for nothing.
    static func fault(in rows: [Row]) -> String? {
        var names: Set<String> = []
        let byNumber = Dictionary(rows.map { ($0.number, $0) }, uniquingKeysWith: { a, _ in a })
        guard byNumber.count == rows.count else {
            return "Z_PRIMARYKEY has an entity number twice"
        }
        for row in rows {
            guard row.number > 0 else { return "Z_PRIMARYKEY has an entity number below 1" }
            guard names.insert(row.name).inserted else {
                return "Z_PRIMARYKEY has the entity \(row.name) twice"
            }
            guard row.maximum < keyLimit else {
                return "Z_MAX of entity \(row.name) is near the largest number"
            }
            var above = row.parent
            var depth = 0
            while above != 0 {
                guard let parent = byNumber[above] else {
                    return "the parent of entity \(row.name) in Z_PRIMARYKEY does not exist"
                }
                depth += 1
                guard depth <= rows.count else {
                    return "the parents of entity \(row.name) in Z_PRIMARYKEY form a cycle"
                }
                above = parent.parent
            }
        }
        return nil
    }
}
