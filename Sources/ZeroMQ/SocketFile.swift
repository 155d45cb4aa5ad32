internal import CLinux
import Glibc
import Synchronization

/// The file of an `ipc` endpoint, which a user who may write it can connect to.
enum SocketFile {
    /// Bits that others lose while a socket is bound: the process has one umask for all threads.
    private static let mask = Mutex<mode_t>(0o077)

    /// The file of an endpoint; nil where it has none.
    static func path(of endpoint: String) -> String? {
        let scheme = "ipc://"
        // A name that begins with @ is abstract, and * has libzmq choose one.
        guard endpoint.hasPrefix(scheme) else { return nil }
        let path = endpoint.dropFirst(scheme.count)
        return path.first == "@" || path == "*" ? nil : String(path)
    }

    /// Runs what binds a socket so that no other program can connect to it at any moment.
    ///
    /// The umask holds for the moment in which the file is made; folders that other threads make
    /// meanwhile stay usable under it. The mode is set afterwards, whatever the umask was.
    /// Another user may own the folder, so that is done by descriptor, and only to our socket.
    ///
    /// libzmq replaces a file that is there. One at which another program listens is refused here,
    /// because that program would lose its clients without learning of it. A lock of the folder
    /// makes processes look and bind one at a time.
    ///
    /// - Throws: what the body throws, and `ZeroMQError.refused` where the mode cannot be set, or
    ///   the endpoint is in use.
    static func making(
        _ path: String, _ body: () throws(ZeroMQError) -> Void
    ) throws(ZeroMQError) {
        let folder = try lockFolder(of: path)
        defer { close(folder) }
        // libzmq would remove whatever is there.
        var status = stat()
        if lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK {
            throw .refused(.bind, subject: "ipc://\(path)", number: EEXIST)
        }
        guard !isServed(path) else {
            throw .refused(.bind, subject: "ipc://\(path)", number: EADDRINUSE)
        }
        let failure = mask.withLock { mask -> ZeroMQError? in
            let before = umask(mask)
            defer { umask(before) }
            do throws(ZeroMQError) {
                try body()
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
        let number = makePrivate(path, in: folder)
        if number != 0 { throw .refused(.bind, subject: "ipc://\(path)", number: number) }
    }

    /// Sets the mode of a socket's file, and of no other file that has taken its name since.
    ///
    /// - Returns: 0, or the number of the error.
    private static func makePrivate(_ path: String, in folder: Int32) -> Int32 {
        let name = path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
        let file = openat(folder, name, clinux_path_only | O_NOFOLLOW | O_CLOEXEC)
        guard file >= 0 else { return errno }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0 else { return errno }
        guard status.st_mode & S_IFMT == S_IFSOCK, status.st_uid == geteuid() else {
            return EACCES
        }
        // The mode of a socket cannot be set through a descriptor, but by that descriptor's name.
        return chmod("/proc/self/fd/\(file)", 0o600) == 0 ? 0 : errno
    }

    /// Attempts to lock the folder, 20 ms apart.
    private static let lockTries = 100

    /// Locks the folder of a socket's file until its descriptor is closed.
    private static func lockFolder(of path: String) throws(ZeroMQError) -> Int32 {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if descriptor < 0 {
            let number = errno
            throw .refused(.bind, subject: "ipc://\(path)", number: number)
        }
        var number: Int32 = 0
        // Any user who may list the folder can hold the lock: it is not waited for without end.
        for _ in 0..<Self.lockTries {
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return descriptor }
            number = errno
            // A file system without such locks has no other process to wait for.
            guard number == EWOULDBLOCK || number == EINTR else { return descriptor }
            clinux_sleep(20)
        }
        close(descriptor)
        throw .refused(.bind, subject: "ipc://\(path)", number: number)
    }

    /// Whether a program listens at a socket's file.
    private static func isServed(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // libzmq refuses a longer one.
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return false }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, size)
            }
        }
        // A full queue of connections belongs to a program, too.
        return result == 0 || errno == EAGAIN
    }
}
