package import DurableFiles

/// A file in the folder of an attempt that says which policy has which object in hand.
///
/// A policy that traps, hangs or takes all memory ends its process, and nothing else could tell
/// afterwards where it was.
package final class PolicyNote {
    private let file: OpenFile
    private let path: FilePath
    private let files: DurableFileSystem

    private static let name: FilePath = "policy.note"
    /// The bytes of the file; longer notes are cut.
    private static let length = 512

    /// Makes the file, in place of one of an earlier try.
    ///
    /// - Throws: `DurableFileError` where it cannot be made.
    init(in folder: FilePath, files: DurableFileSystem) throws(DurableFileError) {
        path = folder.appending(Self.name)
        self.files = files
        if try FileStatus.ifPresentLink(path) != nil { try files.remove(path) }
        file = try files.create(path)
    }

    /// Notes what begins now: names and numbers, never a value of a row.
    func write(_ text: String) throws(DurableFileError) {
        var bytes = Array(text.utf8.prefix(Self.length))
        bytes += [UInt8](repeating: 0, count: Self.length - bytes.count)
        try file.write(bytes, at: 0)
    }

    /// Removes the file: no policy has anything in hand.
    func remove() throws(DurableFileError) { try files.remove(path) }

    /// What the note in the folder of an attempt says.
    ///
    /// - Returns: printable text; nil where there is no note.
    /// - Throws: `DurableFileError` where it cannot be read.
    package static func text(
        in folder: FilePath, files: DurableFileSystem
    ) throws(DurableFileError) -> String? {
        let path = folder.appending(name)
        guard try FileStatus.ifPresentLink(path) != nil else { return nil }
        let bytes = try files.contents(of: path, limit: length).prefix { $0 != 0 }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.isEmpty ? nil : String(text.map { $0.isNewline ? " " : $0 })
    }
}
