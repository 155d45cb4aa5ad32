import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import StoreForge
import Testing

@testable import RunMoves
@testable import StoreRuns

/// External data that programs changed or removed between a swap and its rollback.
@Suite("Rollback of external data") struct ExternalRollbackTests {
    private func withSwapped(
        _ body: (RunLab, _ store: FilePath, _ file: FilePath, _ backup: FilePath) throws -> Void
    ) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            let before = try lab.content(store)
            let folder = StoreLocation(store).externalData
            let name = try #require(try lab.files.names(in: folder).first)
            try lab.migrate([store])
            let kept = try #require(
                try lab.files.names(in: lab.data).first {
                    $0.description.hasPrefix(".godwit-backup")
                })
            let backup = StoreLocation(
                lab.data.appending(kept).appending(store.lastComponent)
            ).externalData.appending(name)
            #expect(try FileStatus.ifPresent(backup) != nil)
            try body(lab, store, folder.appending(name), backup)
            #expect(try lab.content(store) == before)
        }
    }

    private func isRefused(_ changes: [StoreChange]) -> Bool {
        changes.count == 1 && changes[0].failure != nil
    }

    @Test func anotherFileOfTheNameIsNotTakenForTheOriginal() throws {
        try withSwapped { lab, store, file, backup in
            let original = try lab.files.contents(of: file, limit: 1 << 20)
            try lab.files.remove(file)
            try lab.files.publish([1, 2, 3], to: file)
            #expect(isRefused(try lab.rollBack()))
            #expect(try lab.files.contents(of: file, limit: 9) == [1, 2, 3])
            #expect(try lab.files.contents(of: backup, limit: 1 << 20) == original)
            #expect(try lab.rollBack(discardsChanges: true).map { $0.failure == nil } == [true])
            #expect(try lab.files.contents(of: file, limit: 1 << 20) == original)
            #expect(try lab.ours().isEmpty)
        }
    }

    /// A restore tool may bring the same bytes back as another file.
    @Test func anEqualFileIsNoChange() throws {
        try withSwapped { lab, store, file, backup in
            let original = try lab.files.contents(of: file, limit: 1 << 20)
            try lab.files.remove(file)
            try lab.files.publish(original, to: file)
            #expect(try lab.rollBack().map { $0.failure == nil } == [true])
            #expect(try lab.ours().isEmpty)
        }
    }

    /// A swap was stopped, and a file was touched and removed since: the backup has the last copy.
    @Test(arguments: [false, true])
    func aStoppedSwapLosesNoExternalFile(isCancelled: Bool) throws {
        var points = 0
        try RunLab.run { lab in
            let disk = FailingDisk(at: .max, .dies)
            try lab.migrate(
                [try lab.forge("a.sqlite", journal: .rollback)], strategy: .whole,
                files: disk.files)
            points = disk.points
        }
        var stops = 0
        for place in points / 2..<points {
            try RunLab.run { lab in
                let store = try lab.forge("a.sqlite", journal: .rollback)
                _ = try? lab.migrate(
                    [store], strategy: .whole, files: FailingDisk(at: place, .dies).files)
                let folder = StoreLocation(store).externalData
                let names = try lab.files.names(in: folder)
                let first = try #require(names.first)
                guard try backups(of: store, lab).contains(first) else { return }
                stops += 1
                try FileManager.default.setAttributes(
                    [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)],
                    ofItemAtPath: folder.appending(first).description)
                try lab.files.remove(folder.appending(first))
                if isCancelled {
                    _ = try? CancelRun(lab.selection(), environment: lab.environment()).run()
                } else {
                    _ = try lab.migrate([store], strategy: .whole)
                }
                let there = try lab.files.names(in: folder) + backups(of: store, lab)
                #expect(there.contains(first), "at \(place)")
            }
        }
        #expect(stops > 0)
    }

    /// The names of external data in backups of a store.
    private func backups(of store: FilePath, _ lab: RunLab) throws -> [FilePath] {
        try lab.files.names(in: lab.data).filter {
            $0.description.hasPrefix(".godwit-backup")
        }.flatMap { name in
            let folder = StoreLocation(lab.data.appending(name).appending(store.lastComponent))
                .externalData
            return try FileStatus.ifPresent(folder) == nil ? [] : lab.files.names(in: folder)
        }
    }

    /// The names of external data after a migration and a prune, with their sizes.
    private func externalData(removesFiles: Bool) throws -> [String] {
        var found: [String] = []
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .rollback)
            try lab.migrate([store])
            let folder = StoreLocation(store).externalData
            for name in try lab.files.names(in: folder) where removesFiles {
                try lab.files.remove(folder.appending(name))
            }
            #expect(try lab.prune(removes: true).refused.isEmpty)
            #expect(try lab.ours().isEmpty)
            found = try lab.files.names(in: folder).map { name in
                "\(name) \(try FileStatus(of: folder.appending(name)).size)"
            }
        }
        return found
    }

    /// The result refers to them: pruning must not remove the last copies.
    @Test func pruningPutsFilesBackThatTheResultNeeds() throws {
        let expected = try externalData(removesFiles: false)
        #expect(!expected.isEmpty)
        #expect(try externalData(removesFiles: true) == expected)
    }

    @Test func aFileThatIsInNeitherFolderIsReported() throws {
        try withSwapped { lab, store, file, backup in
            let original = try lab.files.contents(of: file, limit: 1 << 20)
            try lab.files.remove(file)
            try lab.files.remove(backup)
            #expect(isRefused(try lab.rollBack()))
            #expect(try lab.rollBack(discardsChanges: true).map { $0.failure == nil } == [true])
            try lab.files.publish(original, to: file)
        }
    }
}
