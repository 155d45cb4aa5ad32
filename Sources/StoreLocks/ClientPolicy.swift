internal import CLinux
package import DurableFiles

internal import Glibc

/// How a lock treats other programs that have a database open.
package struct ClientPolicy: Hashable, Sendable {
    /// How long to wait for them to close it, in milliseconds.
    package var patience: Int64
    /// Whether to work where open files cannot be seen.
    package var assumesClosed: Bool

    /// Long enough for a program that opens a store, reads and closes it; a program that keeps
    /// its stores open does not close them in a minute either.
    package static let usualPatience: Int64 = 2000

    package init(patience: Int64 = ClientPolicy.usualPatience, assumesClosed: Bool = false) {
        self.patience = patience
        self.assumesClosed = assumesClosed
    }
}

/// Whether godwit can see that programs of this machine have a file open.
package enum ClientVisibility: Hashable, Sendable {
    case visible
    /// A program has it open for writing now.
    case open
    /// The text says why, as in "open clients cannot be seen: …".
    case hidden(String)

    /// Asks the file system of a file for a read lease, and gives it back at once.
    ///
    /// - Throws: `DurableFileError` where the file cannot be opened for reading.
    package init(of file: FilePath) throws(DurableFileError) {
        if let name = try FileSystemSpace(at: file).networkFileSystemName {
            self = .hidden("it lies on a network file system (\(name))")
            return
        }
        let open: OpenFile
        do {
            open = try DurableFileSystem().openForReading(file)
        } catch {
            // Another run holds a lease on it, so there are leases.
            guard error.number == EWOULDBLOCK else { throw error }
            self = .visible
            return
        }
        let result = clinux_lease_probe(open.descriptor)
        self = ClientVisibility(leaseResult: result) ?? (result == -EAGAIN ? .open : .visible)
    }

    /// What a failed lease says of the file system; nil where it says nothing.
    init?(leaseResult: Int32) {
        switch -leaseResult {
        case 0, EAGAIN: return nil
        case EACCES, EPERM:
            self = .hidden(
                "it belongs to another user, and this process does not have CAP_LEASE")
        case let number:
            self = .hidden(
                "its file system does not support leases (\(DurableFileError.name(of: number)))")
        }
    }
}
