package import DurableFiles
import RunService
import StateFolders
import StoreRuns

/// Paths of stores as the command line gives them.
package enum StorePath {
    /// The path, if a store can be there.
    ///
    /// - Throws: `CommandFailure` with status 64 for a folder and where nothing is.
    package static func check(_ text: String) throws(CommandFailure) -> FilePath {
        let path = FilePath(text)
        let status: FileStatus?
        do {
            status = try FileStatus.ifPresent(path)
        } catch {
            throw CommandFailure(.file(error))
        }
        guard let status else {
            throw .usage("\(path) does not exist; name the store's database file")
        }
        guard !status.isFolder else {
            throw .usage(
                "\(path) is a folder; name the database file of one store")
        }
        return path
    }
}
