import CoreDataStore
import DurableFiles
import Jobs
import StoreForge
import Synchronization
import Testing

@testable import LocalRun

/// Stores that a program writes, or closes, while godwit reads them.
@Suite("Stores that change while they are read") struct ChangingStoreTests {
    /// Does something each time that the snapshot of a store is begun.
    private func opener(
        _ limit: Int, _ body: @escaping @Sendable () throws -> Void
    ) -> StoreOpener {
        let left = Mutex(limit)
        return StoreOpener(
            files: DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == .create, point.moment == .after,
                        point.path.lastComponent == FilePath("snapshot")
                    else { return nil }
                    let isDue = left.withLock { left in
                        left -= 1
                        return left >= 0
                    }
                    do { if isDue { try body() } } catch { Issue.record(error) }
                    return nil
                }))
    }

    private func scratch(_ lab: RunLab) throws -> FilePath {
        let scratch = lab.folder.appending("scratch")
        try lab.files.makeFolders(scratch)
        return scratch
    }

    /// The last program closes the store: its log is gone before it could be copied.
    @Test func aLogThatVanishesIsNotABrokenDisk() throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let log = store.adding(suffix: "-wal")
            let opener = opener(1) {
                try lab.write(store, "UPDATE ZNOTE SET ZTITLE = 'at last' WHERE Z_PK = 1")
                #expect(try FileStatus.ifPresent(log) == nil)
            }
            let opened = try opener.open(store, scratch: try scratch(lab))
            #expect(!opened.isSnapshot)
            #expect(try opened.fingerprint == StoreFingerprint(of: store))
        }
    }

    @Test(.enabled(if: SQLiteClient.isThere), arguments: [1, 2, 3])
    func aStoreThatIsWrittenIsReadAgain(times: Int) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", journal: .writeAheadLogWithContent)
            let client = Mutex(try SQLiteClient(store))
            try client.withLock {
                try $0.run("UPDATE ZNOTE SET ZTITLE = 'first' WHERE Z_PK = 1")
            }
            let opener = opener(times) {
                try client.withLock {
                    try $0.run("UPDATE ZNOTE SET ZTITLE = ZTITLE || '+' WHERE Z_PK = 1")
                }
            }
            if times < 3 {
                let opened = try opener.open(store, scratch: try scratch(lab))
                #expect(opened.isSnapshot)
                #expect(try opened.fingerprint == StoreFingerprint(of: store))
                let title = "first" + String(repeating: "+", count: times)
                #expect(try lab.content(opened.database).contains { $0.contains(title) })
            } else {
                let error = #expect(throws: StoreError.self) {
                    try opener.open(store, scratch: try scratch(lab))
                }
                guard case .changed(let text) = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                // Who changed it is named.
                #expect(text.hasPrefix("\(store), which is open in sqlite3 (pid "), "\(text)")
            }
            try client.withLock { try $0.end() }
        }
    }

    @Test func whatIsToldOfAChangedStore() {
        let error = RunError.store(.changed("/a"))
        #expect(FailureCause(error) == .sourceChanged)
        #expect(error.code == .sourceChanged)
    }
}
