import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Synchronization
import Testing

@testable import StoreSwap

/// A neighbour's folder with everything that a link may lead to; nothing of it may change.
struct Canary {
    /// Everything that shows whether a file was touched.
    struct State: Equatable {
        let path: FilePath
        let mode: UInt32
        let owner: UInt32
        let group: UInt32
        let links: UInt64
        let size: Int64
        let modified: FileTime
        let content: [UInt8]
    }

    let folder: FilePath
    let store: FilePath
    let before: [State]

    var support: FilePath { StoreLocation(store).support }
    var external: FilePath { StoreLocation(store).externalData }
    var backup: FilePath { folder.appending(".godwit-backup-r1") }

    /// Makes a folder with the same names as a laboratory's.
    init(_ folder: FilePath, for lab: SwapLab) throws {
        self.folder = folder
        store = folder.appending(lab.store.lastComponent)
        let files = DurableFileSystem()
        try files.makeFolder(folder)
        let backup = folder.appending(".godwit-backup-r1")
        for store in [store, backup.appending(lab.store.lastComponent)] {
            try files.makeFolders(StoreLocation(store).externalData)
            for suffix in ["", "-wal", "-journal"] {
                _ = try files.clone(from: lab.store, to: store.adding(suffix: suffix))
            }
            for name in [SwapLab.kept, SwapLab.addition] {
                try SwapLab.write(
                    "alice", to: StoreLocation(store).externalData.appending(name))
            }
        }
        before = try Canary.state(folder)
    }

    static func state(_ folder: FilePath) throws -> [State] {
        let files = DurableFileSystem()
        return try files.tree(at: folder).map { found in
            let status = found.status
            return State(
                path: found.path, mode: status.mode, owner: status.owner, group: status.group,
                links: status.links, size: status.size, modified: status.identity.modified,
                content: status.isRegularFile
                    ? try files.contents(of: found.path, limit: 64 << 20) : [])
        }
    }

    func link(_ path: FilePath, to target: FilePath) throws {
        try #require(symlink(target.description, path.description) == 0)
    }

    func expectUntouched(_ location: SourceLocation = #_sourceLocation) throws {
        let now = try Canary.state(folder)
        #expect(now.map(\.path) == before.map(\.path), sourceLocation: location)
        #expect(now == before, sourceLocation: location)
    }
}

/// A number that counts up.
final class SwapCount: Sendable {
    private let value = Atomic(0)
    /// 0 at first.
    func next() -> Int { value.add(1, ordering: .relaxed).oldValue }
}
