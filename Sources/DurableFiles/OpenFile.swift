internal import CLinux
internal import Glibc
internal import Synchronization

/// An open file, owned by exactly one holder.
///
/// Closing can report a failed write (network file systems), hence `close()`; a value that goes
/// out of scope unclosed, as on the way out of an error, is closed silently.
///
/// POSIX locks belong to the process: closing *any* descriptor of a database drops the locks
/// that SQLite holds on it in this process. Open no store here that this process has open in
/// SQLite, but for a connection that takes no locks (`immutable=1`).
package struct OpenFile: ~Copyable, Sendable {
    private let name: FilePath
    private var number: Int32
    /// Where tests let actions fail.
    package let faults: FaultPoints
    /// Whether a sync has failed: what was written before it may be lost.
    private let isLost = Atomic<Bool>(false)

    /// Takes over an open descriptor, which is closed with the value.
    package init(_ number: Int32, _ path: FilePath, _ faults: FaultPoints) {
        self.number = number
        name = path
        self.faults = faults
    }

    /// The path that the file was opened by.
    ///
    /// It may be kept longer than the file. Swift 6.3's optimizer takes what is read from a stored
    /// property of a value that cannot be copied for borrowed, also where that value is consumed
    /// before the last use: `publish` renamed by a path that was freed. A call that is not inlined
    /// gives a path of its own.
    package var path: FilePath {
        @inline(never) get { name }
    }

    /// Whether this process, or the system, has as many files open as it may: for callers that got
    /// no system error.
    package static var isOutOfDescriptors: Bool {
        let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 { return clinux_close(descriptor) != 0 }
        return errno == EMFILE || errno == ENFILE
    }

    deinit {
        if number >= 0 { _ = clinux_close(number) }
    }

    /// The descriptor; valid while this value lives.
    package var descriptor: Int32 { number }

    /// Hands the descriptor to another owner, who closes it.
    package consuming func takeDescriptor() -> Int32 {
        let taken = number
        number = -1
        return taken
    }

    /// Closes the file.
    ///
    /// - Throws: `DurableFileError` where earlier writes turn out to have failed.
    package consuming func close() throws(DurableFileError) {
        let closing = number
        number = -1
        try checked(clinux_close(closing), .write, path)
    }

    /// What stat(2) says of the open file.
    package func status() throws(DurableFileError) -> FileStatus {
        var status = clinux_status()
        try checked(clinux_stat_open(number, &status), .status, path)
        return FileStatus(status)
    }

    /// Reads into the buffer until it is full or the file ends; returns the bytes read.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, at offset: Int64
    ) throws(DurableFileError) -> Int {
        var filled = 0
        while filled < buffer.count, let start = buffer.baseAddress {
            // A file may be as long as an offset can be; no read may reach beyond that.
            let place = offset + Int64(filled)
            let wanted = min(buffer.count - filled, Int(Int64.max - place))
            guard wanted > 0 else { break }
            let count = try checked(
                clinux_read_at(number, start + filled, wanted, place), .read, path)
            if count == 0 { break }
            filled += Int(count)
        }
        return filled
    }

    /// Up to `count` bytes from an offset; fewer where the file ends earlier.
    package func read(count: Int, at offset: Int64) throws(DurableFileError) -> [UInt8] {
        var failure: DurableFileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(DurableFileError) {
                initialized = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Whether another file holds the same bytes.
    ///
    /// - Parameters:
    ///   - other: the other file.
    ///   - start: the offset of the first byte that counts.
    /// - Returns: whether both end at one place and are equal up to it.
    /// - Throws: `DurableFileError`.
    /// - Complexity: reads both as far as they are the same, but no holes.
    package func hasSameContents(
        as other: borrowing OpenFile, from start: Int64 = 0
    ) throws(DurableFileError) -> Bool {
        var offset = start
        while true {
            // Where both have a hole, there is nothing to read, however long it is.
            offset = try min(nextData(from: offset), other.nextData(from: offset))
            let one = try read(count: 1 << 18, at: offset)
            guard try one == other.read(count: 1 << 18, at: offset) else { return false }
            if one.isEmpty { return true }
            offset += Int64(one.count)
        }
    }

    /// Where data begin at an offset or behind it, with holes before; the file's size where none
    /// do, and the offset itself where the file system does not tell.
    ///
    /// - Throws: `DurableFileError`.
    package func nextData(from offset: Int64) throws(DurableFileError) -> Int64 {
        let start = clinux_seek_data(descriptor, offset)
        if start == -Int64(ENXIO) { return max(offset, try status().size) }
        return max(offset, start)
    }

    /// Writes all bytes at the file's position, which moves on.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(DurableFileError) {
        var written = 0
        while written < bytes.count, let start = bytes.baseAddress {
            written += try moved(bytes.count - written) { count in
                clinux_write(number, start + written, count)
            }
        }
    }

    /// Writes all bytes at the file's position, which moves on.
    package func write(_ bytes: [UInt8]) throws(DurableFileError) {
        var failure: DurableFileError?
        bytes.withUnsafeBytes { buffer in
            do throws(DurableFileError) { try write(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Writes all bytes at an offset; the file's position stays.
    package func write(
        _ bytes: UnsafeRawBufferPointer, at offset: Int64
    ) throws(DurableFileError) {
        var written = 0
        while written < bytes.count, let start = bytes.baseAddress {
            written += try moved(bytes.count - written) { count in
                clinux_write_at(number, start + written, count, offset + Int64(written))
            }
        }
    }

    /// Writes all bytes at an offset; the file's position stays.
    package func write(_ bytes: [UInt8], at offset: Int64) throws(DurableFileError) {
        var failure: DurableFileError?
        bytes.withUnsafeBytes { buffer in
            do throws(DurableFileError) {
                try write(buffer, at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
    }

    /// One call that writes; it may write less than it was asked to.
    private func moved(
        _ count: Int, _ call: (Int) -> Int64
    ) throws(DurableFileError) -> Int {
        try faults.transfer(.write, on: path, count: count) { wanted throws(DurableFileError) in
            let written = try checked(call(wanted), .write, path)
            // Linux never writes nothing without a reason; trying again might never end.
            guard written > 0 else { throw .system(.write, path, number: EIO) }
            return Int(written)
        }
    }

    /// Cuts the file or extends it with a hole; the size is in bytes.
    package func setSize(_ size: Int64) throws(DurableFileError) {
        try faults.perform(.truncate, on: path) { () throws(DurableFileError) in
            _ = try checked(clinux_truncate(number, size), .truncate, path)
        }
    }

    /// Sets the permission bits exactly, whatever the process's umask.
    package func setPermissions(_ bits: UInt32) throws(DurableFileError) {
        try faults.perform(.setMode, on: path) { () throws(DurableFileError) in
            _ = try checked(clinux_set_mode(number, bits), .setMode, path)
        }
    }

    /// Makes contents and status durable.
    ///
    /// A failed sync is final: Linux reports a lost write once and then forgets it, so calling
    /// again would succeed without the data being there. A second call fails with EIO.
    package func sync() throws(DurableFileError) {
        if isLost.load(ordering: .relaxed) { throw .system(.sync, path, number: EIO) }
        do {
            try faults.perform(.sync, on: path) { () throws(DurableFileError) in
                _ = try checked(clinux_sync(number), .sync, path)
            }
        } catch {
            isLost.store(true, ordering: .relaxed)
            throw error
        }
    }
}
