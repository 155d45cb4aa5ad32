package import DurableFiles

/// Why a store could not be read or made.
///
/// The original store is never changed by what throws this.
package enum StoreError: Error, Hashable, Sendable {
    /// The file is not a Core Data store, or is damaged; the text says what was found.
    case notAStore(path: String, reason: String)
    /// The store is whole but has something that is not supported; the text says what to do.
    case unsupported(path: String, reason: String)
    /// A file could not be read or written; the text gives SQLite's or the system's reason.
    case inputOutput(path: String, reason: String)
    /// Programs have the store open, which must be closed while its snapshot is made; the text
    /// names them.
    case inUse(path: String, users: String)
    /// A program wrote the store while it was read, each time that it was tried; the text names
    /// the store.
    case changed(String)
    /// The work was cancelled while it read or wrote the file; the text names it.
    case cancelled(String)
    /// The disk or the quota is full; the text gives SQLite's or the system's reason.
    case outOfSpace(path: String, reason: String)
    /// The layout of a model cannot be derived with certainty.
    case layoutUnknown(String)
    /// The source's own names differ from those that its model implies.
    case layoutDiffers(path: String, reason: String)
    /// The store holds no model and none was given.
    case modelMissing(path: String)
    /// The store is of another version than the model that was given for it; the text lists
    /// entities whose hashes differ.
    case modelDiffers(path: String, entities: String)
    /// Files of external data that the store refers to are not there.
    case externalDataMissing(path: String, count: Int)
}

extension StoreError {
    /// That a store changed while it was read, with the programs that have it open now.
    package static func written(_ path: FilePath) -> StoreError {
        .changed(path.description + FileUser.apposition(of: path))
    }

    /// Whether SQLite was refused memory (result codes, SQLITE_NOMEM and SQLITE_IOERR_NOMEM).
    package var isOutOfMemory: Bool {
        guard case .inputOutput(_, let reason) = self else { return false }
        return reason.hasPrefix("SQLite 7:") || reason.hasPrefix("SQLite 3082:")
    }

    /// The reason that SQLite or the system gave, where that is all there is to say.
    package var sqliteReason: String? {
        switch self {
        case .notAStore(_, let reason), .inputOutput(_, let reason),
            .outOfSpace(_, let reason):
            reason
        case .unsupported, .layoutUnknown, .layoutDiffers, .modelMissing, .modelDiffers,
            .externalDataMissing, .inUse, .changed, .cancelled:
            nil
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notAStore(let path, let reason):
            "\(path) is not a readable Core Data store: \(reason). Godwit did not change it. "
                + "Restore it from a backup, or exclude it"
        case .unsupported(let path, let reason):
            "\(path) is not supported: \(reason). The store was not changed"
        case .inputOutput(let path, let reason):
            "\(path): \(reason). The original store was not changed. Fix the cause, then run the "
                + "same command again"
        case .inUse(let path, let users):
            "\(path) is open in \(users). The store was not changed. Close it there, then replay "
                + "the run or run the same command again"
        case .changed(let text):
            "\(text) changed while Godwit read it. Godwit did not change the store. Run the same "
                + "command again when no program writes to the store"
        case .cancelled(let path):
            "the work on \(path) was cancelled. The store was not changed"
        case .outOfSpace(let path, let reason):
            "\(path): \(reason). The original store was not changed. Free space and run the same "
                + "command again"
        case .layoutUnknown(let reason):
            "the layout of the model cannot be derived: \(reason). Give a template store that the "
                + "app's new version made as the destination"
        case .layoutDiffers(let path, let reason):
            "\(path) differs from what its model implies: \(reason). The store was not changed; "
                + "give a template store that the app's new version made as the destination"
        case .modelMissing(let path):
            "\(path) holds no model: give the model that wrote it. The store was not changed"
        case .modelDiffers(let path, let entities):
            "\(path) is of another version than the source model given: the hashes of "
                + "\(entities) differ. Give the model that this store was written with. "
                + "The store was not changed"
        case .externalDataMissing(let path, let count):
            "\(count) external data \(count == 1 ? "file" : "files") of \(path) "
                + "\(count == 1 ? "is" : "are") missing. Restore its support folder, or allow "
                + "missing files to keep the references. The store was not changed"
        }
    }
}
