package import DurableFiles

/// What a user named for a run.
package struct StoreSelection: Sendable {
    /// Stores, folders, and patterns where nothing of that name exists.
    package var paths: [FilePath] = []
    /// Store lists (`StoreListFile`).
    package var lists: [FilePath] = []
    /// Patterns of which one must stand for a file found in a folder.
    ///
    /// They hold for its path below that folder (`PathPattern`). None asks for nothing. What is
    /// named itself is always taken.
    package var include: [FilePath] = []
    /// Patterns of what is left out of folders.
    package var exclude: [FilePath] = []
    /// Folders that are not searched although they may lie in others: output and state.
    package var ignoredFolders: [FilePath] = []
    /// Real folders that nothing may lead out of, whatever names it; empty for no such bound.
    package var bounds: [FilePath] = []
    /// The most stores and skipped files.
    package var limit = 10_000_000

    package init() {}

    package init(paths: [FilePath]) { self.paths = paths }
}

/// Finds the stores of a run.
///
/// Reads the first bytes of every file in the folders that were named, and follows no symbolic
/// link out of them. What is missing or cannot be read is skipped with its reason, and the search
/// goes on.
package struct StoreSearch {
    private let selection: StoreSelection
    private let files: DurableFileSystem
    private let include: [PathPattern]
    private let exclude: [PathPattern]
    private var ignored: Set<FilePath> = []
    private var stores: [DiscoveredStore] = []
    private var skipped: [SkippedFile] = []
    private var passed = PassedFiles()
    /// Searches of folders as they were begun.
    private var walks: [FolderWalk] = []

    private init(_ selection: StoreSelection, files: DurableFileSystem) throws(DurableFileError) {
        self.selection = selection
        self.files = files
        include = try StoreSearch.patterns(selection.include)
        exclude = try StoreSearch.patterns(selection.exclude)
        for folder in selection.ignoredFolders where try FileStatus.ifPresent(folder) != nil {
            ignored.insert(try files.with(.followed).resolve(folder))
        }
    }

    /// Finds the stores.
    ///
    /// - Parameters:
    ///   - selection: what was named.
    ///   - files: through which files are read.
    /// - Returns: stores, skipped files and warnings. A store that is named in two ways has the
    ///   path of the first.
    /// - Throws: `DurableFileError` for a store list that cannot be read, for a pattern that is
    ///   none, and above the limit.
    /// - Complexity: a few system calls for each file; memory for the stores, and for the names
    ///   of the folders on the way to the current one.
    package static func discover(
        _ selection: StoreSelection, files: DurableFileSystem = DurableFileSystem()
    ) throws(DurableFileError) -> Discovery {
        var discovery = try StoreSearch(selection, files: files)
        for path in selection.paths { try discovery.take(path) }
        for list in selection.lists {
            for entry in try StoreListFile(list).entries {
                let place = (entry.root, entry.relative)
                let joined = entry.root.appending(entry.relative)
                try discovery.take(
                    joined.bytes.isEmpty ? FilePath(".") : joined, asFile: place,
                    asFolder: place)
            }
        }
        try discovery.takeDamaged()
        return discovery.result()
    }

    private mutating func take(_ path: FilePath) throws(DurableFileError) {
        if NamePattern.isPattern(path.bytes), isMissing(path) {
            try expand(path)
            return
        }
        try take(
            path, asFile: (path.folderAsGiven, path.lastComponent),
            asFolder: (path, FilePath("")))
    }

    /// Whether nothing is at a path, not even a link that leads nowhere.
    private func isMissing(_ path: FilePath) -> Bool {
        do throws(DurableFileError) {
            _ = try FileStatus(ofLink: path)
            return false
        } catch {
            return error.isMissing
        }
    }

    /// Takes what was named: a file whatever it holds, a folder with the stores in it.
    private mutating func take(
        _ path: FilePath, asFile: (root: FilePath, relative: FilePath),
        asFolder: (root: FilePath, relative: FilePath)
    ) throws(DurableFileError) {
        let real: FilePath
        let status: FileStatus
        do throws(DurableFileError) {
            real = try resolve(path)
            status = try FileStatus(ofLink: real)
        } catch {
            skip(path, error.isMissing ? .missing : .unreadable("\(error)"))
            return try checkLimit()
        }
        if status.isFolder {
            try walk(root: asFolder.root, base: asFolder.relative, real: real)
        } else if status.isRegularFile {
            stores.append(
                DiscoveredStore(
                    root: asFile.root, relative: asFile.relative, real: real, status: status,
                    isNamed: true))
        } else {
            skip(path, .notAFile(kind: status.kind))
        }
        try checkLimit()
    }

    /// A path without symbolic links.
    ///
    /// - Throws: `DurableFileError`, `refusedPath` where it leaves the bounds.
    private func resolve(_ path: FilePath) throws(DurableFileError) -> FilePath {
        let real = try files.with(.followed).resolve(path)
        guard selection.bounds.isEmpty || selection.bounds.contains(where: { real.isInside($0) })
        else { throw .refusedPath(path, reason: "it leads out of the shared folders") }
        return real
    }

    /// Searches the folder before the first name of a path that is a pattern.
    private mutating func expand(_ path: FilePath) throws(DurableFileError) {
        let names = path.components
        let cut = names.firstIndex { NamePattern.isPattern($0) } ?? 0
        let start = FilePath(path.isAbsolute ? "/" : "")
        let root = names[..<cut].reduce(start) { $0.appending(FilePath(bytes: $1)) }
        let rest = names[cut...].reduce(FilePath("/")) { $0.appending(FilePath(bytes: $1)) }
        let ending = path.bytes.last == UInt8(ascii: "/") ? "/" : ""
        let pattern = try PathPattern(rest.adding(suffix: ending))
        let before = stores.count + skipped.count
        let real: FilePath
        do throws(DurableFileError) {
            real = try resolve(root.bytes.isEmpty ? FilePath(".") : root)
        } catch {
            skip(path, error.isMissing ? .noMatch : .unreadable("\(error)"))
            return try checkLimit()
        }
        try walk(root: root, base: FilePath(""), real: real, matching: [pattern])
        if stores.count + skipped.count == before { skip(path, .noMatch) }
        try checkLimit()
    }

    private mutating func walk(
        root: FilePath, base: FilePath, real: FilePath, matching: [PathPattern] = []
    ) throws(DurableFileError) {
        var walk = FolderWalk(
            root: root, base: base, real: real,
            filter: PathFilter(required: [include, matching], excluded: exclude),
            ignored: ignored, limit: selection.limit, files: files)
        walks.append(walk)
        try walk.run()
        // One folder is the rule: its stores are not copied.
        if stores.isEmpty { stores = walk.stores } else { stores += walk.stores }
        skipped += walk.skipped
        passed.add(walk.passed)
    }

    /// Takes files that hold no database under a name that stores of the folders have: stores
    /// that are damaged, which the run says.
    ///
    /// - Complexity: searches the folders once more where their stores have other extensions
    ///   than Core Data's own, whose files were taken already.
    private mutating func takeDamaged() throws(DurableFileError) {
        var extensions: Set<[UInt8]> = []
        for store in stores where !store.isNamed {
            guard !StoreFileName.isCoreDataExtension(of: store.relative),
                let ending = StoreFileName.fileExtension(of: store.relative)
            else { continue }
            extensions.insert(ending)
        }
        guard !extensions.isEmpty else { return }
        for walk in walks {
            var again = walk.forDamaged(extensions)
            try again.run()
            stores += again.stores
            try checkLimit()
        }
    }

    /// The stores by real path, without what was found twice.
    private mutating func result() -> Discovery {
        let kept = withoutRepeats()
        stores = []
        let taken = skipped.isEmpty ? [] : Set(kept.lazy.map(\.path))
        var told: Set<FilePath> = []
        let others = skipped.filter { file in
            !taken.contains(file.path) && told.insert(file.path).inserted
        }
        return Discovery(
            stores: kept, skipped: others.sorted { $0.path < $1.path },
            warnings: DiscoveryWarning.all(about: kept), passed: passed)
    }

    /// The stores by path, each real path once.
    private func withoutRepeats() -> [DiscoveredStore] {
        var places: [FilePath: Int] = [:]
        places.reserveCapacity(stores.count)
        var kept: [DiscoveredStore] = []
        kept.reserveCapacity(stores.count)
        for store in stores {
            if let place = places[store.location.database] {
                if store.isNamed { kept[place].isNamed = true }
            } else {
                places[store.location.database] = kept.count
                kept.append(store)
            }
        }
        kept.sort(by: DiscoveredStore.isBefore)
        return kept
    }

    private mutating func skip(_ path: FilePath, _ reason: SkippedFile.Reason) {
        skipped.append(SkippedFile(path: path, reason: reason, isNamed: true))
    }

    private func checkLimit() throws(DurableFileError) {
        guard stores.count + skipped.count <= selection.limit else {
            throw .overLimit(
                stores.last?.path ?? skipped.last?.path ?? FilePath("."), limit: selection.limit)
        }
    }

    private static func patterns(_ texts: [FilePath]) throws(DurableFileError) -> [PathPattern] {
        var patterns: [PathPattern] = []
        for text in texts { patterns.append(try PathPattern(text)) }
        return patterns
    }
}
