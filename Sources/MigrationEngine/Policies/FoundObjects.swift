import CoreDataStore
import Jobs
import MigrationPlans
import SafeSQLite

/// Makes one object of those that several chunks made for one key.
///
/// An object that came from the source stays before one that a policy made, and then that of the
/// lowest key: which one stays follows from the source, and not from the chunks.
struct FoundObjects {
    let file: LaidOutPlan
    let connection: Connection

    private var plan: MigrationPlan { file.plan }

    /// Whether anything has to be done.
    var isNeeded: Bool { plan.policies.contains { $0.blocks.contains { !$0.key.isEmpty } } }

    /// The temporary table of objects that go, with those that stay.
    private static let table: SQLText = "temp.godwit_merged"

    /// Links to one object of each key, and removes the others.
    ///
    /// - Returns: the recorded sums over the objects that were removed, by labels.
    /// - Throws: `EngineError.store` with SQLite's reason.
    func merge() throws(EngineError) -> [String: ContentSum] {
        try EngineError.translating { () throws(StoreError) in
            var removed: [String: ContentSum] = [:]
            try connection.create(
                SchemaDefinition(
                    .table, "godwit_merged", isTemporary: true,
                    sql: "CREATE TEMP TABLE IF NOT EXISTS godwit_merged "
                        + "(loser INTEGER PRIMARY KEY, winner INTEGER)"))
            for blocks in blocksByEntity {
                try connection.execute("DELETE FROM \(Self.table)")
                try findLosers(blocks)
                let sums = RecordedSums(connection)
                for rows in plan.recordedRows
                where rows.areCreated && blocks.contains(where: { $0.objects == rows.objects }) {
                    for (label, sum) in try sums.sums(over: rows, onlyIn: Self.table) {
                        removed[label, default: ContentSum()].add(sum)
                    }
                }
                guard try connection.integer("SELECT count(*) FROM \(Self.table)") != 0 else {
                    continue
                }
                try relink(blocks)
                try connection.execute(
                    "DELETE FROM main.\(SQLText.quoted(blocks[0].objects.table)) "
                        + "WHERE Z_PK IN (SELECT loser FROM \(Self.table))")
            }
            return removed
        }
    }

    /// The blocks of objects that are found, those of one entity together.
    private var blocksByEntity: [[ObjectBlock]] {
        let found = plan.policies.flatMap(\.blocks).filter { !$0.key.isEmpty }
        var groups: [[ObjectBlock]] = []
        for block in found {
            let place = groups.firstIndex {
                $0[0].objects.entity == block.objects.entity && $0[0].key == block.key
            }
            if let place { groups[place].append(block) } else { groups.append([block]) }
        }
        return groups
    }

    private func findLosers(_ blocks: [ObjectBlock]) throws(StoreError) {
        let first = blocks[0]
        let isMade = blocks.map { block in
            "(\(block.objects.keys.conditions(on: "Z_PK").joined(separator: " AND ")))" as SQLText
        }.joined(separator: " OR ")
        let keys = first.key.map { SQLText.quoted($0.column) }.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO \(Self.table) SELECT loser, winner FROM ("
                + "SELECT Z_PK AS loser, (\(isMade)) AS made, first_value(Z_PK) OVER ("
                + "PARTITION BY \(keys) ORDER BY (\(isMade)), Z_PK) AS winner "
                + "FROM main.\(SQLText.quoted(first.objects.table)) "
                + "WHERE Z_ENT = \(first.objects.number)) WHERE made AND loser <> winner")
    }

    /// Points links at the objects that stay: in the rows that policies write.
    private func relink(_ blocks: [ObjectBlock]) throws(StoreError) {
        let lower = blocks.compactMap(\.objects.keys.lower).min() ?? 0
        let upper = blocks.compactMap(\.objects.keys.upper).max() ?? Int64.max
        let kinds = blocks.compactMap(\.found)
        let gone = KeyRange(lower: lower, upper: upper)
        for rows in plan.recordedRows {
            for column in rows.columns where column.found.contains(where: kinds.contains) {
                try relink(
                    column.name, of: rows.objects.table, gone,
                    and: rows.objects.keys.conditions(on: "Z_PK"))
            }
        }
        for links in plan.policyLinks {
            for end in [links.naming, links.inverse]
            where end.found.contains(where: kinds.contains) {
                try relink(end.column, of: links.table, gone, and: [])
            }
        }
    }

    private func relink(
        _ column: String, of table: String, _ gone: KeyRange, and others: [SQLText]
    ) throws(StoreError) {
        let name = SQLText.quoted(column)
        let conditions =
            others + gone.conditions(on: name)
            + ["\(name) IN (SELECT loser FROM \(Self.table))"]
        try connection.execute(
            "UPDATE main.\(SQLText.quoted(table)) SET \(name) = "
                + "(SELECT winner FROM \(Self.table) WHERE loser = \(name)) "
                + "WHERE \(conditions.joined(separator: " AND "))")
    }
}
