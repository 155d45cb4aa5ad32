import DurableFiles
import Foundation
import Jobs
import MigrationPlans
import SafeSQLite
import StoreRuns

/// The sums over objects that policies made and that gave way to others of the same key: a file in
/// the folder of a store, which its validation needs.
struct PolicyRecord {
    private let path: FilePath
    private let files: DurableFileSystem

    /// The largest file that is read, in bytes.
    private static let limit = 16 << 20

    init(_ places: StorePaths, _ files: DurableFileSystem) {
        path = places.folder.appending("policies.json")
        self.files = files
    }

    /// Writes the sums; what an earlier try wrote is replaced, and is the same.
    func write(_ sums: [String: ContentSum]) throws(EngineError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes: [UInt8]
        do {
            bytes = Array(try encoder.encode(sums))
        } catch {
            throw .internalError("sums cannot be written: \(error)")
        }
        try EngineError.translating { try files.publish(bytes, to: path) }
    }

    /// Reads the sums; none where nothing gave way.
    func read() throws(EngineError) -> [String: ContentSum] {
        let bytes: [UInt8]
        do throws(DurableFileError) {
            guard try FileStatus.ifPresent(path) != nil else { return [:] }
            bytes = try files.contents(of: path, limit: Self.limit)
        } catch {
            throw .file(error)
        }
        do {
            return try JSONDecoder().decode([String: ContentSum].self, from: Data(bytes))
        } catch {
            throw .internalError("\(path) is damaged: cancel the store and migrate it again")
        }
    }
}
