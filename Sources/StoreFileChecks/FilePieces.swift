package import DurableFiles
package import SafeSQLite

/// Reads files piece by piece.
package enum FilePieces {
    /// Bytes of a piece.
    private static let size = 1 << 18

    /// Hands the pieces of a file to a body.
    ///
    /// - Returns: whether the file is there.
    /// - Throws: `StoreError.inputOutput` for a file that cannot be read.
    package static func ifPresent(
        _ path: FilePath, each body: (UnsafeRawBufferPointer) -> Void
    ) throws(StoreError) -> Bool {
        do {
            guard try FileStatus.ifPresent(path) != nil else { return false }
            let file = try DurableFileSystem().openForReading(path)
            var offset: Int64 = 0
            while true {
                let piece = try file.read(count: size, at: offset)
                if piece.isEmpty { return true }
                piece.withUnsafeBytes(body)
                offset += Int64(piece.count)
            }
        } catch {
            throw .inputOutput(path: path.description, reason: "\(error)")
        }
    }
}
