import Crypto
package import DurableFiles
import SafeSQLite

/// SHA-256 of bytes and files, in hexadecimal.
package enum ContentDigest {
    /// Of bytes in memory.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        text(SHA256.hash(data: bytes))
    }

    /// Of a file, read in pieces of 1 MiB.
    ///
    /// - Throws: `DurableFileError` when it cannot be read; `stopped` where the calling thread's
    ///   `StatementStop` is set.
    package static func hexadecimal(
        of path: FilePath, files: DurableFileSystem
    ) throws(DurableFileError) -> (digest: String, bytes: Int64) {
        let file = try files.openForReading(path)
        var hasher = SHA256()
        var offset: Int64 = 0
        let stop = StatementStop.current
        while true {
            if stop?.isSet == true { throw .stopped(path) }
            let piece = try file.read(count: 1 << 20, at: offset)
            guard !piece.isEmpty else { break }
            hasher.update(data: piece)
            offset += Int64(piece.count)
        }
        return (text(hasher.finalize()), offset)
    }

    private static func text(_ digest: SHA256.Digest) -> String {
        digest.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
    }
}
