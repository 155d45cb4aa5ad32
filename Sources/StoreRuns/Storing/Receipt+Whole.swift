import CoreDataStore
package import DurableFiles
package import Jobs
import MigrationPlans
import RunLedger
package import StateFolders

extension Receipt {
    /// Whether a worker validated what it delivers, and says so in a file.
    package var hasOutcome: Bool {
        files.dropFirst().first.map { file in
            FilePath(escaped: file.file.path)?.lastComponent
                == StorePaths(attempt: FilePath("")).outcome.lastComponent
        } ?? false
    }

    /// The names of counts that are times of steps, in microseconds.
    private static let timeNames = Dictionary(
        uniqueKeysWithValues: RunStep.allCases.map { ("microseconds.\($0.rawValue)", $0) })

    /// Times of steps as counts.
    ///
    /// - Parameter seconds: by the worker's clock.
    /// - Returns: the counts.
    static func counts(of seconds: [RunStep: Double]) -> [String: Int64] {
        Dictionary(
            uniqueKeysWithValues: timeNames.compactMap { name, step in
                seconds[step].map { (name, Int64(clamping: Int($0 * 1e6))) }
            })
    }

    /// The times of steps that it counts, in seconds; nil where it counts anything else.
    package var times: [RunStep: Double]? {
        var times: [RunStep: Double] = [:]
        for (name, count) in counts {
            guard let step = Self.timeNames[name] else { return nil }
            times[step] = Double(count) / 1e6
        }
        return times
    }

    /// Compares the files that an attempt at a whole store delivered with this receipt.
    ///
    /// - Throws: `RunError.engine(.wrongPlan)` for other files, `RunError.file`.
    package func check(_ places: StorePaths, _ files: DurableFileSystem) throws(RunError) {
        try RunError.translating {
            let known = [DeliveredFile.ownDigest, DeliveredFile.unreadDigest]
            for told in self.files where !known.contains(told.digest) {
                let name = FilePath(escaped: told.file.path)?.lastComponent ?? ""
                let path = places.folder.appending(name)
                let content = try ContentDigest.hexadecimal(of: path, files: files)
                guard content.digest == told.digest, content.bytes == told.bytes else {
                    throw EngineError.wrongPlan("\(path) is not what the receipt says")
                }
            }
        }
    }
}
