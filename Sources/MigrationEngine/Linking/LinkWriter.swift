import Jobs
import MigrationPlans
import SafeSQLite

/// Looks links up and writes them where they belong.
struct LinkWriter {
    let file: LaidOutPlan
    let connection: Connection

    /// A column that links fill, with its name in the query of `RelationSQL`.
    private struct Filled {
        let column: String
        let source: SQLText
    }

    /// Makes the table of links in the main schema.
    func createTable(_ link: LinkPlan) throws(EngineError) {
        try EngineError.translating { try connection.create(Self.definition(of: link)) }
    }

    /// The table of links.
    static func definition(of link: LinkPlan) -> SchemaDefinition {
        let columns = filled(link).indices.map { ", c\($0) INTEGER" as SQLText }.joined()
        return SchemaDefinition(
            .table, "link", sql: "CREATE TABLE main.link (key INTEGER PRIMARY KEY\(columns))")
    }

    /// Writes the links of a chunk into the table of links.
    ///
    /// - Returns: the links written.
    /// - Throws: `EngineError.store` when an object would get two values.
    func write(_ chunk: LinkChunk, link: LinkPlan) throws(EngineError) -> Int64 {
        let relation = RelationSQL(link.relation, of: file.plan)
        let query: SQLText
        let key: SQLText
        switch link.purpose {
        case .target(_, let entity):
            query = relation.query(
                .owner(chunk.keys), needs: .init(owner: true, targetNumber: entity != nil))
            key = "o"
        case .owner:
            query = relation.query(.target(chunk.keys), needs: .init(target: true))
            key = "t"
        case .ownerRank:
            query = relation.query(
                .target(chunk.keys), ranks: .init(owner: true),
                needs: .init(owner: true, targetNumber: namesEntity(link)))
            key = "o"
        case .targetRank:
            query = relation.query(
                .owner(chunk.keys), ranks: .init(target: true), needs: .init(target: true))
            key = "t"
        }
        let values = Self.filled(link).map(\.source).joined(separator: ", ")
        return try EngineError.translating {
            try connection.execute(
                "INSERT INTO main.link SELECT \(key), \(values) FROM (\(query)) ORDER BY 1")
            return connection.changes
        }
    }

    /// Copies a table of links, in the schema of that name, into the destination's rows.
    ///
    /// Before any index on the columns exists: afterwards it would cost tenfold.
    func apply(_ link: LinkPlan, from schema: StaticString) throws(EngineError) {
        let sets = Self.filled(link).enumerated().map {
            "\(.quoted($1.column)) = l.c\($0)" as SQLText
        }
        let table = SQLText.quoted(link.table)
        try EngineError.translating {
            try connection.execute(
                "UPDATE main.\(table) SET \(sets.joined(separator: ", ")) "
                    + "FROM \(.name(of: schema)).link l WHERE main.\(table).Z_PK = l.key")
        }
    }

    /// Whether the links whose places are made up come with entity numbers.
    private func namesEntity(_ link: LinkPlan) -> Bool {
        file.plan.links.contains { other in
            guard case .target(_, .some) = other.purpose else { return false }
            return other.table == link.table && other.relation == link.relation
        }
    }

    private static func filled(_ link: LinkPlan) -> [Filled] {
        var result: [Filled] = []
        switch link.purpose {
        case .target(let key, let entity):
            result.append(Filled(column: key, source: "t"))
            if let entity { result.append(Filled(column: entity, source: "te")) }
            if let order = link.orderColumn { result.append(Filled(column: order, source: "oo")) }
        case .owner(let key):
            result.append(Filled(column: key, source: "o"))
            if let order = link.orderColumn { result.append(Filled(column: order, source: "tt")) }
        case .ownerRank:
            if let order = link.orderColumn { result.append(Filled(column: order, source: "oo")) }
        case .targetRank:
            if let order = link.orderColumn { result.append(Filled(column: order, source: "tt")) }
        }
        return result
    }
}
