/// The path of a file as the bytes that Linux knows it by.
///
/// A name on Linux is any sequence of bytes without NUL and `/`; it need not be UTF-8. A path
/// is therefore kept as bytes and turned into text only for people (`description`) and for
/// interfaces that take nothing else (`string`). A path that holds a NUL can be made, but every
/// use of it is refused with `DurableFileError.refusedPath`.
package struct FilePath: Hashable, Sendable {
    /// The bytes without a terminator.
    package let bytes: [UInt8]

    /// Takes the bytes as they are.
    package init(bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// Takes the text's UTF-8 bytes as they are.
    package init(_ text: String) { bytes = Array(text.utf8) }

    /// The path as text, or nil where the bytes are not UTF-8.
    ///
    /// - Complexity: O(bytes).
    package var string: String? { String(validating: bytes, as: UTF8.self) }

    /// Whether the path starts at the root of the file system.
    package var isAbsolute: Bool { bytes.first == FilePath.slash }

    /// The names between the slashes; empty ones are left out.
    package var components: [ArraySlice<UInt8>] {
        bytes.split(separator: FilePath.slash, omittingEmptySubsequences: true)
    }

    /// The last name; empty for `/` and for an empty path.
    package var lastComponent: FilePath { FilePath(bytes: components.last ?? []) }

    /// The folder that holds the path's last name: `.` for a single name, `/` for `/`.
    package var parent: FilePath {
        var kept = bytes[...]
        while kept.count > 1, kept.last == FilePath.slash { kept.removeLast() }
        guard let cut = kept.lastIndex(of: FilePath.slash) else { return FilePath(".") }
        kept = kept[..<cut]
        while kept.count > 1, kept.last == FilePath.slash { kept.removeLast() }
        return kept.isEmpty ? FilePath("/") : FilePath(bytes: kept)
    }

    /// The path of something below this folder.
    ///
    /// An empty relative path gives the folder itself; an empty folder gives the relative path.
    package func appending(_ relative: FilePath) -> FilePath {
        guard !relative.bytes.isEmpty else { return self }
        guard let last = bytes.last else { return relative }
        let separator = last == FilePath.slash ? [] : [FilePath.slash]
        return FilePath(bytes: bytes + separator + relative.bytes)
    }

    /// The path of something below this folder.
    package func appending(_ relative: String) -> FilePath { appending(FilePath(relative)) }

    /// The path with a suffix at its last name, as `-wal` of a database.
    package func adding(suffix: String) -> FilePath { FilePath(bytes: bytes + suffix.utf8) }

    /// Whether the path is the folder or lies below it, judged by the bytes alone.
    package func isInside(_ folder: FilePath) -> Bool {
        if bytes == folder.bytes { return true }
        let base = folder.bytes.last == FilePath.slash ? folder.bytes : folder.bytes + [0x2F]
        return bytes.starts(with: base)
    }

    /// Hands the terminated path to a system call.
    ///
    /// - Throws: `DurableFileError.refusedPath` for an empty path and for one with a NUL, which
    ///   the system would silently cut.
    func withPointer<Result>(
        _ body: (UnsafePointer<CChar>) throws(DurableFileError) -> Result
    ) throws(DurableFileError) -> Result {
        if bytes.isEmpty { throw .refusedPath(self, reason: "it is empty") }
        if bytes.contains(0) { throw .refusedPath(self, reason: "it holds a NUL byte") }
        let terminated = bytes.map { CChar(bitPattern: $0) } + [0]
        return try terminated.withUnsafeBufferPointer { buffer throws(DurableFileError) in
            guard let start = buffer.baseAddress else { preconditionFailure("never empty") }
            return try body(start)
        }
    }

    static let slash = UInt8(ascii: "/")
}

extension FilePath: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text) }
}

extension FilePath: Comparable {
    package static func < (left: FilePath, right: FilePath) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
