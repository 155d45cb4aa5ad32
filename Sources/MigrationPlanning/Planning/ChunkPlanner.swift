import CoreDataStore
import MigrationPlans
import SafeSQLite

/// Cuts feeds, joins and links into chunks.
struct ChunkPlanner {
    let facts: StoreFacts
    let partition: PartitionMode
    /// Bytes of a chunk; nil makes one chunk of every subject.
    let limit: Int64?

    /// The most parts into which a table is cut whose shards are merged at one time: each of them
    /// is a file that is open then.
    private static let mergedChunks: Int64 = 256
    /// The same for the rows that have no UUID.
    private static let remainderChunks: Int64 = 64

    /// Chunks of entity tables and join tables, in the order in which shards are merged.
    func chunks(feeds: [Feed], joins: [JoinPlan]) -> [Chunk] {
        var result: [Chunk] = []
        for (place, feed) in feeds.enumerated() {
            for (selection, bytes) in selections(of: feed) {
                result.append(Chunk(subject: .feed(place), selection: selection, bytes: bytes))
            }
        }
        for (plan, join) in joins.enumerated() {
            for (place, feed) in join.feeds.enumerated() {
                for (range, bytes) in ranges(of: feed, in: join) {
                    result.append(
                        Chunk(
                            subject: .join(plan: plan, feed: place), selection: .keys(range),
                            bytes: bytes))
                }
            }
        }
        return result
    }

    private func selections(of feed: Feed) -> [(Selection, Int64)] {
        guard let limit else { return [(.keys(.all), bytes(of: feed.sourceTable))] }
        switch partition {
        case .auto, .key: return keySelections(feed.sourceTable, limit)
        case .entity: return entitySelections(feed, limit)
        case .uuid:
            guard
                let route = facts.routes.firstIndex(where: {
                    $0.plan.sourceTable == feed.sourceTable
                })
            else { return keySelections(feed.sourceTable, limit) }
            return routeSelections(route, limit)
        }
    }

    /// Ranges of keys of tables that are cut at all, whatever the partition mode.
    func tableRanges(_ tables: [String]) -> [String: [KeyRange]] {
        guard let limit else { return [:] }
        return tables.reduce(into: [:]) { result, table in
            let found = ranges(of: table, limit).map(\.0)
            if found.count > 1 { result[table] = found }
        }
    }

    private func bytes(of table: String) -> Int64 { facts.profiles[table]?.bytes ?? 0 }

    private func keySelections(_ table: String, _ limit: Int64) -> [(Selection, Int64)] {
        ranges(of: table, limit).map { (.keys($0.0), $0.1) }
    }

    private func ranges(of table: String, _ limit: Int64) -> [(KeyRange, Int64)] {
        guard let profile = facts.profiles[table] else { return [(.all, 0)] }
        return profile.ranges(limit: limit).map { range, bytes in
            (KeyRange(lower: range.lower, upper: range.upper), bytes)
        }
    }

    /// One entity a chunk; a large one is cut by key as if its rows were spread evenly.
    private func entitySelections(_ feed: Feed, _ limit: Int64) -> [(Selection, Int64)] {
        guard let table = facts.tables[feed.sourceTable], table.count > 0 else { return [] }
        let total = bytes(of: feed.sourceTable)
        let limit = max(limit, total / Self.mergedChunks)
        var result: [(Selection, Int64)] = []
        // Of very many entities the small ones share chunks.
        let filled = feed.entities.filter { (table.rows[$0.sourceNumber] ?? 0) > 0 }
        let together = Int(Self.remainderChunks) < filled.count
        var small: (numbers: [Int64], bytes: Int64) = ([], 0)
        for entity in filled {
            let rows = table.rows[entity.sourceNumber] ?? 0
            let held = Int64(Double(total) * Double(rows) / Double(table.count))
            if together, held < limit {
                small.numbers.append(entity.sourceNumber)
                small.bytes += held
                if small.bytes >= limit {
                    result.append((.entities(small.numbers, .all), small.bytes))
                    small = ([], 0)
                }
                continue
            }
            let share = Double(rows) / Double(table.count)
            let scaled = Double(limit) / share
            let whole = scaled < Double(Int64.max) / 2 ? Int64(scaled) : Int64.max / 2
            for (range, bytes) in ranges(of: feed.sourceTable, min(whole, max(total, 1))) {
                result.append(
                    (.entities([entity.sourceNumber], range), Int64(Double(bytes) * share)))
            }
        }
        if !small.numbers.isEmpty { result.append((.entities(small.numbers, .all), small.bytes)) }
        return result
    }

    /// The routing passes with the lists that chunks are made of; none where nothing is cut.
    func routes() -> [RoutePlan] {
        guard let limit else { return [] }
        return facts.routes.map { profile in
            var plan = profile.plan
            plan.lists = lists(of: profile, limit).map(\.0)
            return plan
        }
    }

    private func routeSelections(_ route: Int, _ limit: Int64) -> [(Selection, Int64)] {
        lists(of: facts.routes[route], limit).enumerated().map { list, found in
            (.listed(route: route, list: list), found.1)
        }
    }

    /// Ranges of UUID prefixes, a heavy prefix cut by key, then the rows without UUID by key.
    private func lists(of profile: RouteProfile, _ limit: Int64) -> [(RouteList, Int64)] {
        let table = profile.plan.sourceTable
        let rows = max(1, profile.rows + profile.remainder)
        let rowBytes = max(1, bytes(of: table) / rows)
        var result: [(RouteList, Int64)] = []
        let count = profile.points.count
        let pointBytes = Double(rowBytes) * profile.rowsPerPoint
        let perChunk = max(
            1, Int(min(Double(limit) / pointBytes, 1e9)),
            (count + Int(Self.mergedChunks) - 1) / Int(Self.mergedChunks))
        // Rows without a point are in the last list.
        for place in stride(from: 0, to: max(count, profile.rows > 0 ? 1 : 0), by: perChunk) {
            let end = min(place + perChunk, count)
            let held = Int64(Double(end - place) * pointBytes)
            result.append((.points(upTo: end >= count ? nil : profile.points[end - 1]), held))
        }
        if profile.remainder > 0 {
            let share = Double(profile.remainder) / Double(rows)
            let scaled = max(
                Int64(min(Double(limit) / share, 1e18)), bytes(of: table) / Self.remainderChunks)
            for (range, bytes) in ranges(of: table, scaled) {
                result.append((.remainder(range), Int64(Double(bytes) * share)))
            }
        }
        return result
    }

    /// Join rows by the order of the table that holds the links.
    ///
    /// Places in lists that have to be made up need whole lists, so such a feed is one chunk.
    private func ranges(of feed: JoinFeed, in join: JoinPlan) -> [(KeyRange, Int64)] {
        let storage = feed.relation.storage
        let table = storage.table
        let makesOrder =
            join.ownerOrder != nil && storage.ownerOrder == nil
            || join.targetOrder != nil && storage.targetOrder == nil
        guard let limit, !makesOrder else { return [(.all, bytes(of: table))] }
        return ranges(of: table, limit)
    }

    /// Chunks of link plans, by keys of the table whose rows are filled or that holds lists.
    func linkChunks(_ links: [LinkPlan]) -> [LinkChunk] {
        links.enumerated().flatMap { place, link -> [LinkChunk] in
            guard let limit else { return [LinkChunk(link: place, keys: .all)] }
            let table =
                switch link.purpose {
                case .target, .targetRank: link.relation.owner.table
                case .owner, .ownerRank: link.relation.target.table
                }
            return ranges(of: table, limit).map { LinkChunk(link: place, keys: $0.0) }
        }
    }
}
