import CSQLite
import DurableFiles
import Glibc

extension Connection {
    /// Refuses a connection whose file's name was a symbolic link.
    ///
    /// SQLite follows such a link. A file that we write may lie in a user's folder, and the user
    /// may have put a link to another store in its place. Nothing has been written yet. The file
    /// itself SQLite opens without following links, so the name that it tells is the file's.
    ///
    /// - Parameters:
    ///   - handle: just opened.
    ///   - file: the path that was to be opened; its folder may be a link.
    ///   - path: how errors name it.
    /// - Throws: `StoreError.inputOutput`, or `DurableFileError` where the folder is gone.
    static func refuseLink(
        _ handle: OpaquePointer, to file: FilePath, named path: String
    ) throws {
        guard let name = sqlite3_db_filename(handle, "main") else { return }
        let length = strlen(name)
        guard length > 0 else { return }
        let bytes = UnsafeBufferPointer(start: name, count: length)
        let opened = FilePath(bytes: bytes.map { UInt8(bitPattern: $0) })
        let folder = try DurableFileSystem(links: .followed).resolve(file.parent)
        guard opened == folder.appending(file.lastComponent) else {
            throw StoreError.inputOutput(
                path: path,
                reason: "its name is a symbolic link, which is not followed where files are written"
            )
        }
    }
}
