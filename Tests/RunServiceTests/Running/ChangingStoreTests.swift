import CoreDataStore
import DurableFiles
import Jobs
import RunLedger
import SafeSQLite
import StateFolders
import StoreForge
import Synchronization
import TestSupport
import Testing

@testable import StoreRuns

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
            let opened = try opener.open(StoreLocation(store), scratch: try scratch(lab))
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
                let opened = try opener.open(StoreLocation(store), scratch: try scratch(lab))
                #expect(opened.isSnapshot)
                #expect(try opened.fingerprint == StoreFingerprint(of: store))
                let title = "first" + String(repeating: "+", count: times)
                #expect(try lab.content(opened.database).contains { $0.contains(title) })
            } else {
                let error = #expect(throws: StoreError.self) {
                    try opener.open(StoreLocation(store), scratch: try scratch(lab))
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

    /// Writes the store until its standard input is closed.
    private static let writer = """
        exec python3 -c '
        import select, sqlite3, sys
        print("writing", flush=True)
        while not select.select([sys.stdin], [], [], 0)[0]:
            client = sqlite3.connect(sys.argv[1], timeout=0.1)
            try:
                client.execute("UPDATE ZNOTE SET ZTITLE = hex(randomblob(abs(random()) % 3000))")
                client.commit()
            except sqlite3.Error:
                pass
            client.close()
        ' "$1"
        """

    /// Pages that do not fit each other are no damage where a program writes them meanwhile.
    @Test(arguments: [ForgeRecipe.Journal.rollback, .writeAheadLog])
    func aStoreThatIsWrittenAllTheTimeIsNotDamaged(journal: ForgeRecipe.Journal) throws {
        try RunLab.run { lab in
            let store = try lab.forge("a.sqlite", notes: 100, journal: journal)
            let client = try ShellClient(Self.writer, store.description)
            #expect(try client.line() == "writing")
            var failures = 0
            for _ in 0..<10 {
                let ending = try lab.migrate([store])
                guard ending.counts == [.failed: 1] else { break }
                failures += 1
                let standing = try #require(try lab.standings()[store])
                let causes: Set<FailureCause> = [.sourceChanged, .locked]
                let cause = try #require(standing.cause)
                #expect(causes.contains(cause), "\(standing.reason)")
            }
            #expect(failures > 0)
            try client.end()
            #expect(try lab.content(store).first == "ok")
        }
    }

    @Test func reportsChangedStore() {
        let error = RunError.store(.changed("/a"))
        #expect(error.cause == .sourceChanged)
    }
}
