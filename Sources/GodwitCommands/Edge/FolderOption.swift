import DurableFiles
import Glibc
import LocalRun

/// Folders that options name and that are made where they are missing.
enum FolderOption {
    /// Checks that a folder is there or can be made: that nothing else has its name or the name
    /// of a folder on the way to it.
    ///
    /// - Throws: `CommandFailure` with status 64, naming the option.
    static func check(_ option: String, _ text: String) throws(CommandFailure) {
        var path = FilePath(text)
        // The first part that is there decides.
        while true {
            if let status = try status(path) {
                if status.isFolder { return }
                throw .usage(
                    "\(option) \(text): \(path) is \(status.kind) and cannot be or hold the "
                        + "folder; name another one, which is made where it is missing")
            }
            guard path.parent != path else { return }
            path = path.parent
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
