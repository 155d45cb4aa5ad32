package import DurableFiles

/// A store that a run is to migrate.
package struct DiscoveredStore: Hashable, Sendable {
    /// The folder that was searched, or that of a store that was named, as it was given.
    package let root: FilePath
    /// Below the root; the result's place below the output.
    package let relative: FilePath
    /// Without symbolic links: where the store to migrate lies.
    package let location: StoreLocation
    /// Size of the database file.
    package let bytes: Int64
    package let device: UInt64
    package let inode: UInt64
    /// How many names the file has; swapping in place refuses more than one.
    package let links: UInt64
    /// Whether the store itself was named: then it was taken without a look into it.
    package internal(set) var isNamed: Bool

    /// A file that claims to be larger is mostly holes; sums over fleets stay sums.
    private static let largest: Int64 = 1 << 44

    /// The path as people know it.
    package var path: FilePath { root.appending(relative) }

    init(
        root: FilePath, relative: FilePath, real: FilePath, status: FileStatus, isNamed: Bool
    ) {
        self.root = root
        self.relative = relative
        location = StoreLocation(real)
        bytes = min(status.size, Self.largest)
        device = status.identity.device
        inode = status.identity.inode
        links = status.links
        self.isNamed = isNamed
    }

    /// Whether the path comes before another one, byte by byte.
    static func isBefore(_ left: DiscoveredStore, _ right: DiscoveredStore) -> Bool {
        left.root == right.root ? left.relative < right.relative : left.path < right.path
    }
}

/// Something that was named, or that looks like a store, and is not taken.
package struct SkippedFile: Hashable, Sendable {
    /// Why a file or folder is not taken.
    package enum Reason: Hashable, Sendable {
        /// It was named and nothing is there.
        case missing
        /// A pattern was named that stands for nothing.
        case noMatch
        /// It is neither a file nor a folder; the text says what.
        case notAFile(kind: String)
        /// It has an extension that stores have among others, and no bytes.
        case empty
        /// It has such an extension and does not begin as SQLite databases do.
        case notADatabase
        /// It is an SQLite database without Core Data's tables.
        case notACoreDataStore
        /// It is an SQLite database under the name of a companion file such as `-wal`.
        case companionName
        /// It is a `-wal` with content whose database is not beside it.
        case logWithoutDatabase
        /// It is a symbolic link out of the folder, to a store or to a folder that may hold some.
        case storeOutside(target: FilePath)
        /// It is a symbolic link out of the folder, to something that is no store.
        case linkLeavesFolder(target: FilePath)
        /// It is a symbolic link that cannot be followed; the text says why.
        case brokenLink(String)
        /// It cannot be read; the text is the whole message.
        case unreadable(String)
        /// It is what a swap or a rollback kept beside a store that a program had replaced.
        case kept
        /// It is a folder below more folders than are searched.
        case tooDeep
    }

    /// As it was given or found.
    package let path: FilePath
    package let reason: Reason
    /// Whether the path itself was named.
    package let isNamed: Bool

    /// Whether a user's data may be behind it: a run that skips it has not done everything.
    ///
    /// A file that happens to end in `.db`, a link out of the folder to what is no store, and a
    /// database of another kind are told and no more.
    package var needsAttention: Bool {
        if isNamed { return true }
        switch reason {
        case .missing, .noMatch, .unreadable, .tooDeep, .logWithoutDatabase, .companionName,
            .storeOutside, .brokenLink, .kept:
            return true
        case .empty, .notADatabase, .notAFile, .notACoreDataStore, .linkLeavesFolder:
            return false
        }
    }
}

extension SkippedFile.Reason: CustomStringConvertible {
    package var description: String {
        switch self {
        case .missing: "it does not exist"
        case .noMatch: "nothing matches the pattern"
        case .notAFile(let kind): "it is \(kind)"
        case .empty: "it is empty"
        case .notADatabase: "it is not an SQLite database"
        case .notACoreDataStore: "it is an SQLite database, but not a Core Data store"
        case .companionName:
            "it is an SQLite database with the name of a companion file; rename it or give its path"
        case .logWithoutDatabase:
            "it is a -wal file with content whose database is not beside it"
        case .storeOutside(let target), .linkLeavesFolder(let target):
            "it is a symbolic link to \(target), outside the folder; give that path to include it"
        case .brokenLink(let reason): "it is a broken symbolic link: \(reason)"
        case .unreadable(let reason): reason
        case .kept:
            "a swap or a rollback kept it when a program had replaced its store; rename it to "
                + "include it, or remove it"
        case .tooDeep:
            "it is nested more than \(DurableFileSystem.depthLimit) folders deep; give its path "
                + "explicitly"
        }
    }
}

/// What stores and skipped files were found, and what is odd about the stores as a whole.
package struct Discovery: Sendable {
    /// By path, in byte order; no two are the same file under one real path.
    package let stores: [DiscoveredStore]
    /// By path, in byte order.
    package let skipped: [SkippedFile]
    package let warnings: [DiscoveryWarning]
    /// What was met and is not even told.
    package let passed: PassedFiles
}

/// What a search met and passed over without a line of its own.
package struct PassedFiles: Hashable, Sendable {
    /// Folders that are not searched although they lie in others: output and state.
    package internal(set) var folders: [FilePath] = []
    /// Files and folders that `--include` and `--exclude` leave out.
    package internal(set) var filtered = 0
    /// Files that are no SQLite databases and not named as stores are.
    package internal(set) var others = 0

    mutating func add(_ other: PassedFiles) {
        folders += other.folders
        filtered += other.filtered
        others += other.others
    }
}

extension Discovery {
    /// The most files that `absence` names.
    private static let shown = 5

    /// Why there are no stores: what was left out, each with its reason.
    package var absence: String {
        var reasons = skipped.prefix(Self.shown).map { "\($0.path) (\($0.reason))" }
        if skipped.count > Self.shown { reasons.append("\(skipped.count - Self.shown) more") }
        reasons += passed.folders.map {
            "\($0) (it is the folder of the results or of the runs)"
        }
        if passed.filtered > 0 {
            reasons.append("files and folders that the patterns leave out (\(passed.filtered))")
        }
        if passed.others > 0 {
            reasons.append("files that are not SQLite databases (\(passed.others))")
        }
        return reasons.isEmpty
            ? "there are no files" : "left out: " + reasons.joined(separator: ", ")
    }
}
