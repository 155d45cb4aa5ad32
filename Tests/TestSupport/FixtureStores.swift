package import Foundation

/// The stores among the fixtures.
package enum FixtureStores {
    /// Every Core Data store, found by its bytes, sorted by path.
    ///
    /// - Throws: `CocoaError` where the fixtures are absent.
    package static func all() throws -> [URL] {
        try Fixtures.files { url in
            let name = url.lastPathComponent
            guard !name.hasSuffix("-wal"), !name.hasSuffix("-shm") else { return false }
            guard let handle = FileHandle(forReadingAtPath: url.path) else { return false }
            defer { handle.closeFile() }
            let start = try? handle.read(upToCount: 16)  // folders cannot be read
            return start == Data("SQLite format 3\0".utf8)
        }
    }
}
