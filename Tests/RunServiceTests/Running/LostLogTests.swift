import DurableFiles
import Foundation
import GRDB
@testable import RunMoves
import TestSupport
import Testing

/// Logs that are gone after a snapshot was made of their store.
@Suite struct LostLogTests {
    /// A store of which a program has the newest row in its main file, and a snapshot with another
    /// one, times by seconds from now.
    private func isLost(
        written: TimeInterval, snapshotWritten: TimeInterval, _ folder: URL
    ) throws -> Bool {
        let store = folder.appendingPathComponent("a.sqlite")
        let snapshot = folder.appendingPathComponent("snapshot")
        for (url, row) in [(store, 1), (snapshot, 2)] {
            let queue = try DatabaseQueue(path: url.path)
            try queue.write {
                try $0.execute(sql: "CREATE TABLE t (x); INSERT INTO t VALUES (\(row))")
            }
            try queue.close()
        }
        for (url, seconds) in [(store, written), (snapshot, snapshotWritten)] {
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(seconds)], ofItemAtPath: url.path)
        }
        let look = SourceLook(
            files: DurableFileSystem(),
            scratch: FilePath(folder.appendingPathComponent("look").path),
            model: nil, allowsMissingExternalData: false)
        return try look.hasLostLog(FilePath(store.path), snapshot: FilePath(snapshot.path))
    }

    @Test func aLogThatWentWithWhatItHeldIsLost() throws {
        try withTemporaryFolder { folder in
            let isLost = try isLost(written: -1000, snapshotWritten: 0, folder)
            #expect(isLost)
        }
    }

    /// A program wrote the store as soon as it had been copied, and the log was applied to the copy
    /// after that.
    @Test func aLogThatAProgramAppliedMeanwhileIsNotLost() throws {
        try withTemporaryFolder { folder in
            let isLost = try isLost(written: 1000, snapshotWritten: 2000, folder)
            let snapshot = FilePath(folder.appendingPathComponent("snapshot").path)
            // Without a birth time the last write decides, which keeps more than it must.
            #expect(try isLost == (FileStatus(of: snapshot).identity.birth == nil))
        }
    }
}
