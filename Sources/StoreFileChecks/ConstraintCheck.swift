import CoreDataStore
import SafeSQLite

/// Finds rules in the declarations of a model's tables that Core Data does not write: with them a
/// table refuses, changes or compares values in another way.
struct ConstraintCheck {
    let layout: StoreLayout
    let schema: StoreSchema

    /// Words that begin such a rule wherever they stand outside of quotes.
    private static let rules: Set<String> = [
        "NOT", "CHECK", "DEFAULT", "COLLATE", "REFERENCES", "FOREIGN", "GENERATED", "AS", "STRICT",
        "WITHOUT", "AUTOINCREMENT", "ON",
    ]

    /// What each table has beyond its model, in words.
    func surplus() -> [String] {
        var found: [String] = []
        let tables = layout.tables.map { ($0.name, $0.constraints.count) }
        let system = ["Z_METADATA", "Z_MODELCACHE", "Z_PRIMARYKEY"].map { ($0, 0) }
        for (table, constraints) in tables + layout.joinTables.map({ ($0.name, 0) }) + system {
            guard let sql = schema.object(.table, table)?.sql else { continue }
            let words = Self.bareWords(sql)
            let surplus = Set(words).intersection(Self.rules).sorted()
            if !surplus.isEmpty {
                found.append(
                    "table \(table) has an extra constraint (\(surplus.joined(separator: ", ")))")
            }
            if words.count(where: { $0 == "UNIQUE" }) > constraints {
                found.append("table \(table) has an extra uniqueness constraint")
            }
        }
        return found
    }

    /// The words of a statement in upper case, without names in quotes, texts and comments.
    static func bareWords(_ sql: String) -> [String] {
        var words: [String] = []
        var word: [UInt8] = []
        var bytes = sql.utf8.makeIterator()
        var next = bytes.next()
        while let byte = next {
            next = bytes.next()
            if Self.isPart(byte) {
                word.append(byte)
                continue
            }
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self).uppercased()) }
            word = []
            guard let end = Self.end(of: byte, before: next) else { continue }
            // To the last byte of what is quoted; a quote that stands twice begins another one.
            var last: UInt8 = 0
            while let inside = next {
                next = bytes.next()
                if inside == end.last, end.count == 1 || last == end.first { break }
                last = inside
            }
        }
        if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self).uppercased()) }
        return words
    }

    private static func isPart(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    /// What ends a quote or comment that begins with a byte; nil where none begins.
    static func end(of byte: UInt8, before next: UInt8?) -> [UInt8]? {
        switch (byte, next) {
        case (UInt8(ascii: "\""), _), (UInt8(ascii: "'"), _), (UInt8(ascii: "`"), _): [byte]
        case (UInt8(ascii: "["), _): [UInt8(ascii: "]")]
        case (UInt8(ascii: "-"), UInt8(ascii: "-")): [UInt8(ascii: "\n")]
        case (UInt8(ascii: "/"), UInt8(ascii: "*")): Array("*/".utf8)
        default: nil
        }
    }
}
