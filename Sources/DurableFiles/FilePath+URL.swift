package import Foundation

extension FilePath {
    /// The path that a file URL names; nil where it has no path that the file system knows.
    package init?(_ url: URL) {
        guard url.isFileURL else { return nil }
        let bytes = url.withUnsafeFileSystemRepresentation { start -> [UInt8]? in
            guard let start else { return nil }
            return UnsafeBufferPointer(start: start, count: strlen(start)).map {
                UInt8(bitPattern: $0)
            }
        }
        guard let bytes else { return nil }
        self.init(bytes: bytes)
    }

    /// The path as a file URL; nil where the bytes are not UTF-8, which URLs cannot carry.
    package var url: URL? { string.map { URL(fileURLWithPath: $0) } }
}
