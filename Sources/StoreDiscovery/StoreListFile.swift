package import DurableFiles

/// A store list: a file that names stores and folders of stores.
package struct StoreListFile: Hashable, Sendable {
    /// Where one entry lies.
    package struct Entry: Hashable, Sendable {
        /// What the result's place is not told by: the list's folder, `/` for an absolute path,
        /// and what leads up from there.
        package let root: FilePath
        /// Below the root; the result of a store lies at this path below the output.
        package let relative: FilePath
    }

    /// In the order of the file.
    package let entries: [Entry]

    /// The most bytes that a list may have: a million long paths.
    package static let sizeLimit = 1 << 28

    /// Reads a list.
    ///
    /// - Throws: `DurableFileError` where it cannot be read or is larger than `sizeLimit`.
    package init(_ path: FilePath) throws(DurableFileError) {
        let files = DurableFileSystem(links: .followed)
        let bytes = try files.contents(of: path, limit: StoreListFile.sizeLimit)
        self.init(bytes: bytes, folder: path.folderAsGiven)
    }

    /// Reads the contents of a list.
    ///
    /// One path a line, any bytes but the line break. Blank lines and lines that begin with `#`
    /// are left out, and so is a carriage return at the end where every line has one. A list
    /// that holds a NUL has its paths ended by NULs instead (`find -print0`), each taken as it
    /// is, for names with line breaks. Patterns are not expanded.
    ///
    /// - Parameters:
    ///   - bytes: of the file.
    ///   - folder: that relative paths are relative to.
    package init(bytes: [UInt8], folder: FilePath) {
        entries = StoreListFile.paths(in: bytes).map { path in
            StoreListFile.entry(path, folder: folder)
        }
    }

    private static func paths(in bytes: [UInt8]) -> [ArraySlice<UInt8>] {
        if bytes.contains(0) { return bytes.split(separator: 0) }
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        let text = bytes.starts(with: mark) ? bytes.dropFirst(mark.count) : bytes[...]
        let lines = text.split(separator: UInt8(ascii: "\n"))
        let carriageReturn = UInt8(ascii: "\r")
        let isFromWindows = lines.allSatisfy { $0.last == carriageReturn }
        return lines.compactMap { line in
            let path = isFromWindows ? line.dropLast() : line
            let isBlank = path.allSatisfy { $0 == 0x20 || $0 == 0x09 || $0 == carriageReturn }
            return isBlank || path.first == UInt8(ascii: "#") ? nil : path
        }
    }

    /// Cuts a path after the last `..`: what follows can be put below another folder.
    private static func entry(_ path: ArraySlice<UInt8>, folder: FilePath) -> Entry {
        let path = FilePath(bytes: path)
        let names = path.components.filter { !$0.elementsEqual(".".utf8) }
        let cut = names.lastIndex { $0.elementsEqual("..".utf8) }.map { $0 + 1 } ?? 0
        let base = path.isAbsolute ? FilePath("/") : folder
        let root = names[..<cut].reduce(base) { $0.appending(FilePath(bytes: $1)) }
        return Entry(
            root: root,
            relative: names[cut...].reduce(FilePath("")) { $0.appending(FilePath(bytes: $1)) })
    }
}

extension FilePath {
    /// The folder of a file such that appending the name gives back the path: empty, not `.`,
    /// for a single name.
    package var folderAsGiven: FilePath {
        bytes.contains(UInt8(ascii: "/")) ? parent : FilePath("")
    }
}
