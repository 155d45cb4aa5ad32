import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import SafeSQLite
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// An app that finds the store in the middle of a stopped swap or rollback, and writes to it.
///
/// Whatever state it finds, what it wrote is never lost without a word.
@Suite struct SwapInterferenceTests {
    private let limit = 1000

    @Test(arguments: StoreShape.allCases)
    func writesDuringAStoppedSwapAreKept(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            var refusals = 0
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let plan = try lab.plan()
                var done = 0
                let process = DyingProcess(after: actions)
                let lock = try StoreLock(lab.store)
                do {
                    _ = try Swapper(files: lab.files(dying: process)).run(plan, under: lock) {
                        if $1 == .done { done = $0 + 1 }
                    }
                } catch {
                    #expect(process.isDead, "\(error)")
                }
                let written = try lab.writeInPlace()
                do {
                    _ = try Swapper(files: lab.files()).run(
                        plan, from: actions % 2 == 0 ? done : 0, under: lock)
                } catch let error as SwapError {
                    guard case .sourceChanged = error else { throw error }
                    refusals += 1
                    try lab.expectNothingShared(with: plan.backupFolder)
                }
                lock.release()
                #expect(try lab.clientView() == written, "after \(actions)")
                try DurableFileSystem().removeTree(place)
                if !process.isDead { break }
            }
            #expect(refusals > 0)
        }
    }

    @Test(arguments: StoreShape.allCases)
    func writesDuringAStoppedRollbackAreKept(shape: StoreShape) throws {
        try withFolder { folder in
            let template = try SwapTemplate(shape, in: folder)
            var refusals = 0
            for actions in 0..<limit {
                let place = folder.appending("lab")
                try DurableFileSystem().makeFolder(place)
                let lab = try SwapLab(template, in: place)
                let swap = try lab.swap()
                var done = 0
                let process = DyingProcess(after: actions)
                let lock = try StoreLock(lab.store)
                var plan: RollbackPlan?
                do {
                    let rollback = Rollback(files: lab.files(dying: process))
                    let made = try rollback.prepare(swap, discardsChanges: false, under: lock)
                    plan = made
                    try rollback.run(made, under: lock) { if $1 == .done { done = $0 + 1 } }
                } catch {
                    #expect(process.isDead, "\(error)")
                }
                let written = try lab.writeInPlace()
                do {
                    let rollback = Rollback(files: lab.files())
                    let made =
                        try plan
                        ?? rollback.prepare(swap, discardsChanges: false, under: lock)
                    let first = actions % 2 == 0 || shape == .withoutLinks ? done : 0
                    try rollback.run(made, from: first, under: lock)
                } catch let error as SwapError {
                    guard case .storeChangedSinceSwap = error else { throw error }
                    refusals += 1
                }
                lock.release()
                #expect(try lab.clientView() == written, "after \(actions)")
                try DurableFileSystem().removeTree(place)
                if !process.isDead { break }
            }
            #expect(refusals > 0)
        }
    }
}

extension SwapLab {
    /// A backup of a swap that was cancelled is no second name of the live store: a program that
    /// looked into it would write the store beside another log.
    func expectNothingShared(with backup: FilePath) throws {
        guard try FileStatus.ifPresent(backup) != nil else { return }
        let live = try FileStatus(of: store).identity
        for found in try files.tree(at: backup) where found.status.isRegularFile {
            let identity = found.status.identity
            #expect(identity.device != live.device || identity.inode != live.inode)
        }
    }

    /// Writes a row through SQLite where the store is, and closes it; returns what is seen then.
    func writeInPlace() throws -> String {
        let client = try Connection(path: files.with(.followed).resolve(named), mode: .readWrite)
        try client.execute("INSERT INTO generation VALUES ('client')")
        try client.close()
        let seen = try clientView()
        #expect(seen.contains("generation client"))
        return seen
    }
}
