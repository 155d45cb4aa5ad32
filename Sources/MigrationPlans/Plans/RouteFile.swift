import CoreDataStore
package import DurableFiles
import Foundation
import GRDB
package import Jobs
package import SafeSQLite

/// The file of a routing pass: the keys of a table in the order of a UUID attribute.
///
/// One pass over the table fills it; afterwards every chunk finds its keys by an index, instead
/// of reading the table again.
package enum RouteFile {
    /// Known to the guard of connections by its first letters (`CSQLite`).
    private static let function: StaticString = "godwit_uuid_prefix"
    /// The most points that a profile keeps.
    package static let pointLimit: Int64 = 4096

    /// The name of a route's file beside its plan.
    package static func reference(_ plan: FileReference, _ route: Int) -> FileReference {
        FileReference(root: plan.root, path: plan.path + ".route-\(route)")
    }

    /// Makes the file and tells where to cut.
    ///
    /// - Throws: `StoreError` for a table that cannot be read.
    /// - Complexity: one pass over the table and a sort on disk.
    package static func make(
        _ plan: RoutePlan, source: FilePath, at path: FilePath
    ) throws(StoreError) -> RouteProfile {
        let connection = try Connection(path: path, mode: .create)
        try connection.configure(StoreBuilder.bulkPragmas)
        try connection.attachImmutable(source, as: "src")
        connection.queue.inDatabase { database in
            database.add(
                function: DatabaseFunction(
                    function.description, argumentCount: 1, pure: true
                ) { values in
                    UUIDPrefix.of(values[0])
                })
        }
        try connection.create(
            SchemaDefinition(
                .table, "route",
                sql: "CREATE TABLE route (prefix INTEGER, key INTEGER, PRIMARY KEY (prefix, key)) "
                    + "WITHOUT ROWID"))
        let column = SQLText.quoted(plan.column)
        try connection.execute(
            "INSERT INTO route SELECT \(.name(of: function))(\(column)), Z_PK "
                + "FROM src.\(SQLText.quoted(plan.sourceTable)) ORDER BY 1, 2")
        let profile = try profile(plan, connection)
        try connection.detach("src")
        try connection.close()
        return profile
    }

    private static func profile(
        _ plan: RoutePlan, _ connection: Connection
    ) throws(StoreError) -> RouteProfile {
        let rows = try connection.integer("SELECT count(*) FROM route WHERE prefix >= 0") ?? 0
        let remainder = try connection.integer("SELECT count(*) FROM route WHERE prefix < 0") ?? 0
        let step = max(1, rows / pointLimit)
        var points: [RoutePoint] = []
        let walk = try connection.prepare(
            "SELECT prefix, key FROM route WHERE prefix >= 0 ORDER BY prefix, key")
        var number: Int64 = 0
        while try walk.step() {
            number += 1
            if number % step == 0 || number == rows {
                points.append(RoutePoint(prefix: walk.integer(0), key: walk.integer(1)))
            }
        }
        return RouteProfile(
            plan: plan, points: points, rowsPerPoint: step, rows: rows, remainder: remainder)
    }
}

/// The first 63 bits of a UUID, the order of routes.
enum UUIDPrefix {
    /// - Returns: 0 or more for a UUID of 16 bytes or as text (without regard to case, braces
    ///   and hyphens), −1 for everything else.
    static func of(_ value: DatabaseValue) -> Int64 {
        switch value.storage {
        case .blob(let data): data.count == 16 ? prefix(data) : -1
        case .string(let text): parse(text)
        case .null, .int64, .double: -1
        }
    }

    private static func prefix(_ bytes: some Sequence<UInt8>) -> Int64 {
        Int64(bytes.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) } >> 1)
    }

    private static func parse(_ text: String) -> Int64 {
        var value: UInt64 = 0
        var digits = 0
        for byte in text.utf8 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            case UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: "-"): continue
            default: return -1
            }
            digits += 1
            guard digits <= 32 else { return -1 }
            if digits <= 16 { value = value << 4 | UInt64(digit) }
        }
        return digits == 32 ? Int64(value >> 1) : -1
    }
}
