import Foundation
import GRDB
import ModelFiles
import TestSupport

/// Archives and metadata of the fixtures.
enum FixtureArchives {
    /// What one store holds in its system tables.
    struct StoreContent {
        let name: String
        /// `Z_PLIST`.
        let metadata: [UInt8]
        /// `Z_MODELCACHE.Z_CONTENT`; nil in stores of old frameworks.
        let cachedModel: [UInt8]?
    }

    /// Every store, read on a private copy together with its write-ahead log.
    static func stores() throws -> [StoreContent] {
        let files = try Fixtures.files { file in
            guard !file.path.hasSuffix("-wal"), !file.path.hasSuffix("-shm"),
                let handle = try? FileHandle(forReadingFrom: file)
            else { return false }
            return (try? handle.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
        }
        return try files.map { file in
            try withTemporaryFolder { folder in
                let copy = folder.appendingPathComponent("store")
                try FileManager.default.copyItem(at: file, to: copy)
                let log = URL(fileURLWithPath: file.path + "-wal")
                if FileManager.default.fileExists(atPath: log.path) {
                    try FileManager.default.copyItem(
                        at: log, to: folder.appendingPathComponent("store-wal"))
                }
                return try content(of: copy, name: file.lastPathComponent)
            }
        }
    }

    private static func content(of copy: URL, name: String) throws -> StoreContent {
        try DatabaseQueue(path: copy.path).read { database in
            let metadata = try Data.fetchOne(database, sql: "SELECT Z_PLIST FROM Z_METADATA")
            var cached: Data?
            if try database.tableExists("Z_MODELCACHE") {
                cached = try Data.fetchOne(database, sql: "SELECT Z_CONTENT FROM Z_MODELCACHE")
            }
            return StoreContent(
                name: name, metadata: Array(metadata ?? Data()), cachedModel: cached.map(Array.init)
            )
        }
    }

    /// Every `.mom` file.
    static func compiledModels() throws -> [URL] {
        try Fixtures.files { $0.pathExtension == "mom" }
    }

    /// Every `.momd` folder that has its `VersionInfo.plist`.
    static func compiledBundles() throws -> [URL] {
        try Fixtures.files { $0.lastPathComponent == "VersionInfo.plist" }
            .map { $0.deletingLastPathComponent() }
    }

    /// Archives of all stores and compiled models, by the name of their file.
    static func all() throws -> [(name: String, bytes: [UInt8])] {
        var archives: [(name: String, bytes: [UInt8])] = []
        for store in try stores() {
            guard let cached = store.cachedModel else { continue }
            archives.append((store.name, try Deflate.inflate(cached)))
        }
        for file in try compiledModels() {
            archives.append((file.lastPathComponent, Array(try Data(contentsOf: file))))
        }
        return archives
    }
}
