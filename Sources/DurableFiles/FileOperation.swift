/// One kind of step that this module asks the system for.
///
/// It names the failed step in `DurableFileError`, and those that change something are announced
/// to `FaultPoints`.
package enum FileOperation: String, Hashable, Sendable, Codable, CaseIterable {
    // Steps that look.
    case open, read, status, resolve, listFolder, fileSystemStatus, inspectLock, inspectRights

    // Steps that change; each is a fault point.
    case create, write, truncate, reflink, copyRange, setMode, setOwner, setAttribute
    case sync, syncFolder, syncFileSystem
    case rename, link, unlink, makeFolder, removeFolder
    case lock, unlock
    // What SQLite does to the ledger.
    case openLedger, commitLedger, checkpointLedger, closeLedger

    /// The step in words, as in "cannot … FILE".
    package var words: String {
        switch self {
        case .open: "open"
        case .read: "read"
        case .status: "read the status of"
        case .resolve: "resolve"
        case .listFolder: "list the folder"
        case .fileSystemStatus: "read the free space at"
        case .inspectLock: "find the holder of"
        case .inspectRights: "create files in"
        case .create: "create"
        case .write: "write"
        case .truncate: "set the size of"
        case .reflink: "share blocks with"
        case .copyRange: "copy into"
        case .setMode: "set the mode of"
        case .setOwner: "set the owner of"
        case .setAttribute: "set an extended attribute of"
        case .sync: "make durable (fsync)"
        case .syncFolder: "make durable (fsync) the folder"
        case .syncFileSystem: "make durable (syncfs) the file system of"
        case .rename: "rename to"
        case .link: "link to"
        case .unlink: "remove"
        case .makeFolder: "create the folder"
        case .removeFolder: "remove the folder"
        case .lock: "lock"
        case .unlock: "unlock"
        case .openLedger: "open the ledger"
        case .commitLedger: "commit to the ledger"
        case .checkpointLedger: "checkpoint the ledger"
        case .closeLedger: "close the ledger"
        }
    }
}
