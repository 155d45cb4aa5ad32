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
    ///
    /// - Throws: what the body throws, and `ZeroMQError.refused` where the mode cannot be set.
    static func making(
        _ path: String, _ body: () throws(ZeroMQError) -> Void
    ) throws(ZeroMQError) {
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
        guard chmod(path, 0o600) == 0 else {
            throw .refused(.bind, subject: "ipc://\(path)", number: errno)
        }
    }
}
