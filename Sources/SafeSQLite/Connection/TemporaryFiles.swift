import CSQLite
package import DurableFiles

/// Where SQLite puts what it sorts outside memory.
///
/// Such files hold users' data and can be as large as a table. SQLite unlinks them at once, but
/// by default it makes them in `/var/tmp`, on whatever file system that is.
package enum TemporaryFiles {
    /// Sends them to a folder; the first call of a process decides.
    ///
    /// A folder that is gone later makes SQLite fall back to its defaults.
    ///
    /// - Parameter folder: of the run.
    package static func use(_ folder: FilePath) {
        _ = Connection.isConfigured
        var path = folder.bytes.map { CChar(bitPattern: $0) }
        path.append(0)
        // No memory for a path: the next allocation will say so.
        _ = godwit_sqlite_set_temporary_folder(path)
    }
}
