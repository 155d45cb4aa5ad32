/// Why a folder in a user's folder is not worked in.
package enum FolderFault: Hashable, Sendable {
    /// It is a symbolic link, or one stands in its path.
    case symbolicLink
    /// It lies on another file system, or is a mount point, so that nothing can be linked or
    /// renamed into it.
    case otherFileSystem
    /// It belongs to another user than the store; both by their numbers.
    case otherOwner(UInt32, store: UInt32)

    /// What is wrong, as in "the folder … is refused: …".
    var reason: String {
        switch self {
        case .symbolicLink: "it is a symbolic link, or its path leads through one"
        case .otherFileSystem: "it is on another file system than its parent folder"
        case .otherOwner(let owner, let store):
            "it belongs to user \(owner), and its store to user \(store)"
        }
    }

    /// What the reader can do next.
    var hint: String {
        switch self {
        case .symbolicLink: "put the folder itself in the place of the link, then try again"
        case .otherFileSystem:
            "move it to the file system of its store, or write results to another folder"
        case .otherOwner: "give both the same owner (chown), or write results to another folder"
        }
    }
}
