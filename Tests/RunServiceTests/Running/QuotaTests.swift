import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import RunLedger
import RunSupport
import StateFolders
import StoreForge
import Synchronization
import TestSupport
import Testing

@testable import StoreRuns

/// A file system that copies on write, with a quota over all of it.
private struct QuotaDisk: Sendable {
    let folder: FilePath

    static let absence: Comment =
        "no btrfs with a quota: only root may mount one, and it takes btrfs-progs"

    static let isAvailable: Bool = {
        do {
            try run { _ in }
            return true
        } catch {
            return false
        }
    }()

    /// Runs a body with a disk that is unmounted afterwards.
    static func run(_ body: (QuotaDisk) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let image = folder.appendingPathComponent("image").path
            let mounted = folder.appendingPathComponent("disk").path
            let volume = mounted + "/volume"
            try FileManager.default.createDirectory(
                atPath: mounted, withIntermediateDirectories: false)
            try command("truncate", "-s", "512M", image)
            try command("mkfs.btrfs", "-q", image)
            try command("mount", "-o", "loop", image, mounted)
            defer { _ = try? command("umount", "-l", mounted) }
            try command("btrfs", "quota", "enable", mounted)
            try command("btrfs", "subvolume", "create", volume)
            try body(QuotaDisk(folder: try DurableFileSystem().resolve(FilePath(volume))))
        }
    }

    /// Lets so many bytes be used; nil for any number.
    func limit(_ bytes: Int64?) throws {
        let text = bytes.map { "\($0)" } ?? "none"
        // By the whole file system: where the volume's own quota has nothing left, btrfs refuses to
        // change it through the volume. The first subvolume has the number 256.
        try Self.command(
            "btrfs", "qgroup", "limit", text, "0/256", folder.parent.description)
    }

    private static func command(_ words: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = words
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.runBounded()
        process.waitUntilExit()
        let isDone = process.terminationStatus == 0
        try #require(isDone, "\(words) ended with \(process.terminationStatus)")
    }
}

extension DiskTests {
    /// The ledger and all else lie under the quota: where a file is mapped, writing to it ends
    /// the process by SIGBUS.
    @Suite("Quotas", .enabled(if: QuotaDisk.isAvailable, QuotaDisk.absence))
    struct QuotaTests {
        private static let factors = [1.05, 1.2, 1.4, 1.6, 1.9, 2.2]

        /// A store under the quota, which is so many times its size.
        private func forge(
            _ disk: QuotaDisk, factor: Double
        ) throws -> (lab: RunLab, store: FilePath) {
            let lab = RunLab(
                folder: disk.folder, data: disk.folder.appending("data"),
                state: disk.folder.appending("state"))
            try lab.files.makeFolder(lab.data)
            let store = lab.path("a.sqlite")
            try ForgedStore.notes(at: store, notes: 4_000) { recipe in
                recipe.externalThreshold = nil
                recipe.journal = .writeAheadLogWithContent
            }
            try lab.files.syncFileSystem(at: store)
            var source: Int64 = 0
            for suffix in ["", "-wal"] {
                source += try FileStatus.ifPresent(store.adding(suffix: suffix))?.size ?? 0
            }
            try disk.limit(Int64(Double(source) * factor))
            return (lab, store)
        }

        private static func smallerChunks(_ request: inout RunRequest) {
            request.options.chunkBytes = 256 << 10
        }

        @Test(arguments: factors)
        func anExhaustedQuotaIsNoRoom(factor: Double) throws {
            try QuotaDisk.run { disk in
                let (lab, store) = try forge(disk, factor: factor)
                let old = try lab.bytes()
                do throws(RunError) {
                    _ = try lab.migrate(
                        [store], strategy: .partitioned, change: Self.smallerChunks)
                    Issue.record("it cannot have had the room")
                } catch {
                    #expect(error.isOutOfSpace, "\(error)")
                    #expect(try lab.bytes() == old)
                    let strays = try lab.strays()
                    #expect(strays.isEmpty, "\(strays) after \(error)")
                }
                try disk.limit(nil)
                let ending = try lab.migrate(
                    [store], strategy: .partitioned, change: Self.smallerChunks)
                #expect(ending.counts == [.done: 1])
                #expect(try lab.content(store).first == "ok")
            }
        }

        /// It is tried again twice while there is no more than before.
        @Test(arguments: factors)
        func aRunThatWaitsGoesOnByItself(factor: Double) throws {
            try QuotaDisk.run { disk in
                let (lab, store) = try forge(disk, factor: factor)
                let pauses = Atomic(0)
                var runs = TestRuns(lab.environment())
                let makeRoom: @Sendable () -> Void = {
                    do { try disk.limit(nil) } catch { Issue.record(error) }
                }
                runs.watch = { event in
                    guard event.isPause, pauses.add(1, ordering: .relaxed).newValue == 3
                    else { return }
                    makeRoom()
                }
                // Where not even the ledger has room, no pause can be recorded.
                runs.logged = { text in
                    if text.contains("space is left") || text.contains("not enough space") {
                        makeRoom()
                    }
                }
                var request = try lab.request([store], strategy: .partitioned)
                Self.smallerChunks(&request)
                request.waitsForRoom = true
                let ending = try runs.run(request, over: try lab.found([store]))
                #expect(ending.counts == [.done: 1])
                #expect(try lab.content(store).first == "ok")
                #expect(try lab.redone() == 0 && lab.strays().isEmpty)
            }
        }
    }
}
