import DurableFiles
import Foundation
import GRDB
import Jobs
import RunLedger
import TestSupport
import Testing

@Suite struct OpeningTests {
    private let files = DurableFileSystem()

    @Test func theSecondOwnerIsToldWhoHolds() throws {
        try withFolder { folder in
            let state = folder.appending("deep/state")
            let ledger = try Ledger(
                folder: state, holder: LockHolder(text: "pid 7 on here (migrate)"))
            let found = try cause { _ = try openLedger(state) }
            #expect(found == .locked(holder: "pid 7 on here (migrate)"))
            try ledger.close()
            try ledger.close()
            #expect(throws: LedgerError.self) { try ledger.append(beginning(stores: 1)) }
            #expect(throws: LedgerError.self) { try ledger.runs() }
            try openLedger(state).close()
            #expect(try FileStatus(of: ledger.path).permissions == 0o600)
            #expect(try FileStatus(of: state).permissions == 0o700)
        }
    }

    @Test func readersNeedNoLock() throws {
        try withFolder { folder in
            #expect(try cause { _ = try Ledger(reading: folder) } == .missing)
            let ledger = try openLedger(folder)
            let reader = try Ledger(reading: folder)
            #expect(try reader.runs().isEmpty)
            try ledger.append(beginning(stores: 2))
            #expect(try reader.storeCounts(of: "r1") == [.waiting: 2])
            #expect(try cause { try reader.append(beginning("r2", stores: 1)) } == .notWritable)
            try ledger.close()
            #expect(try reader.runs().count == 1)
            try reader.close()
            let late = try Ledger(reading: folder)
            #expect(try late.runs().count == 1)
            try late.close()
        }
    }

    @Test func lettingGoCloses() throws {
        try withFolder { folder in
            do { try openLedger(folder).append(beginning(stores: 1)) }
            let ledger = try openLedger(folder)
            #expect(try ledger.runs().count == 1)
            try ledger.close()
        }
    }

    @Test func anyFolderNameWillDo() throws {
        try withFolder { folder in
            let odd = folder.appending(FilePath(bytes: [0xFF, 0x20, 0x3F, 0x23, 0x25, 0x0A]))
            let ledger = try openLedger(odd)
            try ledger.append(beginning(stores: 1))
            try ledger.close()
            #expect(try files.names(in: odd) == ["godwit.lock", "ledger.sqlite"])
            let reader = try Ledger(reading: odd)
            #expect(try reader.runs().count == 1)
            try reader.close()
        }
    }

    @Test func networkFileSystemsAreRefused() throws {
        try withFolder { folder in
            let found = try cause {
                _ = try Ledger(
                    folder: folder, holder: LockHolder(text: "t"),
                    networkCheck: { path throws(DurableFileError) in
                        path.isInside(folder) ? "NFS" : nil
                    })
            }
            #expect(found == .networkFileSystem(name: "NFS"))
            #expect(try files.names(in: folder).isEmpty)
        }
    }

    private static let later = LedgerSchema(
        versions: LedgerSchema.current.versions + ["CREATE TABLE later (number INTEGER)"])

    private func open(_ folder: FilePath, _ schema: LedgerSchema) throws -> Ledger {
        try Ledger(folder: folder, holder: LockHolder(text: "t"), schema: schema)
    }

