internal import CLinux
internal import Glibc

/// A time as the file system keeps it.
package struct FileTime: Hashable, Sendable, Codable {
    /// Since 1970; may be negative.
    package let seconds: Int64
    /// 0 to 999,999,999.
    package let nanoseconds: UInt32
}

extension FileTime: Comparable {
    package static func < (left: FileTime, right: FileTime) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// What makes a file this file in this state: two equal values mean that no process wrote between.
///
/// Hard links, renames and changes of mode move `changed` although the contents stay.
/// Device numbers differ between machines and may differ between mounts.
package struct FileIdentity: Hashable, Sendable, Codable {
    package let device: UInt64
    package let inode: UInt64
    /// In bytes.
    package let size: Int64
    /// When the contents were last written (mtime).
    package let modified: FileTime
    /// When contents, name or rights last changed (ctime).
    package let changed: FileTime
    /// When the file was made; nil where the file system does not tell, or an earlier version of
    /// this program recorded the file.
    ///
    /// A file that is made after another one was removed may get its number.
    package let birth: FileTime?

    /// Whether it is the same file, whatever was written to it since; for two looks of one
    /// process.
    package func isFile(_ other: FileIdentity) -> Bool {
        guard device == other.device, inode == other.inode else { return false }
        guard let birth, let otherBirth = other.birth, birth != otherBirth else { return true }
        // An overlay copies a file when it is first opened for writing: made then, and otherwise
        // equal.
        return size == other.size && modified == other.modified
    }

    /// Whether a file that was recorded is the one that is found, whatever was written to it
    /// since.
    ///
    /// Many file systems get another device number when they are mounted again, after a restart:
    /// then number and birth tell.
    package func isStill(_ found: FileIdentity) -> Bool {
        if isFile(found) { return true }
        guard let birth, device != found.device else { return false }
        return inode == found.inode && birth == found.birth
    }

    /// Whether a recorded file is the one that is found, with the same contents as far as
    /// statx(2) shows.
    ///
    /// When a name, a link or a right changed (ctime) does not count, for a swap changes those.
    package func isSame(_ found: FileIdentity) -> Bool {
        isStill(found) && size == found.size && modified == found.modified
    }
}

/// What statx(2) says of a file.
package struct FileStatus: Hashable, Sendable {
    package let identity: FileIdentity
    /// Type and permission bits as in `st_mode`.
    package let mode: UInt32
    package let owner: UInt32
    package let group: UInt32
    /// How many names the file has.
    package let links: UInt64
    /// Bytes that it takes on its file system: less than its size where it has holes.
    package let allocatedBytes: Int64

    /// In bytes.
    package var size: Int64 { identity.size }
    package var isRegularFile: Bool { mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { mode & S_IFMT == S_IFDIR }
    package var isSymbolicLink: Bool { mode & S_IFMT == S_IFLNK }
    /// The permission bits, with set-id and sticky bits.
    package var permissions: UInt32 { mode & 0o7777 }

    /// Whether it belongs to the user that this process acts as.
    package var isOurOwn: Bool { owner == geteuid() }

    /// The kind of file in words, with its article.
    package var kind: String {
        switch mode & S_IFMT {
        case S_IFREG: "a regular file"
        case S_IFDIR: "a folder"
        case S_IFLNK: "a symbolic link"
        case S_IFIFO: "a pipe"
        case S_IFSOCK: "a socket"
        case S_IFCHR, S_IFBLK: "a device"
        default: "a file of an unknown kind"
        }
    }

    init(_ status: clinux_status) {
        identity = FileIdentity(
            device: status.device, inode: status.inode, size: status.size,
            modified: FileTime(
                seconds: status.modified_seconds, nanoseconds: status.modified_nanoseconds),
            changed: FileTime(
                seconds: status.changed_seconds, nanoseconds: status.changed_nanoseconds),
            birth: status.has_birth
                ? FileTime(
                    seconds: status.birth_seconds, nanoseconds: status.birth_nanoseconds) : nil)
        mode = status.mode
        owner = status.owner
        group = status.group
        links = status.links
        allocatedBytes = status.allocated
    }

    /// The status of what a path leads to; the file is not opened.
    ///
    /// - Throws: `DurableFileError`; `isMissing` where nothing is there.
    package init(of path: FilePath) throws(DurableFileError) {
        var status = clinux_status()
        let result = try path.withPointer { clinux_stat($0, &status) }
        try checked(result, .status, path)
        self.init(status)
    }

    /// The status of a path whose last name may be a symbolic link, which is not followed.
    ///
    /// - Throws: `DurableFileError`; `isMissing` where nothing is there.
    package init(ofLink path: FilePath) throws(DurableFileError) {
        var status = clinux_status()
        let result = try path.withPointer { clinux_stat_link($0, &status) }
        try checked(result, .status, path)
        self.init(status)
    }

    /// Whether a path's last name is a symbolic link; false where nothing has the name.
    ///
    /// - Throws: `DurableFileError` for every failure but a missing file.
    package static func isLink(_ path: FilePath) throws(DurableFileError) -> Bool {
        do {
            return try FileStatus(ofLink: path).isSymbolicLink
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    /// The status of what a path leads to, or nil where nothing is there.
    ///
    /// - Throws: `DurableFileError` for every failure but a missing file.
    package static func ifPresent(_ path: FilePath) throws(DurableFileError) -> FileStatus? {
        do {
            return try FileStatus(of: path)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// The status of a path whose last name may be a link, which is not followed; nil where
    /// nothing is there.
    ///
    /// - Throws: `DurableFileError` for every failure but a missing file.
    package static func ifPresentLink(
        _ path: FilePath
    ) throws(DurableFileError) -> FileStatus? {
        do {
            return try FileStatus(ofLink: path)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }
}
