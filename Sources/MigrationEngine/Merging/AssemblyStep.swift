package import CoreDataStore
import MigrationPlans
import PageWriting

/// One step in which a destination file grows, each a transaction of its own.
///
/// How many steps were done is kept in the file itself, so that a process that resumes after a
/// crash knows exactly what the file holds.
package enum AssemblyStep: Hashable, Sendable {
    /// Makes the empty tables.
    case tables
    /// Appends the shard of a chunk, whose keys lie above all before.
    case append(chunk: Int)
    /// Merges the shards of chunks of one table whose keys interleave.
    case merge(chunks: Range<Int>)
    /// Applies the link shard of a link chunk.
    case link(chunk: Int)
    /// Makes one object of those that several chunks made for one key of a policy.
    case foundObjects
    /// Notes how many pages the file has before indexes are written page by page.
    case rowsComplete
    /// Writes the pages of indexes.
    case pageIndexes
    /// Makes an index by SQLite, by its place in the layout.
    case index(Int)
    /// Writes everything else.
    case finish
}

extension MigrationPlan {
    /// The steps in which a destination is put together from shards.
    ///
    /// - Parameter indexes: those of the destination.
    /// - Returns: the steps in their order, `finish` last.
    package func assemblySteps(indexes: [IndexLayout]) -> [AssemblyStep] {
        var steps: [AssemblyStep] = [.tables]
        var start = chunks.startIndex
        while start < chunks.endIndex {
            if chunks[start].isAscending {
                steps.append(.append(chunk: start))
                start += 1
                continue
            }
            let rest = chunks[start...]
            let end =
                rest.firstIndex { $0.isAscending || $0.subject != chunks[start].subject }
                ?? chunks.endIndex
            steps.append(.merge(chunks: start..<end))
            start = end
        }
        steps += linkChunks.indices.map { .link(chunk: $0) }
        if policies.contains(where: { $0.blocks.contains { !$0.key.isEmpty } }) {
            steps.append(.foundObjects)
        }
        if writesIndexPages, indexes.contains(where: PageIndexes.makes) {
            steps += [.rowsComplete, .pageIndexes]
        }
        for (number, index) in indexes.enumerated()
        where !(writesIndexPages && PageIndexes.makes(index)) {
            steps.append(.index(number))
        }
        return steps + [.finish]
    }

    /// Whether indexes are written page by page: SQLite makes those of a small store faster.
    var writesIndexPages: Bool { strategy == .partitioned }
}
