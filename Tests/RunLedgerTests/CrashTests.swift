import DurableFiles
import Foundation
import Glibc
import Jobs
import RunLedger
import Synchronization
import TestSupport
import Testing
import Threads

@Suite struct CrashTests {
    /// A process with four appending threads is killed at a commit: what it was told to be
    /// durable is there, each call whole or not at all.
    @Test(arguments: [1, 2, 7, 20], [true, false])
    func killedAtACommit(commit: Int, isBefore: Bool) async throws {
        let folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("godwit-test-\(getpid())-\(commit)-\(isBefore)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let place = folder.path
        let result = await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as String, commit = commit as Int, isBefore = isBefore as Bool] in
            try appendUntilKilled(FilePath(place), commit: commit, isBefore: isBefore)
        }
        #expect(result != nil)

        let ledger = try openLedger(FilePath(place))
        let events = try ledger.events(run: "r1", limit: 100_000).filter { $0.kind == "test" }
        let calls = Dictionary(grouping: events, by: \.text)
        for (call, records) in calls { #expect(records.count == 3, "\(call)") }
        let told = try DurableFileSystem().contents(
            of: FilePath(place).appending("told"), limit: 1 << 20)
        let lines = String(decoding: told, as: UTF8.self).split(separator: "\n").map(String.init)
        #expect(Set(lines).isSubset(of: calls.keys))
        #expect(!lines.isEmpty || commit < 3)
        #expect(calls.count <= lines.count + 4)
        try ledger.append([.note(run: "r1", store: 0, kind: "after", text: "", at: 1)])
        try ledger.close()
    }

    /// Every fault point in turn fails with every error number: the call says so, and the next
    /// opener finds a whole ledger with everything that was told to be durable.
    @Test(arguments: [EIO, ENOSPC, EDQUOT])
    func everyFaultPointFailsInTurn(number: Int32) throws {
        var place = 0
        while try failsAt(place, number) { place += 1 }
        // Folder, lock, file, opening, two commits, a checkpoint, closing: twice each.
        #expect(place > 20)
    }

    /// Runs a small life of a ledger; false where it has fewer fault points than that.
    private func failsAt(_ place: Int, _ number: Int32) throws -> Bool {
        try withFolder { folder in
            let count = Atomic(0)
            let faults = FaultPoints { _ in
                count.add(1, ordering: .relaxed).oldValue == place ? .error(number) : nil
            }
            let state = folder.appending("state")
            var stored = 0
            do {
                let ledger = try openLedger(state, faults: faults)
                try ledger.append(beginning(stores: 5))
                stored = 1
                try ledger.append([began("a"), .accepted(receipt("a"), at: 2)])
                stored = 2
                try ledger.close()
                return false
            } catch let error as LedgerError {
                #expect(error.description.contains("original stores are whole"))
            }
            let ledger = try openLedger(state)
            let counts = try ledger.storeCounts(of: "r1")
            #expect(counts.isEmpty || counts == [.waiting: 5])
            if stored > 0 { #expect(!counts.isEmpty) }
            let receipts = try ledger.acceptedReceipts(run: "r1", store: 0)
            #expect(receipts.count <= 1)
            if stored > 1 { #expect(receipts.count == 1) }
            try ledger.append([.runBegan(run("r2"))])
            try ledger.close()
            return true
        }
    }
}

/// Appends from four threads, noting in a file what was told to be durable, until the process
/// kills itself at a commit.
private func appendUntilKilled(_ folder: FilePath, commit: Int, isBefore: Bool) throws {
    let commits = Atomic(0)
    let faults = FaultPoints { point in
        guard point.operation == .commitLedger, (point.moment == .before) == isBefore else {
            return nil
        }
        if commits.add(1, ordering: .relaxed).newValue == commit + 1 { kill(getpid(), SIGKILL) }
        return nil
    }
    let told = try DurableFileSystem().create(folder.appending("told"))
    let descriptor = Mutex(told)
    let ledger = try openLedger(folder, faults: faults)
    try ledger.append(beginning(stores: 1))
    _ = try SlotThreads<Void>.map(0..<4, count: 4, name: "append") { thread, _ in
        for number in 0..<1000 {
            let text = "\(thread)-\(number)"
            let note = LedgerRecord.note(run: "r1", store: 0, kind: "test", text: text, at: 1)
            try ledger.append([note, note, note])
            try descriptor.withLock { try $0.write(Array("\(text)\n".utf8)) }
        }
    }
}
