package import SafeSQLite

extension MigrationPlan {
    /// The rows of the source that an entity feed takes.
    package func rows(of feed: EntityFeed) -> Int64 {
        variantRows[Int(feed.sourceNumber)] ?? sourceRows[feed.source] ?? 0
    }

    /// Ranges of keys by destination table, those of its sources moved by their offsets;
    /// together they hold every key.
    package var destinationRanges: [String: [KeyRange]] {
        var result: [String: [KeyRange]] = [:]
        for table in Set(feeds.map(\.destinationTable)) {
            let fed = distinctFeeds(of: table)
            var ranges: [KeyRange] = []
            for (place, feed) in fed.enumerated() {
                // A feed's keys lie above its offset and up to the next one's.
                let floor = place == 0 ? nil : feed.offset + 1
                let ceiling = place + 1 < fed.count ? fed[place + 1].offset : nil
                for range in sourceRanges[feed.sourceTable] ?? [.all] {
                    ranges.append(
                        KeyRange(
                            lower: range.lower.map { $0 + feed.offset } ?? floor,
                            upper: range.upper.map { $0 + feed.offset } ?? ceiling))
                }
            }
            if ranges.count > 1 { result[table] = ranges }
        }
        return result
    }

    /// The feeds of a destination table in the order of their keys.
    ///
    /// One without objects can have the offset of another one: its keys are none.
    private func distinctFeeds(of table: String) -> [Feed] {
        let counted = feeds.filter { $0.destinationTable == table }.map { feed in
            (feed: feed, rows: feed.entities.reduce(0) { $0 + rows(of: $1) })
        }
        let sorted = counted.sorted { ($0.feed.offset, $0.rows) < ($1.feed.offset, $1.rows) }
        return sorted.reduce(into: []) { found, next in
            if found.last?.offset == next.feed.offset { found.removeLast() }
            found.append(next.feed)
        }
    }

    /// All computed cells, filters first, then in the order of feeds and columns; no two are equal.
    package var computedCells: [ComputedCell] {
        var found = splits.computedCells
        for cell in feeds.lazy.flatMap(\.columns).flatMap(\.cells) {
            guard case .computed(let computed) = cell.cell, !found.contains(computed) else {
                continue
            }
            found.append(computed)
        }
        return found
    }
}
