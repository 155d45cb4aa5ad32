import CFaultVFS
import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import ManagedObjectModel
import MigrationPlans
import RunLedger
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

@testable import RunService

extension DiskTests {
    /// The most room that a migration in place takes beside its source, seen at every fault
    /// point and at every write of SQLite's.
    @Suite("Peak room", .enabled(if: SmallDisk.isAvailable, SmallDisk.absence))
    struct PeakSpaceTests {
        /// How a store is cut, and what lies beside it.
        struct Case: CustomTestStringConvertible, Sendable {
            let name: String
            let partition: PartitionMode
            let journal: ForgeRecipe.Journal
            /// What a large store would be cut into, in parts of this one.
            var chunkBytes = isLong ? PlanOptions.standardChunkBytes : 768 << 10

            var testDescription: String { name }
        }

        private static let isLong =
            ProcessInfo.processInfo.environment["GODWIT_LONG_TESTS"] != nil
        private static let byUUID = PartitionMode.uuid([PropertyKey("Note", "identifier")])

        static let cases = [
            Case(name: "auto", partition: .auto, journal: .writeAheadLog),
            Case(name: "auto, -wal", partition: .auto, journal: .writeAheadLogWithContent),
            Case(name: "uuid", partition: byUUID, journal: .writeAheadLog),
            Case(name: "uuid, -wal", partition: byUUID, journal: .writeAheadLogWithContent),
            Case(
                name: "uuid, small chunks, -wal", partition: byUUID,
                journal: .writeAheadLogWithContent, chunkBytes: isLong ? 64 << 10 : 200 << 10),
            Case(name: "entity, -wal", partition: .entity, journal: .writeAheadLogWithContent),
        ]

        /// Most of the bytes are in notes, the table that is cut by UUID.
        private func forge(_ lab: RunLab, _ journal: ForgeRecipe.Journal) throws -> FilePath {
            try ForgedStore.notes(
                at: lab.path("a.sqlite"), notes: Self.isLong ? 60_000 : 14_000
            ) { recipe in
                recipe.bytesByAttribute = [
                    PropertyKey("Attachment", "content"): 0...500,
                    PropertyKey("Note", "body"): 0...1_200,
                ]
                recipe.journal = journal
            }
        }

        @Test(arguments: cases) func partitionedInPlace(_ one: Case) throws {
            try SmallDisk.run(bytes: 1 << 30) { disk in
                try #require(SQLiteFaults.isInstalled)
                let lab = try disk.lab()
                let store = try forge(lab, one.journal)
                var source: Int64 = 0
                for suffix in ["", "-wal"] {
                    source += try FileStatus.ifPresent(store.adding(suffix: suffix))?.size ?? 0
                }
                let before = try disk.used()
                let files = DurableFileSystem(
                    faults: FaultPoints { _ in
                        cfault_look()
                        return nil
                    })
                let fault = cfault_fault(
                    operations: Int32(CFAULT_WRITE.rawValue), place: -1, code: 0, number: 0,
                    writes_half: 0)
                let (ending, _) = try SQLiteFaults.with(fault, in: disk.folder) {
                    try lab.migrate([store], strategy: .partitioned, files: files) { request in
                        request.options.partition = one.partition
                        request.options.chunkBytes = one.chunkBytes
                    }
                }
                #expect(ending.counts == [.done: 1])
                let extra = Int64(cfault_peak()) - before
                let hundredths = extra * 100 / source
                print("peak room of \(one.name): \(extra) of \(source), \(hundredths) %")
                #expect(hundredths <= 220, "\(extra) bytes beside \(source)")
                #expect(hundredths > 50, "the peak was not seen")
            }
        }
    }
}
