internal import CLinux
internal import Glibc

/// Why a durable action on a file failed.
package enum DurableFileError: Error, Hashable, Sendable {
    /// A system call failed.
    case system(FileOperation, FilePath, number: Int32)
    /// Another owner holds the lock; the text is what it wrote about itself.
    case lockHeld(FilePath, holder: String)
    /// Programs of this machine have the file open; empty where they cannot be seen.
    case inUse(FilePath, by: [FileUser])
    /// Whether a program has the file open cannot be seen; the text says why.
    case clientsHidden(FilePath, reason: String)
    /// The path cannot be used: it leaves its root, or the system would not read it whole.
    case refusedPath(FilePath, reason: String)
    /// A folder in a user's folder is not worked in.
    case refusedFolder(FilePath, FolderFault)
    /// A regular file was needed; the text says what is there.
    case notRegularFile(FilePath, kind: String)
    /// The file changed while it was copied or read.
    case changedMeanwhile(FilePath)
    /// A file or folder is larger than the given limit.
    case overLimit(FilePath, limit: Int)
    /// The observer asked to stop.
    case stopped(FilePath)

    /// The system's error number, where a system call failed.
    package var number: Int32? {
        if case .system(_, _, let number) = self { number } else { nil }
    }

    /// The file concerned.
    package var path: FilePath {
        switch self {
        case .system(_, let path, _), .lockHeld(let path, _), .inUse(let path, _),
            .clientsHidden(let path, _), .refusedPath(let path, _), .refusedFolder(let path, _),
            .notRegularFile(let path, _), .changedMeanwhile(let path), .overLimit(let path, _),
            .stopped(let path):
            path
        }
    }

    /// Whether the disk or the quota is full: room may come, so a run can wait.
    package var isOutOfSpace: Bool { number == ENOSPC || number == EDQUOT }

    /// Whether this process, or the system, has as many files open as it may.
    package var isOutOfDescriptors: Bool { number == EMFILE || number == ENFILE }

    /// Whether a program has the file open, or another run has it: both may end soon.
    package var isInUse: Bool {
        switch self {
        case .inUse, .lockHeld: true
        default: false
        }
    }

    /// Whether the system was refused memory.
    package var isOutOfMemory: Bool { number == ENOMEM }

    /// Whether a sync failed.
    ///
    /// What was written before may be lost, and no later sync of the same file can tell: it must be
    /// made again.
    package var isFailedSync: Bool {
        guard case .system(let operation, _, _) = self else { return false }
        return [.sync, .syncFolder, .syncFileSystem].contains(operation)
    }

    /// Whether the file or a folder on the way to it does not exist, or cannot exist because its
    /// name is longer than the file system's names.
    package var isMissing: Bool { number == ENOENT || number == ENAMETOOLONG }

    /// Whether permission is missing.
    package var isDenied: Bool { number == EACCES || number == EPERM }

    /// The symbol of an error number, such as `ENOSPC`; `errno N` for an unknown one.
    package static func name(of number: Int32) -> String {
        guard let name = clinux_error_name(number) else { return "errno \(number)" }
        return String(cString: name)
    }
}

extension DurableFileError: CustomStringConvertible {
    /// What failed, on which file, and what to do next.
    package var description: String {
        switch self {
        case .system(let operation, let path, let number):
            "cannot \(operation.words) \(path): \(DurableFileError.name(of: number)) "
                + "(\(text(of: number))); \(hint)"
        case .lockHeld(let path, let holder):
            "\(path) is locked by \(holder); \(hint)"
        case .inUse(let path, let users):
            "\(path) is open in \(FileUser.words(users)); \(hint)"
        case .clientsHidden(let path, let reason):
            "Godwit cannot detect whether a program has \(path) open: \(reason); \(hint)"
        case .refusedPath(let path, let reason):
            "the path \(path) is refused: \(reason); \(hint)"
        case .refusedFolder(let path, let fault):
            "the folder \(path) is refused: \(fault.reason); \(hint)"
        case .notRegularFile(let path, let kind):
            "\(path) is \(kind), not a regular file; \(hint)"
        case .changedMeanwhile(let path):
            "\(path) changed while it was read; \(hint)"
        case .overLimit(let path, let limit):
            "\(path) is over the limit of \(limit); \(hint)"
        case .stopped(let path):
            "the work on \(path) was stopped; \(hint)"
        }
    }

    /// What the reader can do next.
    package var hint: String {
        switch self {
        case .system(let operation, _, let number):
            DurableFileError.hint(for: number, operation)
        case .lockHeld: "wait for that process to finish, or stop it. Its lock ends with it"
        case .inUse: "close it there, then try again"
        case .clientsHidden:
            "stop every program that uses it and confirm that, or write results to another folder"
        case .refusedPath: "name a path without symbolic links, below the root that it belongs to"
        case .refusedFolder(_, let fault): fault.hint
        case .notRegularFile: "move it away, or name the database file itself"
        case .changedMeanwhile: "stop the program that writes to it, then try again"
        case .overLimit: "check that this is the right file"
        case .stopped: "run the command again to resume"
        }
    }

    private static func hint(for number: Int32, _ operation: FileOperation) -> String {
        switch number {
        case ENOSPC, EDQUOT: "free space or inodes on its file system, then try again"
        case EACCES, EPERM: "give this user permission for the file and its folder"
        case ENOENT: "check that it exists and that its file system is mounted"
        case EEXIST, ENOTEMPTY: "it already exists: move it away or choose another name"
        case EROFS: "its file system is mounted read-only: choose another folder"
        case EIO:
            "the device failed and writes may be lost: check the disk before trying again"
        case ESTALE: "the network file system lost it: mount it again"
        case EMFILE, ENFILE: "raise the limit of open files (ulimit -n)"
        case EXDEV: "both names must be on one file system"
        case EFBIG: "the file is too large for the file system or the size limit"
        case ENAMETOOLONG: "shorten the name"
        case ELOOP: "its symbolic links form a loop: name the file directly"
        case EMLINK: "it has as many hard links as its file system allows"
        case EOPNOTSUPP, ENOSYS, EINVAL: "its file system cannot do this: use a local one"
        case ETXTBSY, EBUSY: "it is in use: stop the program that uses it, then try again"
        default: "check its file system"
        }
    }

    private func text(of number: Int32) -> String {
        guard let text = clinux_error_text(number) else { return "unknown error" }
        return String(cString: text)
    }
}

/// The result of a system call of CLinux, or the failure that its negated errno means.
@discardableResult
package func checked(
    _ result: Int64, _ operation: FileOperation, _ path: FilePath
) throws(DurableFileError) -> Int64 {
    guard result < 0 else { return result }
    throw .system(operation, path, number: Int32(truncatingIfNeeded: -result))
}

/// The result of a system call of CLinux, or the failure that its negated errno means.
@discardableResult
package func checked(
    _ result: Int32, _ operation: FileOperation, _ path: FilePath
) throws(DurableFileError) -> Int32 {
    guard result < 0 else { return result }
    throw .system(operation, path, number: -result)
}
