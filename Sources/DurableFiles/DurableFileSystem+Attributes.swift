internal import CLinux
internal import Glibc

/// Something of a file that could not be carried over to another.
package struct LostAttribute: Hashable, Sendable {
    /// `owner`, or the name of an extended attribute.
    package let name: String
    /// The error number.
    package let number: Int32
}

extension DurableFileSystem {
    /// The most bytes that names or one value of extended attributes may have (Linux's limit).
    private static let attributeLimit = 65_536

    /// Gives one file the owner, mode, access control list and extended attributes of another, and
    /// removes any others.
    ///
    /// The list is among the extended attributes (`system.posix_acl_access`). The destination
    /// is synced.
    ///
    /// - Returns: what this process has no right to set, or what the destination's file system
    ///   cannot hold; the report should name it.
    /// - Throws: `DurableFileError` for every other failure.
    package func copyAttributes(
        from source: FilePath, to destination: FilePath
    ) throws(DurableFileError) -> [LostAttribute] {
        let input = try openForReading(source)
        // Rights count, not the descriptor: a file that may not be written can be synced, too.
        let output = try openForReading(destination)
        let lost = try copyAttributes(from: input, to: output)
        try output.sync()
        try output.close()
        return lost
    }

    /// Gives an open file the owner, mode, access control list and extended attributes of another;
    /// nothing is synced.
    ///
    /// Everything is changed through the descriptor, so that a name that changes hands meanwhile
    /// counts for nothing.
    ///
    /// - Returns: as the other `copyAttributes`.
    /// - Throws: as the other.
    package func copyAttributes(
        from input: borrowing OpenFile, to output: borrowing OpenFile
    ) throws(DurableFileError) -> [LostAttribute] {
        let status = try input.status()
        var lost: [LostAttribute] = []
        let present = try output.status()
        if present.owner != status.owner || present.group != status.group {
            let failure = try setOwner(status, of: output)
            if let failure { lost.append(LostAttribute(name: "owner", number: failure)) }
        }
        let names = try attributeNames(of: input)
        // A folder's default access control list, or another program, may have given some already.
        for name in try attributeNames(of: output)
        where Self.followsTheFile(name) && !names.contains(name) {
            let failure = try removeAttribute(name, of: output)
            if let failure { lost.append(LostAttribute(name: name, number: failure)) }
        }
        for name in names {
            let failure = try copyAttribute(name, from: input, to: output)
            if let failure { lost.append(LostAttribute(name: name, number: failure)) }
        }
        // Last, for a change of owner clears bits. Set-id bits mean nothing on a data file.
        try output.setPermissions(status.permissions & 0o777)
        return lost
    }

    /// Whether an attribute says who may use a file or what its owner keeps with it, and is not the
    /// system's own, as a security label is.
    private static func followsTheFile(_ name: String) -> Bool {
        name == "system.posix_acl_access" || name.hasPrefix("user.")
    }

    /// - Returns: the error number of a failure that is tolerated.
    private func removeAttribute(
        _ name: String, of output: borrowing OpenFile
    ) throws(DurableFileError) -> Int32? {
        let (target, path) = (output.descriptor, output.path)
        let failure = try attempt(.setAttribute, on: path) { clinux_remove_attribute(target, name) }
        return failure == ENODATA ? nil : failure
    }

    /// The names of a file's extended attributes, sorted.
    package func attributeNames(
        of file: borrowing OpenFile
    ) throws(DurableFileError) -> [String] {
        var buffer = [CChar](repeating: 0, count: DurableFileSystem.attributeLimit)
        let length = clinux_list_attributes(file.descriptor, &buffer, buffer.count)
        if length == -Int64(EOPNOTSUPP) { return [] }
        let count = Int(try checked(length, .status, file.path))
        return buffer[..<count].split(separator: 0).map { name in
            String(decoding: name.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }.sorted()
    }

    /// - Returns: the error number of a failure that is tolerated.
    private func copyAttribute(
        _ name: String, from input: borrowing OpenFile, to output: borrowing OpenFile
    ) throws(DurableFileError) -> Int32? {
        let (source, target) = (input.descriptor, output.descriptor)
        let (sourcePath, targetPath) = (input.path, output.path)
        var value = [UInt8](repeating: 0, count: DurableFileSystem.attributeLimit)
        let length: Int64
        do throws(DurableFileError) {
            length = try checked(
                clinux_get_attribute(source, name, &value, value.count), .status, sourcePath)
        } catch {
            return try tolerated(error)
        }
        // Done again after a crash, when the file may be read-only already.
        var present = [UInt8](repeating: 0, count: DurableFileSystem.attributeLimit)
        let presentLength = clinux_get_attribute(target, name, &present, present.count)
        if presentLength == length, present[..<Int(length)] == value[..<Int(length)] { return nil }
        return try attempt(.setAttribute, on: targetPath) {
            clinux_set_attribute(target, name, value, Int(length))
        }
    }

    /// - Returns: the error number of a failure that is tolerated.
    private func setOwner(
        _ status: FileStatus, of output: borrowing OpenFile
    ) throws(DurableFileError) -> Int32? {
        let (target, path) = (output.descriptor, output.path)
        return try attempt(.setOwner, on: path) {
            clinux_set_owner(target, status.owner, status.group)
        }
    }

    /// Performs a change whose refusal is reported and stops nothing.
    ///
    /// - Returns: the error number of a failure that is tolerated.
    private func attempt(
        _ operation: FileOperation, on path: FilePath, _ call: () -> Int32
    ) throws(DurableFileError) -> Int32? {
        do throws(DurableFileError) {
            try faults.perform(operation, on: path) { () throws(DurableFileError) in
                _ = try checked(call(), operation, path)
            }
            return nil
        } catch {
            return try tolerated(error)
        }
    }

    /// The number of a failure that means "not allowed" or "not supported here".
    ///
    /// - Throws: every other failure.
    private func tolerated(_ error: DurableFileError) throws(DurableFileError) -> Int32? {
        switch error.number {
        case EPERM, EACCES, EOPNOTSUPP, ENODATA, EINVAL: return error.number
        default: throw error
        }
    }
}
