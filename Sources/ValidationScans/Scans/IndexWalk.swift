import Jobs
package import SafeSQLite
package import StoreFileChecks

/// Walks an index from end to end: its order, and a sum over columns and rowid to hold against
/// the table's.
package struct IndexWalk {
    let facts: IndexFacts
    private let seeds: [HashSeed]
    private let hashKey: HashKey
    private let entries: RowPass

    /// - Throws: `StoreError` where the file's index is not usable as it is described.
    package init(
        _ facts: IndexFacts, key: HashKey, file: FileReading
    ) throws(StoreError) {
        hashKey = key
        self.facts = facts
        seeds = facts.columns.map { HashSeed("\(facts.table).\($0.name)") }
        if let cursor = try file.cursor(index: facts) {
            entries = RowPass(cursor)
            return
        }
        let names = facts.columns.map { SQLText.quoted($0.name) }
        entries = RowPass(
            try file.connection().prepare(
                "SELECT \((names + ["rowid" as SQLText]).joined(separator: ", ")) FROM "
                    + "\(SQLText.quoted(facts.table)) INDEXED BY \(SQLText.quoted(facts.name))"
                    + (facts.condition.map { " WHERE \($0)" } ?? "")))
    }

    /// What a walk found.
    package struct Outcome {
        package var sum = CellSum()
        /// Entries that do not come after the one before.
        package var disordered: Int64 = 0
        /// Entries of a unique index that equal the one before in every column.
        package var duplicates: Int64 = 0
    }

    /// Walks all entries.
    package func run() throws(StoreError) -> Outcome {
        let count = facts.columns.count
        var outcome = Outcome()
        var previous = [StoredValue](repeating: StoredValue(), count: count)
        var previousKey: Int64 = 0
        var isFirst = true
        let current = entries.row
        while try entries.step() {
            let key = current.integer(count)
            let row = hashKey.row(key)
            var order = 0
            var hasNull = false
            for column in 0..<count {
                let digest = CellReader.stored(current, column, seeds[column], row)
                outcome.sum.add(high: digest.high, low: digest.low)
                hasNull = hasNull || digest.isNull
                if !isFirst, order == 0 {
                    order = previous[column].order(before: current.cell(column))
                    if facts.columns[column].isDescending { order = -order }
                }
                previous[column].take(current.cell(column))
            }
            if !isFirst {
                if order == 0, facts.isUnique, !hasNull { outcome.duplicates += 1 }
                if order > 0 || (order == 0 && previousKey >= key) { outcome.disordered += 1 }
            }
            isFirst = false
            previousKey = key
        }
        return outcome
    }
}

/// A value that is kept while the next row is read; its buffer is used again.
struct StoredValue {
    private var storageClass: Int32 = 5
    private var integer: Int64 = 0
    private var real: Double = 0
    private var bytes: [UInt8] = []

    /// Keeps a cell's value.
    mutating func take(_ cell: RawCell) {
        storageClass = cell.storageClass
        switch storageClass {
        case 1: integer = cell.integer
        case 2: real = cell.real
        case 3, 4:
            bytes.removeAll(keepingCapacity: true)
            bytes.append(contentsOf: cell.bytes)
        default: break
        }
    }

    /// How the kept value stands to a cell's value: −1 before, 0 equal, 1 after.
    ///
    /// NULL comes first, then numbers, texts, blobs in SQLite's order (data types §4.1).
    func order(before cell: RawCell) -> Int {
        let other = cell.storageClass
        let ranks = (StoredValue.rank(storageClass), StoredValue.rank(other))
        if ranks.0 != ranks.1 { return ranks.0 < ranks.1 ? -1 : 1 }
        switch (storageClass, other) {
        case (1, 1): return StoredValue.sign(integer, cell.integer)
        case (2, 2): return StoredValue.sign(real, cell.real)
        case (1, 2): return StoredValue.compare(integer, cell.real)
        case (2, 1): return -StoredValue.compare(cell.integer, real)
        case (3, 3), (4, 4): return compareBytes(cell.bytes)
        default: return 0
        }
    }

    private static func rank(_ storageClass: Int32) -> Int {
        switch storageClass {
        case 5: 0
        case 1, 2: 1
        case 3: 2
        default: 3
        }
    }

    private static func sign<Value: Comparable>(_ left: Value, _ right: Value) -> Int {
        left < right ? -1 : (left > right ? 1 : 0)
    }

    /// An integer against a real without losing digits.
    static func compare(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        return sign(0, real - Double(whole))
    }

    private func compareBytes(_ other: UnsafeRawBufferPointer) -> Int {
        let shared = min(bytes.count, other.count)
        for place in 0..<shared where bytes[place] != other[place] {
            return bytes[place] < other[place] ? -1 : 1
        }
        return StoredValue.sign(bytes.count, other.count)
    }
}
