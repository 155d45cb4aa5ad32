import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationEngine
import MigrationPlans
import RunLedger
import StateFolders
import StoreForge
import TestSupport
import Testing

@testable import RunMoves
@testable import StoreRuns

/// Migrations into an output folder that are stopped at chosen points.
protocol PublicationStops {}

extension PublicationStops {
    static var edit: String {
        "UPDATE ZNOTE SET ZTITLE = 'written after the kill' WHERE Z_PK = 1"
    }

    func migrate(
        _ lab: RunLab, _ files: DurableFileSystem = DurableFileSystem()
    ) throws(RunError) -> RunEnding {
        let output = lab.folder.appending("out")
        return try lab.migrate([lab.path("a.sqlite")], strategy: .whole, files: files) {
            $0.output = output
        }
    }

    func result(_ lab: RunLab) -> FilePath { lab.folder.appending("out/a.sqlite") }

    func externalData(_ lab: RunLab) -> FilePath {
        StoreLocation(result(lab)).support
    }

    /// The lines of a whole result, its external data included.
    func content(edited: Bool) throws -> [String] {
        var lines: [String] = []
        try RunLab.run { lab in
            try forge(lab)
            if edited { try lab.write(lab.path("a.sqlite"), Self.edit) }
            _ = try migrate(lab)
            #expect(try FileStatus.ifPresent(externalData(lab)) != nil)
            lines = try lab.content(result(lab))
        }
        return lines
    }

    func forge(_ lab: RunLab) throws {
        try ForgedStore.notes(at: lab.path("a.sqlite"), version: 1, notes: 20, seed: 1) {
            $0.journal = .rollback
            $0.externalThreshold = 100
        }
    }

    /// Stops a migration at every point of its last third.
    func stopEverywhere(_ body: (RunLab, Int) throws -> Void) throws {
        var points = 0
        try RunLab.run { lab in
            try forge(lab)
            let disk = FailingDisk(at: .max, .dies)
            _ = try migrate(lab, disk.files)
            points = disk.points
        }
        for place in stride(from: points * 2 / 3, to: points, by: RunLab.isLong ? 1 : 2) {
            try RunLab.run { lab in
                try forge(lab)
                do throws(RunError) {
                    _ = try migrate(lab, FailingDisk(at: place, .dies).files)
                } catch {
                    #expect(!error.description.isEmpty)
                }
                try body(lab, place)
            }
        }
    }

    /// Stops a migration where its external data have their name and the database does not.
    func stopHalfPublished(_ body: (RunLab, Int) throws -> Void) throws {
        var stops = 0
        try stopEverywhere { lab, place in
            guard try FileStatus.ifPresent(result(lab)) == nil,
                try FileStatus.ifPresent(externalData(lab)) != nil
            else { return }
            stops += 1
            try body(lab, place)
        }
        #expect(stops > 0)
    }

    func state(_ lab: RunLab) throws -> [StoreState: Int] {
        let records = try RunRecords(state: lab.state)
        let counts = try records.counts(of: records.run(nil).id)
        try records.close()
        return counts.filter { $0.value > 0 }
    }

    func runState(_ lab: RunLab) throws -> RunState {
        let records = try RunRecords(state: lab.state)
        let state = try records.run(nil).state
        try records.close()
        return state
    }
}
