import CoreDataStore
package import DurableFiles
package import MigrationPlans
import SafeSQLite

// Taking the shards of copied chunks.
extension StoreAssembler {
    /// Appends the shard of one chunk of keys; shards come in the order of the plan.
    package func append(_ chunk: Chunk, shard: FilePath) throws(EngineError) -> Int64 {
        let (own, made) = try mergers(for: chunk)
        try EngineError.translating { try connection.attachImmutable(shard, as: "shard") }
        let rows = try step { () throws(EngineError) in
            try EngineError.translating {
                for merger in made { _ = try merger.append(from: "shard") }
                return try own.append(from: "shard")
            }
        }
        try EngineError.translating { try connection.detach("shard") }
        return rows
    }

    /// Merges the shards of a feed whose keys interleave.
    ///
    /// One piece of a table after the other is merged into a file, which is then appended: shards
    /// and result together hold little more than the data. Each is a transaction. How many are done
    /// stands in `application_id` (SQLite file format §1.3) until all are.
    ///
    /// - Parameters:
    ///   - chunk: one of the feed.
    ///   - shards: of all its chunks.
    ///   - scratch: a folder for the pieces.
    /// - Throws: `EngineError` for a shard that cannot be read, and a key that occurs twice.
    package func merge(
        _ chunk: Chunk, shards: [FilePath], scratch: FilePath
    ) throws(EngineError) {
        let (own, made) = try mergers(for: chunk)
        let pieces = ranges(of: chunk).map { (own, $0) } + made.map { ($0, KeyRange.all) }
        let isCounted = recovery == .transactions
        let before = isCounted ? try pieceCount() : 0
        guard pieces.indices.contains(before) else {
            throw .internalError("a table that was merged in part has another number of pieces")
        }
        for (number, (merger, range)) in pieces.enumerated().dropFirst(before) {
            let path = scratch.appending("piece.sqlite")
            try EngineError.translating { try files.removeScratchTree(path) }
            try merger.merge(range, of: shards, to: path, files)
            try EngineError.translating { try connection.attachImmutable(path, as: "shard") }
            let isLast = number == pieces.count - 1
            let append = { [connection] () throws(EngineError) in
                try EngineError.translating {
                    _ = try merger.append(from: "shard")
                    guard isCounted else { return }
                    try connection.setApplicationID(isLast ? 0 : Int32(clamping: number + 1))
                }
            }
            if isLast {
                try step(append)
            } else if isCounted {
                try connection.transaction(append, failing: { .store($0) })
            } else {
                try append()
            }
            try EngineError.translating {
                try connection.detach("shard")
                try files.removeScratchTree(path)
            }
        }
    }

    private func pieceCount() throws(EngineError) -> Int {
        Int(try EngineError.translating { try connection.applicationID() })
    }

    /// The ranges of keys in which a feed is merged, so that a piece is a small part of its table.
    private func ranges(of chunk: Chunk) -> [KeyRange] {
        guard case .feed(let place) = chunk.subject else { return [.all] }
        let feed = plan.feeds[place]
        let known = (plan.sourceRanges[feed.sourceTable] ?? []).compactMap(\.lower)
        let step = max(1, (known.count + Self.mostPieces - 2) / (Self.mostPieces - 1))
        let cuts = stride(from: 0, to: known.count, by: step).compactMap { place in
            // Keys of a damaged tree may be anything.
            let (cut, isOver) = known[place].addingReportingOverflow(feed.offset)
            return isOver ? nil : cut
        }
        return zip([nil] + cuts, cuts.map { $0 - 1 } + [nil]).map { KeyRange(lower: $0, upper: $1) }
    }

    /// The most pieces in which a table is merged.
    private static let mostPieces = 16

    /// What puts the tables of a chunk's shard into those of the store: its own, and those in which
    /// policies make objects and links.
    private func mergers(
        for chunk: Chunk
    ) throws(EngineError) -> (own: ShardMerger, made: [ShardMerger]) {
        let made = try ShardTable.made(chunk.subject, file)
        return (
            ShardMerger(connection: connection, table: try ShardTable.own(chunk.subject, file)),
            made.map { ShardMerger(connection: connection, table: $0) }
        )
    }
}
