import Jobs

/// The small engine: what slots and the coordinator's tasks do to rows in memory.
///
/// Every function either does its work or throws the code that a real one would report.
enum SimulatedEngine {
    /// What a job writes into its attempt's folder.
    static func run(_ work: Work, of store: SimulatedStore) throws(FailureCause) -> SimulatedContent
    {
        switch work {
        case .copy(let chunk):
            guard store.chunks.indices.contains(chunk) else { throw .wrongPlan }
            return .shard(store.rows[store.chunks[chunk]].map(copied))
        case .link(let chunk):
            guard let destination = store.destination, store.chunks.indices.contains(chunk) else {
                throw .wrongPlan
            }
            return .links(try links(store.rows[store.chunks[chunk]], in: destination))
        case .whole:
            var destination = SimulatedDestination()
            destination.rows = store.rows.map(copied)
            let found = try links(store.rows[...], in: destination)
            apply(found, to: &destination)
            return .whole(destination.rows)
        }
    }

    /// Rows that a job reads; what its receipt must count.
    static func rows(_ work: Work, of store: SimulatedStore) -> Int {
        switch work {
        case .copy(let chunk), .link(let chunk):
            store.chunks.indices.contains(chunk) ? store.chunks[chunk].count : 0
        case .whole: store.rows.count
        }
    }

    private static func copied(_ row: SimulatedRow) -> SimulatedResultRow {
        SimulatedResultRow(
            key: SimulatedMapping.key(row.key), value: SimulatedMapping.value(row.value),
            target: nil)
    }

    /// Looks up the targets of some rows in the destination.
    private static func links(
        _ rows: ArraySlice<SimulatedRow>, in destination: SimulatedDestination
    ) throws(FailureCause) -> [SimulatedLink] {
        var found: [SimulatedLink] = []
        for row in rows {
            guard let target = row.target else { continue }
            let key = SimulatedMapping.key(target)
            guard destination.rows.contains(where: { $0.key == key }) else { throw .dataRefused }
            found.append(SimulatedLink(key: SimulatedMapping.key(row.key), target: key))
        }
        return found
    }

    /// Puts a copy chunk's rows behind those that are there.
    static func merge(
        _ content: SimulatedContent, into destination: inout SimulatedDestination
    ) throws(FailureCause) {
        switch content {
        case .shard(let rows): destination.rows += rows
        case .whole(let rows): destination.rows = rows
        case .links, .torn: throw .inputOutput
        }
    }

    /// Sets the links that a link chunk found.
    static func apply(
        _ content: SimulatedContent, to destination: inout SimulatedDestination
    ) throws(FailureCause) {
        guard case .links(let links) = content else { throw .inputOutput }
        apply(links, to: &destination)
    }

    private static func apply(
        _ links: [SimulatedLink], to destination: inout SimulatedDestination
    ) {
        for link in links {
            for index in destination.rows.indices where destination.rows[index].key == link.key {
                destination.rows[index].target = link.target
            }
        }
    }

    /// Whether every row of the original is in the result exactly once and nothing else is.
    ///
    /// It counts and compares; it shares nothing with the copy but the values of the mapping.
    static func isRight(_ result: [SimulatedResultRow], for rows: [SimulatedRow]) -> Bool {
        guard result.count == rows.count else { return false }
        let sorted = result.sorted { $0.key < $1.key }
        return zip(sorted, rows).allSatisfy { made, row in
            made.key == row.key * 3 + 7
                && made.value == SimulatedMapping.value(row.value)
                && made.target == row.target.map { $0 * 3 + 7 }
        }
    }
}
