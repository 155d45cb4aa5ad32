package import DurableFiles
import Glibc
import RunService
import StateFolders
import StoreRuns

/// Folders that options name and that are made where they are missing.
package enum FolderOption {
    /// Checks that a folder is there or can be made: that nothing else has its name or the name
    /// of a folder on the way to it.
    ///
    /// - Throws: `CommandFailure` with status 64, naming the option.
    package static func check(_ option: String, _ text: String) throws(CommandFailure) {
        var path = FilePath(text)
        // The first part that is there decides.
        while true {
            if let status = try status(path) {
                if status.isFolder { return }
                throw .usage(
                    "\(option) \(text): \(path) is \(status.kind), not a folder. Give another "
                        + "folder; Godwit creates it if needed")
            }
            guard path.parent != path else { return }
            path = path.parent
        }
    }

    /// Checks that shared folders are there.
    ///
    /// - Throws: `CommandFailure` with status 64, naming the first that is not.
    package static func checkRoots(_ folders: [String: FilePath]) throws(CommandFailure) {
        for (name, folder) in folders.sorted(by: { $0.key < $1.key }) {
            let found = try status(folder)
            guard found?.isFolder != true else { continue }
            let text = found.map { "is \($0.kind)" } ?? "does not exist"
            throw .usage(
                "--root \(name)=\(folder): the folder \(text); give one on this machine, and "
                    + "check that its file system is mounted")
        }
    }

    /// The status of what is there; nil also below something that is no folder.
    private static func status(_ path: FilePath) throws(CommandFailure) -> FileStatus? {
        do throws(DurableFileError) {
            return try FileStatus.ifPresent(path)
        } catch {
            if error.number == ENOTDIR { return nil }
            throw CommandFailure(.file(error))
        }
    }
}
