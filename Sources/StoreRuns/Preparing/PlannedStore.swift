package import CoreDataStore
package import DurableFiles
import Jobs
import ManagedObjectModel
package import MappingModel
package import MigrationPlans

/// A store that was opened, read and planned; nothing of it was changed.
package struct PlannedStore: Sendable {
    /// The plan with both layouts.
    package let laidOut: LaidOutPlan
    /// The store as it was found.
    package let original: SourceStore
    /// What the plan reads: the original, or the store that the last of the earlier legs wrote,
    /// under the original's path.
    package let source: SourceStore
    /// The stores that were written on the way from the original to the source, in their order.
    package var written: [WrittenStore] = []
    /// The steps that are not planned, because a policy or a program takes part in one before them:
    /// the store must be one job of a slot.
    package var stepsLeft: [PlanStep] = []
    /// The model that the store goes to.
    package let destination: DestinationModel
    /// Why programs that have the store open cannot be seen, where that was asked.
    package var hiddenClients: String?
    /// Whether a program has the store open for writing, where that was asked.
    package var isOpen = false
    /// Whether the store has the destination's version already, where that was asked: a migration
    /// in place leaves it as it is.
    package var isUnchanged = false
    /// Why the store cannot be swapped in place, though its result can go elsewhere; nil where
    /// nothing is known to be in the way.
    package var swapObstacle: String?
    /// Mapping files that name no version and that no step of the store takes.
    package var unusedMappings: [String] = []
    /// The same for people.
    package var unusedMappingNotes: [String] {
        unusedMappings.map { "\($0) is not used: it is for none of the steps" }
    }
    /// What the result will lack, the greatest loss first; nil where it was not counted.
    package var losses: [Loss]?
    /// Files of routing passes, by their place in the plan.
    package let routes: [Int: FilePath]

    /// Whether the store is made from its pages in one go, without its chunks.
    package var isRebuilt = false

    package var plan: MigrationPlan { laidOut.plan }

    /// How the store is migrated.
    package var strategy: Strategy { isRebuilt ? .whole : plan.strategy }

    /// The digest of the source's version hashes, as its metadata have them.
    package var sourceDigest: String {
        VersionHashes(read: original.metadata.versionHashes).digest
    }

    /// The legs that wrote a store, from 1.
    package var writtenLegs: Range<Int> { 1..<1 + written.count }

    /// The stores that were written on the way, as they were and as programs changed them.
    package func writtenFiles(in places: StorePaths) -> [FilePath] {
        zip(writtenLegs, written).flatMap { leg, store in
            [places.written(leg).building] + (store.changes == nil ? [] : [places.edited(leg)])
        }
    }

    /// Sums over what policies gave, of all legs by labels that tell the legs apart.
    ///
    /// - Parameter last: those of the last leg.
    /// - Returns: all of them.
    func recordedSums(of last: [String: ContentSum]) -> [String: ContentSum] {
        var sums = last
        for (leg, store) in zip(writtenLegs, written) {
            for (label, sum) in store.recordedSums {
                sums[WrittenStore.label(label, leg: leg)] = sum
            }
        }
        return sums
    }

    /// All steps from the original to the destination.
    package var steps: [PlanStep] { written.flatMap(\.steps) + plan.steps + stepsLeft }

    /// Objects of the schema outside the model; those that an earlier leg drops, too.
    package var extras: [ExtraObject] { written.flatMap(\.dropped) + plan.extras }

    /// What people should know of any leg of the way.
    package var notes: [String] {
        let texts = written.flatMap { $0.notes + ($0.changes ?? []) } + plan.notes
        return texts.enumerated().filter { place, text in
            texts.firstIndex(of: text) == place
        }.map(\.element)
    }

    /// Rows of the original by entity.
    package var sourceRows: [String: Int64] { written.first?.sourceRows ?? plan.sourceRows }

    /// What the whole way needs beside the original.
    package var resources: Resources {
        var resources = plan.resources
        guard let largest = written.map(\.bytes).max() else { return resources }
        resources.sourceBytes = original.bytes
        // The last one is read while shards and the result are written.
        resources.diskBytes = resources.diskBytes.addingClamped(largest)
        resources.files += 1
        return resources
    }

    /// Objects whose URI changes on any leg, by entity: the greatest number, because the same
    /// objects can change more than once.
    package var changedURIs: [String: Int64] {
        written.map(\.changedURIs).reduce(plan.changedURIs) { sum, earlier in
            sum.merging(earlier, uniquingKeysWith: max)
        }
    }
}
