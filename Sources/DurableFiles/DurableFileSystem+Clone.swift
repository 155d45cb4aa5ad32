internal import CLinux
internal import Glibc

/// How a clone came by its bytes.
package enum CloneMethod: String, Hashable, Sendable, Codable {
    /// The two files share their blocks (XFS, btrfs): no bytes were moved.
    case reflink
    /// The kernel moved the bytes (copy_file_range).
    case copyRange
    /// This process read and wrote the bytes.
    case readWrite
}

/// What a clone did.
package struct CloneReceipt: Hashable, Sendable {
    package let method: CloneMethod
    /// The size of the clone in bytes.
    package let bytes: Int64
}

/// How far a clone has come.
package struct CloneProgress: Hashable, Sendable {
    /// Bytes of the file that are done, holes included.
    package let done: Int64
    /// The size of the file in bytes.
    package let total: Int64
}

/// Whether a clone goes on after a piece.
package enum CloneDecision: Hashable, Sendable {
    case goOn, stop
}

extension DurableFileSystem {
    /// Makes a durable copy of a regular file under a name that must not exist.
    ///
    /// Blocks are shared where the file system can (FICLONE), else the kernel copies, else this
    /// process does, in pieces of 8 MiB and with at most 1 MiB of memory. Holes stay holes. What
    /// is appended to the source after the start is not copied. For the hazard of opening a
    /// database that SQLite has open, see `OpenFile`.
    ///
    /// - Parameters:
    ///   - source: a regular file.
    ///   - destination: a name that is free.
    ///   - permissions: of the clone, exactly.
    ///   - observe: called after every piece; may stop the work.
    /// - Returns: how the bytes were copied, and how many there are.
    /// - Throws: `DurableFileError`, among them `changedMeanwhile` for a source that shrank and
    ///   `stopped`. After any failure the destination is removed, unless it was there before.
    /// - Complexity: O(1) for a reflink, else O(bytes that are not holes).
    package func clone(
        from source: FilePath, to destination: FilePath,
        permissions: UInt32 = DurableFileSystem.privateFile,
        observe: (CloneProgress) -> CloneDecision = { _ in .goOn }
    ) throws(DurableFileError) -> CloneReceipt {
        let input = try openForReading(source)
        let size = try input.status().size
        let output = try create(destination, permissions: permissions)
        do {
            let method = try fill(output, from: input, size: size, observe)
            try output.sync()
            try output.close()
            try syncFolder(destination.parent)
            return CloneReceipt(method: method, bytes: size)
        } catch {
            discard(destination)
            throw error
        }
    }

    /// Copies an open file into another, which is empty; nothing is synced.
    ///
    /// - Throws: `DurableFileError`, `changedMeanwhile` for a source that shrank.
    package func copyContents(
        of input: borrowing OpenFile, to output: borrowing OpenFile
    ) throws(DurableFileError) {
        let size = try input.status().size
        _ = try fill(output, from: input, size: size) { _ in .goOn }
    }

    /// Gives a file a second name, durably; the name must not exist.
    ///
    /// The file's status-change time moves on: a fingerprint taken before differs in it.
    ///
    /// - Throws: `DurableFileError` with EEXIST, EXDEV, EMLINK, or EPERM where the file system
    ///   has no hard links; the caller may clone instead.
    package func hardLink(
        from source: FilePath, to destination: FilePath
    ) throws(DurableFileError) {
        try linkWithoutSync(from: source, to: destination)
        try syncFolder(destination.parent)
    }

    /// Gives a file a second name; the folder is not synced.
    ///
    /// - Throws: as `hardLink`, and `notRegularFile` where the source is no file by then, such as a
    ///   symbolic link, which would get the second name itself.
    package func linkWithoutSync(
        from source: FilePath, to destination: FilePath
    ) throws(DurableFileError) {
        try faults.perform(.link, on: destination) { () throws(DurableFileError) in
            try betweenFolders(source, destination, .link, clinux_link_in)
        }
        do throws(DurableFileError) {
            let linked = try FileStatus(ofLink: destination)
            guard linked.isRegularFile else {
                throw .notRegularFile(source, kind: linked.kind)
            }
        } catch {
            discard(destination)
            throw error
        }
    }

