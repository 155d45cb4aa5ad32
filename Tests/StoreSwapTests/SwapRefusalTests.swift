import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Glibc
import SafeSQLite
import StoreLocks
import TestSupport
import Testing

@testable import StoreSwap

/// What a swap refuses, and what it says.
@Suite struct SwapRefusalTests {
    private func withLab(
        _ shape: StoreShape = .fullLog, name: FilePath = "store.sqlite",
        _ body: (SwapLab) throws -> Void
    ) throws {
        try withSwapLab(shape, name: name) { lab, _ in try body(lab) }
    }

    /// The refusal of a plan, which leaves every file as it was.
    private func refusal(_ lab: SwapLab, _ request: SwapRequest? = nil) throws -> SwapError? {
        let before = try SwapLab.contents(of: lab.folder)
        let error = #expect(throws: SwapError.self) {
            try SwapPlan(SwapFacts(reading: request ?? lab.request(), files: lab.files))
        }
        #expect(try SwapLab.contents(of: lab.folder) == before)
        return error
    }

    private func runFails(_ lab: SwapLab, _ plan: SwapPlan) throws -> SwapError? {
        let lock = try StoreLock(lab.store)
        defer { lock.release() }
        return #expect(throws: SwapError.self) {
            try Swapper(files: lab.files()).run(plan, under: lock)
        }
    }

    @Test func severalHardLinksAreRefused() throws {
        try withLab { lab in
            try lab.files.hardLink(from: lab.store, to: lab.folder.appending("other"))
            let error = try refusal(lab)
            guard case .severalHardLinks(_, links: 2) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(error?.description.contains("another folder") == true)
        }
    }

    /// A swap would leave the name with the original, which a program then takes for the store.
    @Test(arguments: [false, true])
    func aHardLinkThatIsMadeAfterThePlan(isBackedUp: Bool) throws {
        try withLab { lab in
            let plan = try lab.plan()
            if isBackedUp {
                let lock = try StoreLock(lab.store)
                defer { lock.release() }
                #expect(throws: CancellationError.self) {
                    try Swapper(files: lab.files()).run(plan, under: lock) { index, moment in
                        if index == 2, moment == .begun { throw CancellationError() }
                    }
                }
            }
            try lab.files.hardLink(from: lab.store, to: lab.folder.appending("other"))
            let error = try runFails(lab, plan)
            guard case .severalHardLinks(_, links: 2) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(try lab.clientView().contains("generation old"))
        }
    }

    /// Who writes the result after its validation can set every time back but one.
    @Test func aResultThatIsWrittenLater() throws {
        try withLab { lab in
            let plan = try lab.plan()
            let file = lab.newFile.description
            var status = stat()
            #expect(stat(file, &status) == 0)
            let descriptor = open(file, O_RDWR)
            #expect(pwrite(descriptor, "x", 1, Int(status.st_size) - 1) == 1)
            var times = [status.st_atim, status.st_mtim]
            #expect(futimens(descriptor, &times) == 0)
            close(descriptor)
            let error = try runFails(lab, plan)
            guard case .swapRefused(_, let reason) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(reason.contains("gone or changed"))
            #expect(try lab.clientView().contains("generation old"))
        }
    }

    /// What an earlier run left in a backup's folder is no second name that anybody uses.
    @Test func linksOfAnEarlierBackupAreNotCounted() throws {
        try withLab { lab in
            let folder = lab.store.parent.appending(SwapPlan.backupPrefix + "r0")
            try lab.files.makeFolder(folder)
            try lab.files.hardLink(
                from: lab.store, to: folder.appending(lab.store.lastComponent))
            _ = try lab.swap()
            #expect(try lab.clientView().contains("generation new"))
        }
    }

    @Test func aStoreThatChangedBeforeThePlanIsRefused() throws {
        try withLab { lab in
            let request = try lab.request()
            let log = try lab.files.openForWriting(lab.store.adding(suffix: "-wal"))
            try [UInt8](repeating: 1, count: 100).withUnsafeBytes {
                try log.write($0, at: log.status().size)
            }
            try log.close()
            guard case .sourceChanged = try refusal(lab, request) else {
                Issue.record("not noticed")
                return
            }
        }
    }

    @Test(arguments: [true, false])
    func aStoreThatChangedAfterThePlanIsLeftAsItIs(inMain: Bool) throws {
        try withLab { lab in
            let plan = try lab.plan()
            try lab.changeAsClient()
            let seen = try lab.clientView()
            guard case .sourceChanged = try runFails(lab, plan) else {
                Issue.record("not noticed")
                return
            }
            #expect(try lab.clientView() == seen)
        }
    }

    @Test func aVanishedStoreIsRefused() throws {
        try withLab(.none) { lab in
            let (request, plan) = (try lab.request(), try lab.plan())
            let lock = try StoreLock(lab.store)
            try lab.files.unlink(lab.store)
            guard case .file(let error) = try refusal(lab, request) else {
                Issue.record("not noticed")
                return
            }
            #expect(error.isMissing)
            let late = #expect(throws: SwapError.self) {
                try Swapper(files: lab.files()).run(plan, under: lock)
            }
            guard case .file(let error) = late else { return }
            #expect(error.isMissing)
            #expect(try FileStatus.ifPresent(lab.store) == nil)
        }
    }

    @Test func onlyRegularFilesAreSwapped() throws {
        try withLab(.none) { lab in
            let request = try lab.request()
            let folder = SwapRequest(
                store: StoreLocation(lab.store.parent), run: "r1", expected: request.expected,
                newFile: request.newFile)
            guard case .file(.notRegularFile) = try refusal(lab, folder) else {
                Issue.record("a folder was taken")
                return
            }
        }
    }

    @Test func namesOfRunsThatLeaveTheFolderAreRefused() throws {
        try withLab(.none) { lab in
            let request = try lab.request()
            for run in ["", "../x", "a/b", String(repeating: "x", count: 65), "ä"] {
                let odd = SwapRequest(
                    store: StoreLocation(lab.store), run: run, expected: request.expected,
                    newFile: request.newFile)
                guard case .swapRefused = try refusal(lab, odd) else {
                    Issue.record("\(run) was taken")
                    return
                }
            }
        }
    }

    @Test func aStoreWithAFullLogNeedsASnapshot() throws {
        try withLab { lab in
            let request = try lab.request()
            let without = SwapRequest(
                store: StoreLocation(lab.store), run: "r1", expected: request.expected,
                newFile: request.newFile)
            guard case .swapRefused(_, let reason) = try refusal(lab, without) else {
                Issue.record("no snapshot was asked for")
                return
            }
            #expect(reason.contains("snapshot"))
        }
    }

    @Test func aNewFileThatIsNotAtRestOrChangedIsRefused() throws {
        try withLab(.none) { lab in
            let plan = try lab.plan()
            let open = try lab.files.openForWriting(lab.newFile)
            try open.setSize(open.status().size + 4096)
            try open.close()
            guard case .swapRefused = try runFails(lab, plan) else {
                Issue.record("not noticed")
                return
            }
            try SwapLab.write("x", to: lab.newFile.adding(suffix: "-journal"))
            guard case .swapRefused = try refusal(lab) else {
                Issue.record("not noticed")
                return
            }
        }
    }

    /// Where a second file system is at hand that this test may write to.
    @Test func aNewFileOnAnotherFileSystemIsRefused() throws {
        try withTemporaryFolder { url in
            try withLab(.none) { lab in
                let other = try #require(FilePath(url))
                let mine = try FileStatus(of: lab.folder).identity.device
                guard try FileStatus(of: other).identity.device != mine else { return }
                let elsewhere = other.appending("new")
                try SwapLab.copy(lab.newFile, to: elsewhere)
                let request = try lab.request()
                let odd = SwapRequest(
                    store: StoreLocation(lab.store), run: "r1", expected: request.expected,
                    newFile: elsewhere)
                guard case .swapRefused(_, let reason) = try refusal(lab, odd) else {
                    Issue.record("not noticed")
                    return
                }
                #expect(reason.contains("another file system"))
            }
        }
    }

    @Test func aSecondRunIsRefused() throws {
        try withLab(.none) { lab in
            let lock = try StoreLock(lab.store)
            #expect(throws: DurableFileError.self) { try StoreLock(lab.named) }
            lock.release()
        }
    }

    /// A connection of this process holds its locks as one of any other does.
    @Test(arguments: [StoreShape.fullLog, .none, .hotJournal])
    func anOpenStoreIsBusy(shape: StoreShape) throws {
        try withLab(shape) { lab in
            let lock = try StoreLock(lab.store)
            let plan = try lab.plan()
            let client = try Connection(path: lab.store, mode: .readWrite)
            try client.execute("BEGIN IMMEDIATE; SELECT count(*) FROM t")
            let error = #expect(throws: SwapError.self) {
                try Swapper(files: lab.files()).run(plan, under: lock)
            }
            guard case .storeBusy(let store, let holder) = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(store == lab.store.description && holder.contains("pid \(getpid())"))
            try client.execute("ROLLBACK")
            try client.close()
            lock.release()
        }
    }

    /// A real client reads and stays.
    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3")))
    func aClientInAnotherProcessIsBusy() throws {
        try withLab(.none) { lab in
            let client = Process()
            client.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
            client.arguments = [try #require(lab.store.string)]
            let (input, output) = (Pipe(), Pipe())
            client.standardInput = input
            client.standardOutput = output
            try client.runBounded()
            input.fileHandleForWriting.write(
                Data("SELECT 'ready', count(*) FROM t;\n".utf8))
            var answer = Data()
            while !answer.contains(UInt8(ascii: "\n")) {
                answer.append(output.fileHandleForReading.availableData)
            }
            #expect(String(decoding: answer, as: UTF8.self) == "ready|300\n")
            let plan = try lab.planIgnoringReaders()
            guard case .storeBusy(_, let holder) = try runFails(lab, plan) else {
                Issue.record("not noticed")
                return
            }
            #expect(holder.contains("pid \(client.processIdentifier)"))
            try input.fileHandleForWriting.close()
            client.waitUntilExit()
            _ = try lab.swap()
            #expect(try lab.clientView().contains("generation new"))
        }
    }

    @Test(arguments: [
        FilePath(bytes: Array(repeating: UInt8(ascii: "n"), count: 255)),
        FilePath(bytes: [0xFF, 0xFE, 0x80, 0x27, 0x0A, 0x22, 0x20, 0x3F, 0x25]),
    ])
    func oddNamesAreSwappedAndRolledBack(name: FilePath) throws {
        try withLab(.none, name: name) { lab in
            let before = try SwapLab.contents(of: lab.store.parent)
            let plan = try lab.swap()
            #expect(try lab.clientView().contains("generation new"))
            // The plan outlives the process that made it.
            let data = try JSONEncoder().encode(plan)
            let read = try JSONDecoder().decode(SwapPlan.self, from: data)
            #expect(read == plan)
            let lock = try StoreLock(lab.store)
            let back = try Rollback(files: lab.files()).prepare(
                read, discardsChanges: false, under: lock)
            try Rollback(files: lab.files()).run(back, under: lock)
            let after = try SwapLab.contents(of: lab.store.parent)
            #expect(after == before.filter { $0.key == lab.store })
        }
    }

    @Test func rightsAndAttributesAreCarriedOver() throws {
        try withLab { lab in
            let main = try lab.files.openForWriting(lab.store)
            try main.setPermissions(0o640)
            try main.close()
            let plan = try SwapPlan(
                SwapFacts(
                    reading: SwapRequest(
                        store: StoreLocation(lab.named), run: "r1",
                        expected: StoreFingerprint(of: lab.store),
                        newFile: lab.newFile, snapshot: lab.snapshot), files: lab.files))
            let lock = try StoreLock(lab.store)
            var seen: [UInt32] = []
            let receipt = try Swapper(files: lab.files()).run(plan, under: lock) { _, _ in
                seen.append(try FileStatus(of: lab.store).permissions)
            }
            lock.release()
            #expect(receipt.lost.isEmpty)
            // The snapshot has them, too, while it has the store's name.
            #expect(Set(seen) == [0o640])
        }
    }

    /// What a journal throws ends the swap between two steps.
    @Test func theJournalIsToldFirst() throws {
        struct Full: Error {}
        try withLab { lab in
            let old = try lab.clientView()
            let plan = try lab.plan()
            for stop in 0..<plan.steps.count {
                let lock = try StoreLock(lab.store)
                #expect(throws: Full.self) {
                    try Swapper(files: lab.files()).run(plan, under: lock) { index, moment in
                        if index == stop, moment == .begun { throw Full() }
                    }
                }
                lock.release()
                #expect(try lab.clientView() == old)
            }
        }
    }

    @Test func aJournalThatIsAheadOfTheFilesIsNotBelieved() throws {
        try withLab { lab in
            let plan = try lab.plan()
            let lock = try StoreLock(lab.store)
            let error = #expect(throws: SwapError.self) {
                try Swapper(files: lab.files()).run(
                    plan, from: plan.steps.count - 1, under: lock)
            }
            guard case .swapOutcomeUnknown = error else {
                Issue.record("\(String(describing: error))")
                return
            }
        }
    }
}

extension SwapLab {
    /// A plan although a reader left an empty log since the store was looked at.
    func planIgnoringReaders() throws -> SwapPlan {
        let request = try request()
        let now = SwapRequest(
            store: StoreLocation(named), run: "r1", expected: try StoreFingerprint(of: store),
            newFile: request.newFile, snapshot: request.snapshot)
        return try SwapPlan(SwapFacts(reading: now, files: files))
    }
}
