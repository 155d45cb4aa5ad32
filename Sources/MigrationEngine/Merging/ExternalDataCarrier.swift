package import CoreDataStore
package import DurableFiles
package import MigrationPlans
import SafeSQLite

/// Brings the external data files that a destination refers to beside it.
package struct ExternalDataCarrier {
    private let files: DurableFileSystem
    /// Whether files are hard-linked instead of copied.
    private let links: Bool

    package init(files: DurableFileSystem = DurableFileSystem(), links: Bool) {
        self.files = files
        self.links = links
    }

    /// What was carried.
    package struct Result: Sendable {
        package var files: Int64 = 0
        package var bytes: Int64 = 0
        package var missing: Int64 = 0
    }

    /// Copies (as a reflink where the file system can) or links every file once.
    ///
    /// - Parameters:
    ///   - layout: of the destination.
    ///   - database: the destination.
    ///   - source: the original's folder of external data.
    ///   - target: the destination's; made when there is a first file.
    /// - Returns: the files that were carried, their bytes, and how often a file was missing.
    /// - Throws: `EngineError` with SQLite's or the system's reason.
    package func carry(
        layout: StoreLayout, database: FilePath, from source: FilePath, to target: FilePath
    ) throws(EngineError) -> Result {
        try EngineError.translating {
            var result = Result()
            guard layout.tables.contains(where: { $0.columns.contains(where: \.isExternal) })
            else { return result }
            let connection = try Connection(path: database, mode: .immutable)
            var isMade = false
            try ExternalDataSurvey.references(in: layout, connection) { name in
                let from = source.appending(name)
                guard let status = try FileStatus.ifPresent(from), status.isRegularFile else {
                    result.missing += 1
                    return
                }
                if !isMade {
                    try files.makeFolders(target)
                    isMade = true
                }
                let to = target.appending(name)
                guard try FileStatus.ifPresent(to) == nil else { return }
                if links {
                    try files.hardLink(from: from, to: to)
                } else {
                    _ = try files.clone(from: from, to: to)
                }
                result.files += 1
                result.bytes = result.bytes.addingClamped(status.size)
            }
            try connection.close()
            if isMade { try files.syncFolder(target) }
            return result
        }
    }
}
