internal import CLinux
internal import Glibc

/// What is done about symbolic links in paths.
package enum LinkPolicy: Hashable, Sendable {
    /// They are followed: paths of the process's own user.
    case followed
    /// A path that holds one is refused, in the middle and at the end: paths that were resolved
    /// below a folder in which others may make links meanwhile.
    case refused

    /// open(2) under the policy; the system resolves the path in one step, so that no link can be
    /// put there between a check and the use.
    ///
    /// - Returns: the descriptor, or the negated errno.
    func open(_ path: UnsafePointer<CChar>, _ how: Int32, _ mode: UInt32 = 0) -> Int32 {
        switch self {
        case .followed: clinux_open(path, how, mode)
        case .refused:
            clinux_open_beneath(AT_FDCWD, path, how, mode, clinux_resolve_no_symlinks)
        }
    }

    /// The result of `open`, or the failure that it means.
    func checked(
        _ result: Int32, _ operation: FileOperation, _ path: FilePath
    ) throws(DurableFileError) -> Int32 {
        if self == .refused, result == -ELOOP {
            throw .refusedPath(
                path,
                reason: "the path contains a symbolic link, which Godwit does not follow here")
        }
        return try DurableFiles.checked(result, operation, path)
    }
}
