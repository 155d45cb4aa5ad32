internal import CLinux

/// The room on the file system that holds a path.
package struct FileSystemSpace: Hashable, Sendable {
    /// Tells file systems apart on this machine: paths of one number share their room.
    package let device: UInt64
    /// Bytes that this user may still write.
    package let freeBytes: Int64
    /// All bytes of the file system.
    package let totalBytes: Int64
    /// Files that may still be made; nil where the file system has no fixed number (btrfs).
    package let freeInodes: Int64?
    /// What statfs(2) calls the type.
    package let magic: UInt32

    /// Reads the room at a path, which must exist: for a new file ask for its folder.
    ///
    /// - Throws: `DurableFileError`.
    package init(at path: FilePath) throws(DurableFileError) {
        var status = clinux_file_system()
        let result = try path.withPointer { clinux_stat_file_system($0, &status) }
        try checked(result, .fileSystemStatus, path)
        device = try FileStatus(of: path).identity.device
        freeBytes = FileSystemSpace.product(status.block_bytes, status.available_blocks)
        totalBytes = FileSystemSpace.product(status.block_bytes, status.blocks)
        freeInodes = status.inodes == 0 ? nil : Int64(clamping: status.free_inodes)
        magic = status.type
    }

    /// Whether next to nothing can be made at a path: no inode is free, or fewer bytes than the
    /// smallest file that SQLite makes beside a database and fills at once (`-shm`, 32 KiB).
    ///
    /// For callers that were told no system error; false where the file system cannot be asked.
    package static func isExhausted(at path: FilePath) -> Bool {
        do throws(DurableFileError) {
            let space = try FileSystemSpace(at: path)
            return space.freeBytes < 65_536 || space.freeInodes == 0
        } catch {
            return false
        }
    }

    /// Whether other machines may change the files: no place for a ledger or a lock.
    ///
    /// FUSE counts, for what lies behind it is unknown (sshfs, s3fs), and so do cluster file
    /// systems.
    package var isNetworkFileSystem: Bool { FileSystemSpace.networkMagics[magic] != nil }

    /// The network file system's usual name, or nil for a local one.
    package var networkFileSystemName: String? { FileSystemSpace.networkMagics[magic] }

    /// Magic numbers of statfs(2) and of linux/magic.h.
    private static let networkMagics: [UInt32: String] = [
        0x6969: "NFS", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB2", 0x517B: "SMB",
        0x0102_1997: "9P", 0x6573_5546: "FUSE", 0x5346_414F: "AFS", 0x6B41_4653: "AFS",
        0x7375_7245: "Coda", 0x00C3_6400: "Ceph", 0x0BD0_0BD0: "Lustre", 0x0116_1970: "GFS2",
        0x7461_636F: "OCFS2", 0x564C: "NCP", 0x786F_4256: "vboxsf", 0xAAD7_AAEA: "PanFS",
        0x4750_4653: "GPFS", 0x1983_0326: "FhGFS",
    ]

    private static func product(_ bytes: UInt64, _ blocks: UInt64) -> Int64 {
        let (result, overflow) = bytes.multipliedReportingOverflow(by: blocks)
        return overflow ? .max : Int64(clamping: result)
    }
}
