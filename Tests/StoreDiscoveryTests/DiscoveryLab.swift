import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Glibc
import SafeSQLite
import TestSupport
import Testing

@testable import StoreDiscovery

/// A temporary folder in which files of any name can be made and discovered.
struct DiscoveryLab {
    let folder: FilePath
    private let files = DurableFileSystem()
    private let store: [UInt8]
    private let otherDatabase: [UInt8]

    /// Runs a body with a fresh folder.
    static func with(_ body: (DiscoveryLab) throws -> Void) throws {
        try withTemporaryFolder { url in
            // Symbolic links on the way to the temporary folder would hide what a path should be.
            let base = try DurableFileSystem().resolve(FilePath(url.path))
            let store = try database(
                at: base.appending("store"), sql: "CREATE TABLE Z_METADATA (Z_VERSION INTEGER)")
            let other = try database(at: base.appending("other"), sql: "CREATE TABLE cache (a)")
            let folder = base.appending("fleet")
            try DurableFileSystem().makeFolder(folder)
            try body(DiscoveryLab(folder: folder, store: store, otherDatabase: other))
        }
    }

    private init(folder: FilePath, store: [UInt8], otherDatabase: [UInt8]) {
        self.folder = folder
        self.store = store
        self.otherDatabase = otherDatabase
    }

    private static func database(at path: FilePath, sql: String) throws -> [UInt8] {
        let connection = try Connection(path: path, mode: .create)
        try connection.execute(sql)
        try connection.close()
        return try DurableFileSystem().contents(of: path, limit: 1 << 20)
    }

    func path(_ relative: FilePath) -> FilePath { folder.appending(relative) }

    /// Makes a file and the folders on the way to it.
    func file(_ relative: FilePath, _ contents: [UInt8]) throws {
        try files.makeFolders(path(relative).parent)
        try files.publish(contents, to: path(relative))
    }

    func store(_ relatives: FilePath...) throws {
        for relative in relatives { try file(relative, store) }
    }

    func otherDatabase(_ relative: FilePath) throws { try file(relative, otherDatabase) }

    /// A database with a table of the test's own.
    func database(_ relative: FilePath, _ sql: String) throws {
        try files.makeFolders(path(relative).parent)
        _ = try Self.database(at: path(relative), sql: sql)
    }

    func link(_ relative: FilePath, to target: FilePath) throws {
        try files.makeFolders(path(relative).parent)
        let made = withBytes(target) { target in
            withBytes(path(relative)) { symlink(target, $0) }
        }
        #expect(made == 0)
    }

    func hardLink(_ relative: FilePath, to other: FilePath) throws {
        try files.hardLink(from: path(other), to: path(relative))
    }

    func pipe(_ relative: FilePath) {
        #expect(withBytes(path(relative)) { mkfifo($0, 0o600) } == 0)
    }

    func discover(
        _ paths: FilePath..., include: [FilePath] = [], exclude: [FilePath] = [],
        lists: [FilePath] = []
    ) throws -> Discovery {
        var selection = StoreSelection(paths: paths.map(path))
        selection.include = include
        selection.exclude = exclude
        selection.lists = lists.map(path)
        return try StoreSearch.discover(selection)
    }

    private func withBytes<Result>(
        _ path: FilePath, _ body: (UnsafePointer<CChar>) -> Result
    ) -> Result {
        (path.bytes.map { CChar(bitPattern: $0) } + [0]).withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("never empty") }
            return body(start)
        }
    }
}

extension Discovery {
    var relatives: [FilePath] { stores.map(\.relative) }

    /// Paths of skipped files below a folder, with their reasons.
    func reasons(below folder: FilePath) -> [FilePath: SkippedFile.Reason] {
        var reasons: [FilePath: SkippedFile.Reason] = [:]
        for file in skipped {
            let below = file.path.bytes.dropFirst(folder.bytes.count + 1)
            reasons[FilePath(bytes: below)] = file.reason
        }
        return reasons
    }
}
