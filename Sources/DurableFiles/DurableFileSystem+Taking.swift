internal import CLinux
internal import Glibc

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

extension FileStatus {
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
