import ClusterProtocol
package import CommandSupport
package import DurableFiles
import Jobs
import RunService

/// The folders of this machine that the coordinator has under the same names.
package struct ClientRoots: Sendable {
    /// Without symbolic links, as far as they exist here.
    package let folders: [String: FilePath]

    init(folders: [String: FilePath]) { self.folders = folders }

    /// Reads `NAME=FOLDER` options.
    ///
    /// - Throws: `CommandFailure` with status 64 for none, for what is not written so, and for a
    ///   name that is given twice.
    package init(_ options: [String]) throws(CommandFailure) {
        guard !options.isEmpty else {
            throw .usage(
                "give each shared folder with --root NAME=FOLDER. Use the names of "
                    + "the coordinator's --root options")
        }
        var folders: [String: FilePath] = [:]
        for option in options {
            guard let sign = option.firstIndex(of: "="), Self.isName(option[..<sign]),
                option.index(after: sign) != option.endIndex
            else {
                throw .usage(
                    "--root \(option) is not written as NAME=FOLDER, with a name of at most "
                        + "\(MessageLimits.rootBytes) letters, digits, _ and -")
            }
            let name = String(option[..<sign])
            guard folders[name] == nil else { throw .usage("--root names \(name) twice") }
            let folder = FilePath(String(option[option.index(after: sign)...]))
            folders[name] = try CommandFailure.translating { try FleetArguments.absolute(folder) }
        }
        self.folders = folders
    }

    private static func isName(_ text: Substring) -> Bool {
        (1...MessageLimits.rootBytes).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x5F, 0x2D: true
                default: false
                }
            }
    }

    /// What both sides call a path: the root with the longest folder that holds it.
    ///
    /// - Parameters:
    ///   - path: absolute, links resolved as far as it exists.
    ///   - given: as the command line has it, for messages.
    /// - Returns: the reference; an empty path where it is the root's folder itself.
    /// - Throws: `CommandFailure` with status 64 for a path outside every root, and for one with
    ///   `..` behind what exists.
    func reference(
        to path: FilePath, given: FilePath
    ) throws(CommandFailure) -> FileReference {
        let holders = folders.filter { path.isInside($0.value) }
        guard
            let root = holders.max(by: { left, right in
                // Two names of one folder are as good as each other: always the same one.
                (left.value.bytes.count, right.key) < (right.value.bytes.count, left.key)
            })
        else {
            let known = folders.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            throw .usage(
                "\(given) is not in a shared folder (\(known.joined(separator: ", "))), so the "
                    + "coordinator cannot find it. Add its folder with --root NAME=FOLDER")
        }
        let names = path.components.dropFirst(root.value.components.count)
        let isOdd = names.contains { $0.elementsEqual([0x2E]) || $0.elementsEqual([0x2E, 0x2E]) }
        guard !isOdd else {
            throw .usage("\(given) does not exist, and its path contains . or ..")
        }
        let relative = names.reduce(FilePath("")) { $0.appending(FilePath(bytes: $1)) }
        return FileReference(root: root.key, path: relative.description)
    }

    /// What both sides call a path of the command line.
    ///
    /// - Parameters:
    ///   - given: a store, a folder, or a pattern.
    ///   - mustExist: whether a path without a pattern has to be there.
    /// - Returns: the reference.
    /// - Throws: `CommandFailure` with status 64.
    func reference(
        to given: FilePath, mustExist: Bool
    ) throws(CommandFailure) -> FileReference {
        let path = try CommandFailure.translating { try FleetArguments.absolute(given) }
        let reference = try reference(to: path, given: given)
        // Where the folder itself is not on this machine, nothing can be said of its files.
        let isPattern = given.bytes.contains { "*?[".utf8.contains($0) }
        guard mustExist, !isPattern, let folder = folders[reference.root] else { return reference }
        let isMissing = try CommandFailure.translating {
            try FileStatus.ifPresent(folder) != nil && FileStatus.ifPresent(path) == nil
        }
        if isMissing {
            throw .usage(
                "\(given) does not exist; name database files or folders that hold them")
        }
        return reference
    }
}
