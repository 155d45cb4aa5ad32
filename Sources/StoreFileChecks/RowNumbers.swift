package import SafeSQLite
import StorePages

/// The rows of one table of a small file, by key, with the number of the entity of each.
package struct RowNumbers {
    /// Ascending.
    private var keys: [Int64] = []
    /// Nil where there is none.
    private var numbers: [Int64?] = []

    /// The highest key; nil without rows.
    package var highest: Int64? { keys.last }

    /// How a key is found.
    package enum Finding: Hashable, Sendable {
        case missing
        /// A row with the number of an entity, or none.
        case found(Int64?)
    }

    /// Looks for a key.
    ///
    /// - Parameter key: of a row.
    /// - Returns: whether it is there, and of which entity.
    /// - Complexity: O(log rows).
    package func find(_ key: Int64) -> Finding {
        var (low, high) = (0, keys.count)
        // As a rule, keys have no gaps. A stranger's may be as far apart as numbers can be.
        if let first = keys.first, key >= first {
            let distance = UInt64(bitPattern: key &- first)
            if distance < UInt64(keys.count), keys[Int(distance)] == key {
                return .found(numbers[Int(distance)])
            }
        }
        while low < high {
            let middle = (low + high) / 2
            if keys[middle] < key { low = middle + 1 } else { high = middle }
        }
        return low < keys.count && keys[low] == key ? .found(numbers[low]) : .missing
    }

    fileprivate mutating func append(_ key: Int64, _ number: Int64?) {
        keys.append(key)
        numbers.append(number)
    }
}

extension FileReading {
    /// Reads the keys of a table, once however often they are asked for.
    ///
    /// - Parameter table: an entity's.
    /// - Returns: nil where SQLite must look for rows: in a table whose pages cannot be read, or
    ///   whose numbers of entities are none, in a file that is not held in memory, and where one
    ///   part alone reads the file.
    /// - Throws: `StoreError` where the file cannot be read.
    /// - Complexity: reads the table once; 24 bytes a row of memory.
    package func rowNumbers(of table: String) throws(StoreError) -> RowNumbers? {
        if let known = knownRows[table] { return known }
        guard isShared, try pages()?.isHeld == true else { return nil }
        guard let cursor = try cursor(table: table, values: ["rowid", "Z_ENT"]) else { return nil }
        var rows = RowNumbers()
        while try cursor.step() {
            switch cursor.cells[1].storageClass {
            case 1: rows.append(cursor.cells[0].integer, cursor.cells[1].integer)
            case 5: rows.append(cursor.cells[0].integer, nil)
            default: return nil
            }
        }
        knownRows[table] = rows
        return rows
    }
}