    @discardableResult
    func fill(
        _ output: borrowing OpenFile, from input: borrowing OpenFile, size: Int64,
        _ observe: (CloneProgress) -> CloneDecision
    ) throws(DurableFileError) -> CloneMethod {
        if try reflink(output, from: input) {
            // The whole file is shared, even what was appended since its size was read.
            try output.setSize(size)
            if observe(CloneProgress(done: size, total: size)) == .stop {
                throw .stopped(output.path)
            }
            return .reflink
        }
        _ = clinux_advise_sequential(input.descriptor)
        // Sets the end first, so that a hole there stays one and a full quota shows early.
        try output.setSize(size)
        var copier = RangeCopier(faults: faults)
        var offset: Int64 = 0
        while offset < size {
            let piece = try nextData(of: input, from: offset, size: size)
            offset = piece.lowerBound
            while offset < piece.upperBound {
                let count = min(piece.upperBound - offset, RangeCopier.pieceBytes)
                try copier.copy(offset..<offset + count, from: input, to: output)
                offset += count
                if observe(CloneProgress(done: offset, total: size)) == .stop {
                    throw .stopped(output.path)
                }
            }
        }
        return copier.kernelCopies ? .copyRange : .readWrite
    }

    private func reflink(
        _ output: borrowing OpenFile, from input: borrowing OpenFile
    ) throws(DurableFileError) -> Bool {
        do {
            try faults.perform(.reflink, on: output.path) { () throws(DurableFileError) in
                _ = try checked(
                    clinux_reflink(output.descriptor, input.descriptor), .reflink, output.path)
            }
            return true
        } catch {
            // Every file system words its refusal differently; the copy will show real trouble.
            if error.isOutOfSpace || error.number == EIO { throw error }
            return false
        }
    }

    /// The next range that holds data; an empty one at the end where only a hole is left.
    private func nextData(
        of input: borrowing OpenFile, from offset: Int64, size: Int64
    ) throws(DurableFileError) -> Range<Int64> {
        let start = clinux_seek_data(input.descriptor, offset)
        if start == -Int64(ENXIO) {
            // Beyond the last data, or the file shrank, and then the rest is no hole.
            guard try input.status().size >= size else { throw .changedMeanwhile(input.path) }
            return size..<size
        }
        guard start >= offset else { return offset..<size }
        guard start < size else { return size..<size }
        let end = clinux_seek_hole(input.descriptor, start)
        return start..<(end > start ? min(end, size) : size)
    }
}

/// Copies ranges by the kernel until that fails once, then by reading and writing.
struct RangeCopier {
    /// A piece is this long at most, so that progress and cancellation come often enough.
    static let pieceBytes: Int64 = 8 << 20
    /// Reading and writing goes through a buffer of this size.
    static let bufferBytes = 1 << 20

    let faults: FaultPoints
    private(set) var kernelCopies = true

    init(faults: FaultPoints) { self.faults = faults }

    /// Copies one range to the same offsets.
    ///
    /// - Throws: `DurableFileError.changedMeanwhile` where the source ends before the range.
    mutating func copy(
        _ range: Range<Int64>, from input: borrowing OpenFile, to output: borrowing OpenFile
    ) throws(DurableFileError) {
        var offset = range.lowerBound
        while kernelCopies, offset < range.upperBound {
            guard let count = try copyInKernel(offset..<range.upperBound, input, output) else {
                kernelCopies = false
                break
            }
            offset += count
        }
        if offset < range.upperBound {
            try copyByHand(offset..<range.upperBound, from: input, to: output)
        }
    }

    /// The bytes copied, or nil where the kernel cannot copy between these two files.
    private func copyInKernel(
        _ range: Range<Int64>, _ input: borrowing OpenFile, _ output: borrowing OpenFile
    ) throws(DurableFileError) -> Int64? {
        do {
            let count = try faults.transfer(.copyRange, on: output.path, count: range.count) {
                wanted throws(DurableFileError) in
                let copied = try checked(
                    clinux_copy_range(
                        input.descriptor, range.lowerBound, output.descriptor,
                        range.lowerBound, wanted),
                    .copyRange, output.path)
                return Int(copied)
            }
            // Some file systems copy nothing and say so instead of failing; reading tells why.
            return count > 0 ? Int64(count) : nil
        } catch {
            switch error.number {
            case EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EPERM, ETXTBSY: return nil
            default: throw error
            }
        }
    }

