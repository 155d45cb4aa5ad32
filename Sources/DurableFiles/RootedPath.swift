internal import CLinux
internal import Glibc

/// The place of a file as jobs name it: a root that both sides know, and a path below it.
///
/// The path is in one normal form (no empty name, no `.`, no `..`, not absolute), so that equal
/// places are equal values. Decoding checks the same, for the value may come from a peer.
package struct RootedPath: Hashable, Sendable {
    /// The name of the root, such as `stores`.
    package let root: String
    /// Below the root's folder; an empty path is the folder itself.
    package let path: FilePath

    /// The longest path in bytes, Linux's PATH_MAX less the terminator.
    package static let pathLimit = 4095
    /// The longest single name in bytes, Linux's NAME_MAX.
    package static let nameLimit = 255

    /// Checks the name of the root and the path.
    ///
    /// - Throws: `DurableFileError.refusedPath` with the rule that is broken.
    package init(root: String, path: FilePath) throws(DurableFileError) {
        let rootBytes = Array(root.utf8)
        guard !rootBytes.isEmpty, rootBytes.count <= RootedPath.nameLimit,
            rootBytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F && $0 != FilePath.slash })
        else {
            throw .refusedPath(
                path, reason: "its root has no usable name (1 to 255 bytes, no blank, no slash)")
        }
        try RootedPath.check(path)
        self.root = root
        self.path = path
    }

    private static func check(_ path: FilePath) throws(DurableFileError) {
        if path.bytes.isEmpty { return }
        guard path.bytes.count <= pathLimit else {
            throw .refusedPath(path, reason: "it is longer than \(pathLimit) bytes")
        }
        if path.isAbsolute { throw .refusedPath(path, reason: "it is absolute") }
        if path.bytes.contains(0) { throw .refusedPath(path, reason: "it holds a NUL byte") }
        let names = path.bytes.split(separator: FilePath.slash, omittingEmptySubsequences: false)
        for name in names {
            if name.isEmpty { throw .refusedPath(path, reason: "it holds an empty name") }
            if name.elementsEqual([0x2E]) || name.elementsEqual([0x2E, 0x2E]) {
                throw .refusedPath(path, reason: "it holds . or .. as a name")
            }
            guard name.count <= nameLimit else {
                throw .refusedPath(path, reason: "a name in it is over \(nameLimit) bytes")
            }
        }
    }
}

extension RootedPath: CustomStringConvertible {
    package var description: String { "\(root):\(path)" }
}

extension RootedPath: Codable {
    private enum CodingKeys: String, CodingKey { case root, path }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        try self.init(
            root: values.decode(String.self, forKey: .root),
            path: values.decode(FilePath.self, forKey: .path))
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(root, forKey: .root)
        try values.encode(path, forKey: .path)
    }
}

/// A folder under the name that jobs know it by.
package struct FileRoot: Hashable, Sendable {
    package let name: String
    /// The folder without symbolic links.
    package let folder: FilePath

    /// Resolves the folder, which must exist.
    ///
    /// - Throws: `DurableFileError`, `refusedPath` where the path leads to something else.
    package init(name: String, folder: FilePath) throws(DurableFileError) {
        _ = try RootedPath(root: name, path: FilePath(""))
        let resolved = try DurableFileSystem(links: .followed).resolve(folder)
        guard try FileStatus(of: resolved).isFolder else {
            throw .refusedPath(folder, reason: "the root \(name) is not a folder")
        }
        self.name = name
        self.folder = resolved
    }

    /// The real path of something below the root; what does not exist yet may end it.
    ///
    /// What a client names may hold symbolic links, which are resolved once, here, and the system
    /// confirms that the result lies below the root without them. What was resolved before holds
    /// none: a user who may write below the root can have put one there since.
    ///
    /// - Parameters:
    ///   - rooted: a path of this root.
    ///   - links: followed for a client's path alone.
    /// - Returns: the path without links.
    /// - Throws: `DurableFileError.refusedPath` for another root's path, for a link that leads
    ///   out of the root, and for one that leads nowhere.
    package func resolve(
        _ rooted: RootedPath, links: LinkPolicy = .refused
    ) throws(DurableFileError) -> FilePath {
        guard rooted.root == name else {
            throw .refusedPath(
                rooted.path, reason: "it belongs to the root \(rooted.root), not to \(name)")
        }
        if links == .refused { return try confirmed(folder.appending(rooted.path)) }
        var existing = folder.appending(rooted.path)
        var missing: [FilePath] = []
        while existing != folder {
            do {
                _ = try FileStatus(ofLink: existing)
                break
            } catch {
                guard error.isMissing else { throw error }
                missing.append(existing.lastComponent)
                existing = existing.parent
            }
        }
        let resolved: FilePath
        do {
            resolved = try DurableFileSystem(links: .followed).resolve(existing)
        } catch {
            guard error.isMissing else { throw error }
            throw .refusedPath(rooted.path, reason: "a symbolic link in it leads nowhere")
        }
        guard resolved.isInside(folder) else {
            throw .refusedPath(rooted.path, reason: "a symbolic link in it leaves the root")
        }
        try confirm(resolved)
        return missing.reversed().reduce(resolved) { $0.appending($1) }
    }

    /// Checks that no link is on the way to a path at this moment, as far as the path exists.
    ///
    /// The path lies below the root by its bytes, and without links it leads nowhere else.
    ///
    /// - Parameter path: below the folder, without `.` and `..`.
    /// - Returns: the path.
    /// - Throws: `DurableFileError.refusedPath` for a link.
    /// - Complexity: one call of the system where the path exists.
    private func confirmed(_ path: FilePath) throws(DurableFileError) -> FilePath {
        var existing = path
        while true {
            do throws(DurableFileError) {
                _ = try DurableFileSystem(links: .refused).resolve(existing)
                return path
            } catch {
                guard error.isMissing, existing != folder else { throw error }
                existing = existing.parent
            }
        }
    }

    /// Checks that a path leads to something below the root's folder, and that no link is on the
    /// way at this moment.
    ///
    /// - Parameter path: below the folder, judged by its bytes.
    /// - Throws: `DurableFileError.refusedPath` where it does not.
    private func confirm(_ path: FilePath) throws(DurableFileError) {
        let relative = try rooted(path).path
        let root = try folder.withPointer {
            LinkPolicy.refused.open($0, clinux_path_only | O_DIRECTORY)
        }
        let held = OpenFile(try LinkPolicy.refused.checked(root, .open, folder), folder, .none)
        guard !relative.bytes.isEmpty else { return }
        let rules = clinux_resolve_beneath | clinux_resolve_no_symlinks
        let opened = try relative.withPointer {
            clinux_open_beneath(held.descriptor, $0, clinux_path_only, 0, rules)
        }
        switch opened {
        case -EXDEV, -ELOOP, -ENOENT, -ENOTDIR:
            throw .refusedPath(path, reason: "symbolic links in it changed during the check")
        default: _ = OpenFile(try checked(opened, .open, path), path, .none)
        }
    }

    /// The rooted path of a real path below this root's folder.
    ///
    /// - Throws: `DurableFileError.refusedPath` where the path lies elsewhere.
    package func rooted(_ path: FilePath) throws(DurableFileError) -> RootedPath {
        guard path.isInside(folder) else {
            throw .refusedPath(path, reason: "it does not lie in the root \(name)")
        }
        let rest = path.bytes.dropFirst(folder.bytes.count).drop { $0 == FilePath.slash }
        return try RootedPath(root: name, path: FilePath(bytes: rest))
    }
}
