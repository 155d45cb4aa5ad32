import CoreDataStore
package import DurableFiles
import Foundation
import SafeSQLite

/// Folders for snapshots that live as long as one command.
package enum ScratchFolder {
    /// Runs a body with a fresh folder that only this user can read, and removes it afterwards,
    /// also where a signal ends the process.
    ///
    /// - Parameters:
    ///   - parent: where the user wants it; the system's temporary folder without it.
    ///   - body: gets the folder's path.
    /// - Returns: what the body returns.
    /// - Throws: `CommandFailure`, the body's own before one of the removal.
    package static func with<Result>(
        in parent: String? = nil, _ body: (FilePath) throws -> Result
    ) throws(CommandFailure) -> Result {
        try CommandFailure.translating {
            let files = DurableFileSystem()
            let given = FilePath(parent ?? FileManager.default.temporaryDirectory.path)
            try files.with(.followed).makeFolders(given)
            let base = try files.with(.followed).resolve(given)
            let folder = base.appending("godwit-\(UUID().uuidString)")
            try Interruption.shared.make(folder)
            TemporaryFiles.use(folder)
            let result: Result
            do {
                result = try body(folder)
            } catch {
                do { try Interruption.shared.remove(folder) } catch { Console.log("\(error)") }
                throw error
            }
            try Interruption.shared.remove(folder)
            return result
        }
    }

    /// Removes a folder on a way out that has its own result or error; a failure is logged.
    package static func discard(_ folder: FilePath) {
        do { try DurableFileSystem().removeTree(folder) } catch { Console.log("\(error)") }
    }
}