    @Test func laterVersionsAreRefusedAndEarlierOnesMigrated() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 1))
            try ledger.close()
            let newest = LedgerSchema.current.newest
            #expect(
                try cause { _ = try Ledger(reading: folder, schema: OpeningTests.later) }
                    == .earlierVersion(found: newest, known: newest + 1))
            let migrated = try open(folder, OpeningTests.later)
            #expect(try migrated.runs().map(\.id) == ["r1"])
            try migrated.close()

            let bytes = try files.contents(of: ledger.path, limit: 1 << 20)
            let refused = LedgerError.Kind.laterVersion(found: newest + 1, known: newest)
            #expect(try cause { _ = try openLedger(folder) } == refused)
            #expect(try cause { _ = try Ledger(reading: folder) } == refused)
            #expect(try files.contents(of: ledger.path, limit: 1 << 20) == bytes)
            // The refusal let go of the lock.
            try open(folder, OpeningTests.later).close()
        }
    }

    @Test func aMigrationThatFailsChangesNothing() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 1))
            try ledger.close()
            let broken = LedgerSchema(
                versions: LedgerSchema.current.versions + ["CREATE TABLE x (y); DROP TABLE none"])
            #expect(throws: LedgerError.self) { try open(folder, broken) }
            let again = try openLedger(folder)
            #expect(try again.runs().map(\.id) == ["r1"])
            try again.close()
        }
    }

    @Test func damageIsToldAndNothingRemoved() throws {
        try withFolder { folder in
            let ledger = try openLedger(folder)
            try ledger.append(beginning(stores: 2000))
            try ledger.close()
            let whole = try files.contents(of: ledger.path, limit: 8 << 20)
            var random = SeededGenerator(seed: 4)
            var damaged = whole
            for place in 40_000..<60_000 {
                damaged[place] = UInt8(truncatingIfNeeded: random.next())
            }
            let cut = Array(whole.prefix(50_000))
            let noise = (0..<9000).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            for bytes in [damaged, cut, noise] {
                try files.publish(bytes, to: ledger.path)
                let error = #expect(throws: LedgerError.self) { try openLedger(folder) }
                guard case .damaged = error?.kind else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
                #expect(try files.contents(of: ledger.path, limit: 8 << 20) == bytes)
            }
            try files.publish(whole, to: ledger.path)
            try openLedger(folder).close()
        }
    }

    @Test func otherDatabasesAreNoLedgers() throws {
        try withFolder { folder in
            let path = folder.appending(Ledger.fileName)
            let queue = try DatabaseQueue(path: path.description)
            try queue.write { try $0.execute(sql: "CREATE TABLE run (number INTEGER)") }
            try queue.close()
            let bytes = try files.contents(of: path, limit: 1 << 20)
            let found = try cause { _ = try openLedger(folder) }
            #expect(found == .damaged(reason: "the file is a database, but not a ledger"))
            #expect(try files.contents(of: path, limit: 1 << 20) == bytes)

            let other = folder.appending("other")
            try files.makeFolders(other.appending(Ledger.fileName))
            #expect(throws: LedgerError.self) { try openLedger(other) }
        }
    }

    /// Every kind says which ledger, that originals are whole, and what to do.
    @Test func messagesSayWhatWhereAndWhatNext() {
        let kinds: [LedgerError.Kind] = [
            .locked(holder: "pid 3"), .networkFileSystem(name: "NFS"),
            .laterVersion(found: 3, known: 2), .earlierVersion(found: 1, known: 2),
            .damaged(reason: "r"), .missing, .copied(from: "/other"), .noSpace(reason: "r"),
            .inputOutput(reason: "r"),
            .refusing(reason: "r"), .notWritable, .unknownRun("x"), .unknownStore(run: "x", 3),
            .unknownAttempt(run: "x", "a"), .duplicate("d"),
            .illegalTransition(of: "o", from: "f", to: "t"), .alreadyAccepted(attempt: "a"),
            .staleEpoch(1, current: 2), .attemptEnded("a"), .progressDepends(store: 3),
            .refusedValue("r"),
        ]
        let texts = kinds.map { LedgerError(ledger: "/s/ledger.sqlite", kind: $0).description }
        #expect(Set(texts).count == kinds.count)
        for text in texts {
            #expect(text.hasPrefix("the ledger /s/ledger.sqlite "))
            #expect(text.contains("; the original stores are whole; "))
        }
        #expect(texts[2].contains("version 3") && texts[2].contains("up to 2"))
    }

    @Test("a copy is refused while the first ledger is there; a moved one is taken")
    func copies() throws {
        try withFolder { folder in
            let first = folder.appending("first")
            let ledger = try openLedger(first)
            try ledger.append(beginning(stores: 1))
            try ledger.close()
            let copy = folder.appending("copy")
            try files.makeFolder(copy)
            try files.publish(
                files.contents(of: ledger.path, limit: 1 << 24),
                to: copy.appending(Ledger.fileName))
            #expect(try cause { _ = try openLedger(copy) } == .copied(from: first))
            // The refusal changes nothing, and the first one works on.
            let again = try openLedger(first)
            #expect(try again.runs().count == 1)
            try again.close()
            // The same copy where the first one is gone is a backup that was put back.
            try files.removeTree(first)
            try openLedger(copy).close()
            let moved = folder.appending("moved")
            try files.rename(copy, to: moved, existing: .refuse)
            let last = try openLedger(moved)
            #expect(try last.runs().count == 1)
            try last.close()
        }
    }
}
