import CoreDataStore
import DurableFiles
import Jobs
import ManagedObjectModel
import MigrationPlans
import SafeSQLite

/// Copies chunks into a database: a shard of its own, or the destination itself.
///
/// The connection's main schema is written; the source is attached as `src`.
struct ChunkCopier {
    let file: LaidOutPlan
    let connection: Connection
    /// What could not be computed; the copier that attaches the source shares it with others.
    var failures = ValueFailures()
    /// The policies that the process carries.
    var policies = PolicyLibrary()
    /// The folder of the attempt, for what must be known of a process that ends; nil where no other
    /// process looks there.
    var attempt: FilePath?
    /// The folder of the source's external data; nil for none.
    var support: FilePath?

    private var plan: MigrationPlan { file.plan }

    /// Attaches the source and what else the chunks read.
    ///
    /// - Throws: `EngineError.store` for files that cannot be attached.
    func attach(
        source: FilePath, routes: [Int: FilePath]
    ) throws(EngineError) {
        try EngineError.translating {
            try connection.attachImmutable(source, as: "src")
            for (_, route) in routes { try connection.attachImmutable(route, as: "route") }
            try ExternalDataFunction.register(connection, folder: support)
            try ValueFunction.register(
                connection, source: .attached, cells: plan.computedCells, failures: failures,
                methods: policies.methods)
        }
    }

    /// Does something in which policies may take part, with a note of what they have in hand.
    private func noting<Result>(
        _ body: (PolicyNote?) throws(EngineError) -> Result
    ) throws(EngineError) -> Result {
        guard let attempt, !plan.policies.isEmpty else { return try body(nil) }
        let note = try EngineError.translating {
            try PolicyNote(in: attempt, files: DurableFileSystem(links: .refused))
        }
        // Methods are called from SQL, which does not tell for which object.
        let names = Set(plan.policies.map(\.className)).sorted().joined(separator: ", ")
        try EngineError.translating { try note.write("migration policy \(names) was called") }
        // Row by row, each in a transaction of its own, would write most pages over and over.
        let isPart = connection.isInTransaction
        if !isPart { try EngineError.translating { try connection.execute("BEGIN") } }
        let result = try body(note)
        if !isPart { try EngineError.translating { try connection.execute("COMMIT") } }
        try EngineError.translating { try note.remove() }
        return result
    }

    /// Lets the policies of a chunk's objects take part.
    private func runPolicies(
        after chunk: Chunk, _ note: PolicyNote?
    ) throws(EngineError) {
        guard case .feed(let place) = chunk.subject, plan.feeds.indices.contains(place),
            !plan.policies.isEmpty
        else { return }
        try PolicyCopier(
            file: file, connection: connection, policies: policies, note: note, support: support
        ).run(after: plan.feeds[place])
    }

    /// Copies the rows of one chunk, in ascending keys.
    ///
    /// - Returns: the rows written.
    /// - Throws: `EngineError` with SQLite's reason.
    func copy(_ chunk: Chunk) throws(EngineError) -> Int64 {
        let sql = try statement(chunk)
        return try noting { note throws(EngineError) in
            let rows = try failures.translating { () throws(EngineError) in
                try EngineError.translating {
                    try connection.execute(sql)
                    return connection.changes
                }
            }
            try runPolicies(after: chunk, note)
            return rows
        }
    }

    /// Copies the rows of every chunk.
    ///
    /// - Returns: the rows written by each.
    /// - Throws: `EngineError` with SQLite's reason.
    func copyAll() throws(EngineError) -> [Int64] {
        let statements = try file.cache.statements(plan) { () throws(EngineError) in
            var made: [SQLText] = []
            for chunk in plan.chunks { made.append(try statement(chunk)) }
            return made
        }
        return try noting { note throws(EngineError) in
            let rows = try failures.translating { () throws(EngineError) in
                try EngineError.translating {
                    try statements.map { sql in
                        try connection.execute(sql)
                        return connection.changes
                    }
                }
            }
            for chunk in plan.chunks { try runPolicies(after: chunk, note) }
            return rows
        }
    }

    private func statement(_ chunk: Chunk) throws(EngineError) -> SQLText {
        switch chunk.subject {
        case .feed(let place):
            guard plan.feeds.indices.contains(place) else {
                throw .internalError("a chunk names feed \(place), which the plan has not")
            }
            let feed = plan.feeds[place]
            return try FeedSQL(
                plan: plan, feed: feed, tableEntities: entities(of: feed.sourceTable)
            )
            .statement(chunk.selection)
        case .join(let place, let feed):
            guard plan.joins.indices.contains(place),
                plan.joins[place].feeds.indices.contains(feed)
            else {
                throw .internalError("a chunk names join \(place), which the plan has not")
            }
            guard case .keys(let range) = chunk.selection else {
                throw .internalError("a join's chunk is not a range of keys")
            }
            return statement(plan.joins[place], feed: feed, range: range)
        }
    }

    private func entities(of table: String) -> Set<Int64> {
        guard let layout = file.source.tables.first(where: { $0.name == table }) else { return [] }
        let entities = file.source.model.family(of: layout.rootEntity).compactMap {
            file.source.number(of: $0.name).map { Int64($0) }
        }
        let variants = plan.splits.filter { $0.table == table }.flatMap(\.variants).map(\.number)
        return Set(entities + variants)
    }

    private func statement(_ join: JoinPlan, feed place: Int, range: KeyRange) -> SQLText {
        let feed = join.feeds[place]
        let query = RelationSQL(feed.relation, of: plan).query(
            .row(range),
            ranks: RelationSQL.Ranks(
                owner: join.ownerOrder != nil && feed.relation.storage.ownerOrder == nil,
                target: join.targetOrder != nil && feed.relation.storage.targetOrder == nil))
        var names = [join.ownerColumn, join.targetColumn]
        var values: [SQLText] = ["o", "t"]
        if let order = join.ownerOrder {
            names.append(order)
            values.append("oo")
        }
        if let order = join.targetOrder {
            names.append(order)
            values.append("tt")
        }
        return "INSERT INTO main.\(SQLText.quoted(join.table)) "
            + "(\(names.map(SQLText.quoted).joined(separator: ", "))) "
            + "SELECT \(values.joined(separator: ", ")) FROM (\(query))"
    }
}
