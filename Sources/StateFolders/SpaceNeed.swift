package import DurableFiles

/// Room on one file system: bytes, and files with their names.
package struct SpaceNeed: Hashable, Sendable {
    package var bytes: Int64
    package var inodes: Int64

    package init(bytes: Int64 = 0, inodes: Int64 = 0) {
        self.bytes = bytes
        self.inodes = inodes
    }

    /// Both together; sums that no disk could hold stay at the highest number.
    package static func + (one: SpaceNeed, other: SpaceNeed) -> SpaceNeed {
        SpaceNeed(
            bytes: one.bytes.addingClamped(other.bytes),
            inodes: one.inodes.addingClamped(other.inodes))
    }

    /// Adds to it.
    package static func += (one: inout SpaceNeed, other: SpaceNeed) { one = one + other }

    /// The greater number of bytes and the greater number of files.
    package func joined(with other: SpaceNeed) -> SpaceNeed {
        SpaceNeed(bytes: max(bytes, other.bytes), inodes: max(inodes, other.inodes))
    }

    /// What is left when a part of it is there already.
    package func without(_ part: SpaceNeed) -> SpaceNeed {
        SpaceNeed(bytes: max(0, bytes - part.bytes), inodes: max(0, inodes - part.inodes))
    }
}

/// A file system that has less room than a run needs.
package struct SpaceShortage: Hashable, Sendable {
    /// A folder on the file system.
    package let folder: String
    package let needed: SpaceNeed
    /// What this user may still write there.
    package let freeBytes: Int64
    /// Nil where the file system has no fixed number of files.
    package let freeInodes: Int64?
    /// What unfinished runs of the same state folder have laid claim to.
    package let reserved: SpaceNeed

    package init(
        folder: String, needed: SpaceNeed, freeBytes: Int64, freeInodes: Int64?,
        reserved: SpaceNeed
    ) {
        self.folder = folder
        self.needed = needed
        self.freeBytes = freeBytes
        self.freeInodes = freeInodes
        self.reserved = reserved
    }
}

extension SpaceShortage {
    /// Looks whether a file system has less room than is needed; nil where there is enough.
    ///
    /// - Parameters:
    ///   - need: room that a run takes.
    ///   - folder: on the file system.
    ///   - reserved: what other runs have laid claim to.
    /// - Throws: `DurableFileError` where the file system cannot be asked.
    package init?(
        of need: SpaceNeed, at folder: FilePath, reserved: SpaceNeed = SpaceNeed()
    ) throws(DurableFileError) {
        let space = try FileSystemSpace(at: folder)
        let lacksInodes = space.freeInodes.map { need.inodes > $0 - reserved.inodes } ?? false
        guard need.bytes > space.freeBytes - reserved.bytes || lacksInodes else { return nil }
        self.init(
            folder: folder.description, needed: need, freeBytes: space.freeBytes,
            freeInodes: space.freeInodes, reserved: reserved)
    }
}

extension SpaceShortage: CustomStringConvertible {
    package var description: String {
        var words: [String] = []
        if needed.bytes > freeBytes - reserved.bytes {
            words.append(
                "\(needed.bytes) bytes are needed and \(freeBytes) are free"
                    + Self.held(reserved.bytes, "bytes"))
        }
        if let freeInodes, needed.inodes > freeInodes - reserved.inodes {
            words.append(
                "\(needed.inodes) inodes are needed and \(freeInodes) are free"
                    + Self.held(reserved.inodes, "inodes"))
        }
        return "the file system of \(folder) has too little space: "
            + words.joined(separator: "; ")
    }

    private static func held(_ number: Int64, _ unit: String) -> String {
        number == 0 ? "" : ", of which other unfinished runs reserve \(number) \(unit)"
    }
}
