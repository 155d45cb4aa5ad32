internal import CLinux
internal import Glibc

/// The symbolic links on the way along a path, in the order in which the system follows them.
package enum LinkWalk {
    /// The most links that one path may hold, as the system has it (path_resolution(7)).
    private static let limit = 40

    /// The first link on a path, the last name included, that neither this user nor root has made.
    ///
    /// A folder's owner could lead another user's command anywhere by such a link.
    ///
    /// - Parameter path: what exists of it is looked at.
    /// - Returns: the link; nil where every link may be followed.
    /// - Throws: `DurableFileError` where a link cannot be read, and with ELOOP for too many.
    package static func foreignLink(on path: FilePath) throws(DurableFileError) -> FilePath? {
        var waiting = Array(path.components.reversed())
        var current = FilePath(path.bytes.first == UInt8(ascii: "/") ? "/" : ".")
        var links = 0
        while let name = waiting.popLast() {
            let next = current.appending(FilePath(bytes: name))
            guard let status = try FileStatus.ifPresentLink(next) else { return nil }
            guard status.isSymbolicLink else {
                current = next
                continue
            }
            guard status.owner == 0 || status.isOurOwn else { return next }
            links += 1
            guard links <= limit else {
                throw .system(.resolve, path, number: ELOOP)
            }
            let target = try read(next)
            if target.bytes.first == UInt8(ascii: "/") { current = "/" }
            waiting += target.components.reversed()
        }
        return nil
    }

    private static func read(_ link: FilePath) throws(DurableFileError) -> FilePath {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = try link.withPointer { clinux_read_link($0, &buffer, buffer.count) }
        let count = try checked(length, .resolve, link)
        return FilePath(bytes: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) })
    }
}
