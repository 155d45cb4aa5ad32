import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// Swaps, rollbacks and prunes beside a user who turns names into links and back without pause.
@Suite struct FlippedLinkTests {
    /// Which name is flipped.
    enum Place: CaseIterable {
        case result, snapshot, store, log, backup, backedUpStore, support, external, folder
    }

    /// How many swaps; `GODWIT_FLIPPED_SWAPS` asks for more.
    static let count =
        ProcessInfo.processInfo.environment["GODWIT_FLIPPED_SWAPS"].flatMap(Int.init) ?? 27

    private func flip(_ place: Place, _ lab: SwapLab, _ canary: Canary) -> Flipper {
        let backup = lab.store.parent.appending(".godwit-backup-r1")
        let (own, other): (FilePath, FilePath) =
            switch place {
            case .result: (lab.newFile, canary.store)
            case .snapshot: (lab.snapshot, canary.store)
            case .store: (lab.store, canary.store)
            case .log: (lab.store.adding(suffix: "-wal"), canary.store.adding(suffix: "-wal"))
            case .backup: (backup, canary.backup)
            case .backedUpStore: (backup.appending(lab.store.lastComponent), canary.store)
            case .support: (StoreLocation(lab.store).support, canary.support)
            case .external: (StoreLocation(lab.store).externalData, canary.external)
            case .folder: (lab.store.parent, canary.folder)
            }
        return Flipper(own.description, to: other.description)
    }

    /// Does something that may be refused beside the flipper; returns whether it came to its end.
    private func attempt(
        _ flips: inout Int, _ place: Place, _ lab: SwapLab, _ canary: Canary,
        _ body: () throws -> Void
    ) throws -> Bool {
        let flipper = flip(place, lab, canary)
        defer {
            flipper.stop()
            flips += flipper.flips
        }
        do {
            try body()
            return true
        } catch is SwapError {
            return false
        } catch is DurableFileError {
            return false
        }
    }

    @Test func nothingOutsideChanges() throws {
        var (flips, swapped, restored) = (0, 0, 0)
        try withTemporaryFolder { url in
            let files = DurableFileSystem()
            let folder = try files.resolve(try #require(FilePath(url)))
            let shapes: [StoreShape] = [.externalData, .fullLog, .hotJournal, .none]
            let templates = try shapes.map { shape in
                let place = folder.appending(shape.rawValue)
                try files.makeFolder(place)
                return try SwapTemplate(shape, in: place)
            }
            for number in 0..<Self.count {
                let places = Place.allCases
                let place = places[number % places.count]
                let template = templates[number / places.count % templates.count]
                let home = folder.appending("home-\(number)")
                try files.makeFolder(home)
                let lab = try SwapLab(template, in: home)
                let canary = try Canary(folder.appending("canary-\(number)"), for: lab)
                giveAway(home)
                var plan = try lab.plan()
                var copies: [BackupRecord.Entry] = []
                let isSwapped = try attempt(&flips, place, lab, canary) {
                    let lock = try StoreLock(lab.store)
                    defer { lock.release() }
                    _ = try Swapper(files: files).run(
                        plan, under: lock, recording: { copies += $0 })
                }
                plan = plan.recording(copies)
                swapped += isSwapped ? 1 : 0
                try canary.expectUntouched()
                let isRestored = try attempt(&flips, place, lab, canary) {
                    if number % 3 == 2 {
                        let prune = try PrunePlan(
                            plan, backupNames: [SwapLab.kept.description], storeNames: [],
                            files: files)
                        let lock = try StoreLock(lab.store)
                        defer { lock.release() }
                        try prune.run(files: files, under: lock)
                    } else {
                        let lock = try StoreLock(lab.store)
                        defer { lock.release() }
                        let rollback = Rollback(files: files)
                        let back = try rollback.prepare(
                            plan, discardsChanges: false, under: lock)
                        try rollback.run(back, under: lock)
                    }
                }
                restored += isRestored ? 1 : 0
                try canary.expectUntouched()
                try files.removeTree(home)
                try files.removeTree(canary.folder)
            }
        }
        #expect(flips > Self.count)
        let figures =
            "\(Self.count) rounds, \(flips) flips: \(swapped) swaps came to their end, "
            + "\(restored) rollbacks or prunes\n"
        FileHandle.standardError.write(Data(figures.utf8))
    }

    /// Where root runs the tests, the store's folder belongs to another user.
    private func giveAway(_ folder: FilePath) {
        guard geteuid() == 0 else { return }
        do {
            for found in try DurableFileSystem().tree(at: folder) {
                let name = found.path.lastComponent.bytes
                // What a run made belongs to the run.
                if name.starts(with: ".godwit-unpublished".utf8) { continue }
                _ = lchown(found.path.description, 65_534, 65_534)
            }
        } catch {
            Issue.record(error)
        }
    }
}
