internal import CLinux

/// The memory of this machine, or of the control group that this process runs in.
package enum SystemMemory {
    /// Bytes that this process may have at most.
    package static let limit = Int64(clamping: clinux_memory_limit())
    /// Bytes that SQLite may have for large values and buffers: the rest is for everything else.
    package static let sqliteLimit = max(limit / 2, 64 << 20)
}