    private func copyByHand(
        _ range: Range<Int64>, from input: borrowing OpenFile, to output: borrowing OpenFile
    ) throws(DurableFileError) {
        let length = min(RangeCopier.bufferBytes, range.count)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: length, alignment: 4096)
        defer { buffer.deallocate() }
        var offset = range.lowerBound
        while offset < range.upperBound {
            let wanted = Int(min(Int64(length), range.upperBound - offset))
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])
            guard try input.read(into: part, at: offset) == wanted else {
                throw .changedMeanwhile(input.path)
            }
            try output.write(UnsafeRawBufferPointer(part), at: offset)
            offset += Int64(wanted)
        }
    }
}

extension DurableFileSystem {
    /// Takes a regular file that another user made into a folder of our own, so that no other
    /// program has it open or knows another name of it.
    ///
    /// It is renamed, and then copied where it has another name, or is open elsewhere, for a reader
    /// may open it again for writing (proc(5), fd), or where the system cannot tell: a program that
    /// holds the old file writes that one from then on. The name is not durable before
    /// `syncFolder`; a copy is synced.
    ///
    /// - Parameters:
    ///   - name: of the file in its folder.
    ///   - folder: where it is, without symbolic links.
    ///   - target: the same name in a folder of our own on the same file system, without symbolic
    ///     links; a file that an earlier call put there is kept.
    ///   - limit: the most bytes that it may have.
    ///   - isStopped: asked while a copy is made; once it says so, the copy stops.
    /// - Throws: `DurableFileError`, `notRegularFile` for a link, a folder, a pipe or a device,
    ///   `overLimit`, `stopped`, and `changedMeanwhile` where its name was given to something
    ///   else.
    package func take(
        _ name: FilePath, from folder: FilePath, into target: FilePath, limit: Int64,
        isStopped: () -> Bool = { false }
    ) throws(DurableFileError) {
        let place = target.appending(name)
        let own = try openFolder(target, .open)
        if try FileStatus.ifPresentLink(place) == nil {
            let source = try openFolder(folder, .open)
            let file = try openPlain(name, in: source, folder.appending(name), limit)
            let found = try file.status()
            try faults.perform(.rename, on: place) { () throws(DurableFileError) in
                let result = try name.withPointer { text in
                    clinux_rename_in_no_replace(
                        source.descriptor, text, own.descriptor, text)
                }
                _ = try checked(result, .rename, place)
            }
            let moved = try FileStatus(ofLink: place).identity
            guard moved.isFile(found.identity) else {
                discard(place)
                throw .changedMeanwhile(folder.appending(name))
            }
        }
        let file = try openPlain(name, in: own, place, limit)
        let status = try file.status()
        guard status.links != 1 || isOpenElsewhere(file) else { return }
        let copied = place.adding(suffix: ".copy")
        if try FileStatus.ifPresentLink(copied) != nil { try unlink(copied) }
        try copy(file, status, to: copied, isStopped)
        try rename(copied, to: place, existing: .replace)
    }

    /// The names in a folder that is reached without a symbolic link.
    ///
    /// - Throws: `DurableFileError`, as `names(in:)`; `refusedPath` for a link.
    package func plainNames(in folder: FilePath) throws(DurableFileError) -> [FilePath] {
        try with(.refused).names(in: folder)
    }

    private func openPlain(
        _ name: FilePath, in folder: borrowing OpenFile, _ path: FilePath, _ limit: Int64
    ) throws(DurableFileError) -> OpenFile {
        let rules = clinux_resolve_beneath | clinux_resolve_no_symlinks
        let number = folder.descriptor
        let opened = try name.withPointer {
            clinux_open_beneath(number, $0, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, rules)
        }
        if opened == -ELOOP { throw .notRegularFile(path, kind: "a symbolic link") }
        let file = OpenFile(try checked(opened, .open, path), path, faults)
        let status = try file.status()
        guard status.isRegularFile else { throw .notRegularFile(path, kind: status.kind) }
        guard status.size <= limit else { throw .overLimit(path, limit: Int(limit)) }
        return file
    }

    /// Whether another program may have the file open; true also where that cannot be seen.
    private func isOpenElsewhere(_ file: borrowing OpenFile) -> Bool {
        guard clinux_lease(file.descriptor) == 0 else { return true }
        return clinux_lease_release(file.descriptor) != 0
    }

    private func copy(
        _ file: borrowing OpenFile, _ status: FileStatus, to place: FilePath,
        _ isStopped: () -> Bool
    ) throws(DurableFileError) {
        let output = try create(place)
        do throws(DurableFileError) {
            try fill(output, from: file, size: status.size) { _ in isStopped() ? .stop : .goOn }
            try output.sync()
            try output.close()
        } catch {
            discard(place)
            throw error
        }
    }
}
