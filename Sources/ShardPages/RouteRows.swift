package import CoreDataStore
package import DurableFiles
package import MigrationPlans
import PageWriting
import SafeSQLite

/// The rows of a routing pass: where each stands in the order of a UUID attribute.
///
/// One pass over the table tells where to cut, another one puts the keys of all rows into lists,
/// each of which a chunk reads.
package struct RouteRows {
    private let plan: RoutePlan
    private let store: SourceStore
    private let files: DurableFileSystem

    /// - Parameters:
    ///   - plan: of the pass.
    ///   - store: whose rows it goes through.
    ///   - files: opens files.
    package init(_ plan: RoutePlan, of store: SourceStore, files: DurableFileSystem) {
        self.plan = plan
        self.store = store
        self.files = files
    }

    /// Goes through all rows, and draws some of them.
    ///
    /// - Returns: how many there are, and where those that were drawn stand.
    /// - Throws: `EngineError` for a table that cannot be read.
    /// - Complexity: one pass over the table; memory for some thousand rows.
    package func profile() throws(EngineError) -> RouteProfile {
        var sample = RouteSample()
        var (rows, remainder): (Int64, Int64) = (0, 0)
        try forEach { point throws(EngineError) in
            if point.prefix < 0 {
                remainder += 1
            } else {
                rows += 1
                sample.add(point)
            }
        }
        return RouteProfile(plan: plan, points: sample.sorted(), rows: rows, remainder: remainder)
    }

    /// Makes the files of routing passes.
    ///
    /// - Parameters:
    ///   - plans: of the passes.
    ///   - store: whose rows they go through.
    ///   - files: opens and makes files.
    ///   - place: of a pass's file; one that is there goes.
    /// - Returns: the files by the places of their passes; none for a table without rows.
    /// - Throws: `EngineError` for a table that cannot be read, and what writing meets.
    package static func write(
        _ plans: [RoutePlan], of store: SourceStore, files: DurableFileSystem,
        to place: (Int) -> FilePath
    ) throws(EngineError) -> [Int: FilePath] {
        var made: [Int: FilePath] = [:]
        for (number, plan) in plans.enumerated() where !plan.lists.isEmpty {
            let path = place(number)
            try EngineError.translating { try files.removeScratchTree(path) }
            try RouteRows(plan, of: store, files: files).writeLists(to: path)
            made[number] = path
        }
        return made
    }

    /// Puts the key of each row into its list.
    ///
    /// - Parameter path: of the file that is made, which must not exist.
    /// - Throws: `EngineError` for a table that cannot be read, and what writing meets.
    /// - Complexity: one pass over the table.
    package func writeLists(to path: FilePath) throws(EngineError) {
        let lists = try RouteListWriter(plan.lists.count, path, files)
        let places = ListPlaces(plan.lists)
        try forEach { point throws(EngineError) in
            try lists.append(point.key, to: places.list(of: point))
        }
        try lists.finish()
    }

    private var disordered: EngineError {
        .store(
            .notAStore(
                path: store.path.description,
                reason: "the rows of table \(plan.sourceTable) are not in the order of their keys"))
    }

    /// The pages of the store; nil where SQLite has to read them, or to say what is wrong.
    private func openPages() -> PageImage? {
        do throws(EngineError) {
            return try PageImage(reading: store.database, files)
        } catch {
            return nil
        }
    }

    /// Hands over where each row stands, by ascending keys; prefix −1 where it has no UUID.
    ///
    /// - Throws: `EngineError.store` for rows that are not in the order of their keys.
    private func forEach(
        _ body: (RoutePoint) throws(EngineError) -> Void
    ) throws(EngineError) {
        if let table = RebuildProgram.Table(plan.sourceTable, store.schema),
            let field = table.field(plan.column), let image = openPages()
        {
            let records = TableRecords(image, root: table.root, columns: field.place + 1)
            var last: Int64?
            try records.forEach { row throws(EngineError) in
                guard last.map({ $0 < row.rowid }) ?? true else { throw disordered }
                last = row.rowid
                let prefix = UUIDPrefix.of(row.types[field.place], row.values[field.place])
                try body(RoutePoint(prefix: prefix, key: row.rowid))
                return true
            }
            return
        }
        let connection = try EngineError.translating {
            try Connection(path: store.database, mode: .immutable)
        }
        let rows = try EngineError.translating {
            try connection.prepare(
                "SELECT \(.quoted(plan.column)), Z_PK FROM main.\(.quoted(plan.sourceTable)) "
                    + "ORDER BY Z_PK")
        }
        while try EngineError.translating({ try rows.step() }) {
            let prefix = Array(rows.bytes(0)).withUnsafeBytes {
                UUIDPrefix.of(rows.storageClass(0), $0)
            }
            try body(RoutePoint(prefix: prefix, key: rows.integer(1)))
        }
    }
}

/// Some points of very many, each as likely as any other, and the same ones each time.
struct RouteSample {
    private var points: [RoutePoint] = []
    /// The largest hash of a key that is drawn.
    private var limit: UInt64 = .max

    /// The most points that are kept: so many, or half of them.
    static let mostPoints = 16_384

    mutating func add(_ point: RoutePoint) {
        guard Self.hash(point.key) <= limit else { return }
        points.append(point)
        while points.count > Self.mostPoints, limit > 0 {
            limit /= 2
            points.removeAll { Self.hash($0.key) > limit }
        }
    }

    /// The points in order.
    func sorted() -> [RoutePoint] {
        points.sorted { ($0.prefix, $0.key) < ($1.prefix, $1.key) }
    }

    /// Spreads keys evenly (the finalizer of SplitMix64).
    private static func hash(_ key: Int64) -> UInt64 {
        var word = UInt64(bitPattern: key) &+ 0x9E37_79B9_7F4A_7C15
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

/// Finds the list of a row.
struct ListPlaces {
    /// Where all lists by points but the last end.
    private let ends: [RoutePoint]
    /// Where lists of the remainder end, and the number of the first of them.
    private let keys: [Int64]
    private let remainder: Int

    init(_ lists: [RouteList]) {
        var ends: [RoutePoint] = []
        var keys: [Int64] = []
        var remainder = lists.count
        for (place, list) in lists.enumerated() {
            switch list {
            case .points(let end): if let end { ends.append(end) }
            case .remainder(let range):
                remainder = min(remainder, place)
                if let upper = range.upper { keys.append(upper) }
            }
        }
        self.ends = ends
        self.keys = keys
        self.remainder = remainder
    }

    @inline(__always)
    func list(of point: RoutePoint) -> Int {
        guard point.prefix >= 0 else { return remainder + Self.first(keys) { point.key <= $0 } }
        return Self.first(ends) {
            point.prefix < $0.prefix || point.prefix == $0.prefix && point.key <= $0.key
        }
    }

    /// The first place from which on a condition holds; the count where it never does.
    @inline(__always)
    private static func first<Element>(
        _ elements: [Element], where holds: (Element) -> Bool
    ) -> Int {
        var (low, high) = (0, elements.count)
        while low < high {
            let middle = (low + high) / 2
            if holds(elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
