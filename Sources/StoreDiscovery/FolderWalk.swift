import DurableFiles
import StoreSwap

/// Searches one folder for stores.
///
/// Folders are read one at a time, in byte order of their names. Symbolic links wait until all
/// real folders are done, so that a store keeps the name without a link; then those that stay
/// inside are followed, each real folder once, so that loops end.
struct FolderWalk {
    /// A folder to read.
    private struct Folder {
        let relative: FilePath
        let real: FilePath
        let depth: Int
        let state: PathFilter.State
    }

    /// A symbolic link to follow later.
    private struct Link {
        let name: FilePath
        let folder: Folder
    }

    private let files: DurableFileSystem
    private let probe: StoreProbe
    private let filter: PathFilter
    private let root: FilePath
    private let base: FilePath
    private let realRoot: FilePath
    private let ignored: Set<FilePath>
    private let limit: Int
    private var links: [Link] = []
    /// Real folders that were read by way of a link.
    private var linked: Set<FilePath> = []

    /// Extensions whose files are taken where they hold no database; nil takes stores.
    private var damagedExtensions: Set<[UInt8]>?

    private(set) var stores: [DiscoveredStore] = []
    private(set) var skipped: [SkippedFile] = []
    private(set) var passed = PassedFiles()

    /// - Parameters:
    ///   - root: as it was given.
    ///   - base: of the folder to search, below the root; may be empty.
    ///   - real: the folder to search without symbolic links.
    ///   - filter: on paths below the folder to search.
    ///   - ignored: real folders that are not entered.
    ///   - limit: the most stores and skipped files.
    ///   - files: through which folders are read.
    init(
        root: FilePath, base: FilePath, real: FilePath, filter: PathFilter,
        ignored: Set<FilePath>, limit: Int, files: DurableFileSystem
    ) {
        self.files = files
        self.probe = StoreProbe(files: files)
        self.filter = filter
        self.root = root
        self.base = base
        self.realRoot = real
        self.ignored = ignored
        self.limit = limit
    }

    /// The same search for files with one of these extensions that are empty or no database.
    func forDamaged(_ extensions: Set<[UInt8]>) -> FolderWalk {
        var walk = FolderWalk(
            root: root, base: base, real: realRoot, filter: filter, ignored: ignored, limit: limit,
            files: files)
        walk.damagedExtensions = extensions
        return walk
    }

    /// Does the search.
    ///
    /// - Throws: `DurableFileError.overLimit`; everything else is a skipped file.
    mutating func run() throws(DurableFileError) {
        let start = Folder(relative: base, real: realRoot, depth: 0, state: filter.start)
        try read(from: start, isLinked: false)
        // Following may find further links, which come behind these.
        var next = 0
        while next < links.count {
            try follow(links[next])
            next += 1
        }
    }

    private mutating func read(
        from start: Folder, isLinked: Bool
    ) throws(DurableFileError) {
        var waiting = [start]
        while let folder = waiting.popLast() {
            if ignored.contains(folder.real) {
                passed.folders.append(root.appending(folder.relative))
                continue
            }
            if isLinked, !linked.insert(folder.real).inserted { continue }
            let names: [FilePath]
            do throws(DurableFileError) {
                names = try files.names(in: folder.real)
            } catch {
                if !error.isMissing { skip(folder.relative, .unreadable("\(error)")) }
                continue
            }
            var inside: [Folder] = []
            for name in names {
                if StoreFileName.isOurs(name.bytes) {
                    if isKept(name, beside: names) { skip(folder.relative.appending(name), .kept) }
                    continue
                }
                if let found = try entry(name, in: folder, beside: names) { inside.append(found) }
            }
            waiting += inside.reversed()
        }
    }

    /// Whether an earlier command kept a file here, which its user may not have heard of: it may
    /// have been killed before it could say so.
    private func isKept(_ name: FilePath, beside names: [FilePath]) -> Bool {
        guard damagedExtensions == nil, name.bytes.starts(with: SwapPlan.keptPrefix.utf8) else {
            return false
        }
        let database = StoreFileName.databaseName(ofCompanion: name)
        return database.map { !names.containsSorted($0) } ?? true
    }

    /// Takes in one entry of a folder; returns it where it is a folder to read.
    private mutating func entry(
        _ name: FilePath, in folder: Folder, beside names: [FilePath]
    ) throws(DurableFileError) -> Folder? {
        let real = folder.real.appending(name)
        let status: FileStatus
        do throws(DurableFileError) {
            status = try FileStatus(ofLink: real)
        } catch {
            if !error.isMissing { skip(folder.relative.appending(name), .unreadable("\(error)")) }
            return nil
        }
        if status.isSymbolicLink {
            links.append(Link(name: name, folder: folder))
        } else if status.isFolder {
            return self.folder(name, real: real, in: folder)
        } else if status.isRegularFile {
            try file(name, real: real, status, in: folder) { database in
                names.containsSorted(database)
            }
        } else if StoreFileName.isStoreExtension(of: name) {
            skip(folder.relative.appending(name), .notAFile(kind: status.kind))
        }
        return nil
    }

    private mutating func folder(
        _ name: FilePath, real: FilePath, in parent: Folder
    ) -> Folder? {
        if StoreFileName.isSupportFolder(name.bytes) { return nil }
        let units = NamePattern.units(of: name.bytes)
        guard let state = filter.entering(units, from: parent.state) else {
            passed.filtered += 1
            return nil
        }
        let relative = parent.relative.appending(name)
        guard parent.depth < DurableFileSystem.depthLimit else {
            skip(relative, .tooDeep)
            return nil
        }
        return Folder(relative: relative, real: real, depth: parent.depth + 1, state: state)
    }

    private mutating func file(
        _ name: FilePath, real: FilePath, _ status: FileStatus, in folder: Folder,
        hasDatabase: (FilePath) -> Bool
    ) throws(DurableFileError) {
        guard filter.takes(NamePattern.units(of: name.bytes), in: folder.state) else {
            passed.filtered += 1
            return
        }
        let relative = folder.relative.appending(name)
        if let damagedExtensions {
            guard let ending = StoreFileName.fileExtension(of: name),
                damagedExtensions.contains(ending),
                probe.holdsNoDatabase(name: name, real: real, size: status.size)
            else { return }
            stores.append(
                DiscoveredStore(
                    root: root, relative: relative, real: real, status: status, isNamed: false))
            return
        }
        let verdict = probe.judge(
            name: name, real: real, size: status.size, hasDatabase: hasDatabase)
        switch verdict {
        case .store:
            stores.append(
                DiscoveredStore(
                    root: root, relative: relative, real: real, status: status, isNamed: false))
        case .skipped(let reason): skip(relative, reason)
        case .other: passed.others += 1
        }
        guard stores.count + skipped.count <= limit else { throw .overLimit(root, limit: limit) }
    }

    /// Follows a link that stays in the folder; reports every other one.
    private mutating func follow(_ link: Link) throws(DurableFileError) {
        let relative = link.folder.relative.appending(link.name)
        let real: FilePath
        let status: FileStatus
        do throws(DurableFileError) {
            real = try files.with(.followed).resolve(link.folder.real.appending(link.name))
            status = try FileStatus(of: real)
        } catch {
            if error.isDenied {
                skip(relative, .unreadable("\(error)"))
            } else if StoreFileName.mayBeStoreOrFolder(link.name) {
                // It may lead to a file or to a folder: patterns leave out both.
                let units = NamePattern.units(of: link.name.bytes)
                if filter.takes(units, in: link.folder.state)
                    || filter.entering(units, from: link.folder.state) != nil
                {
                    skip(relative, .brokenLink("\(error)"))
                } else {
                    passed.filtered += 1
                }
            }
            return
        }
        guard status.isFolder || status.isRegularFile else { return }
        guard real.isInside(realRoot) else {
            leaveOut(link, real: real, status)
            return
        }
        // Without patterns all of it was found under its own name.
        if filter.takesEverything || isPrivate(real) { return }
        if status.isRegularFile {
            try file(link.name, real: real, status, in: link.folder) { _ in true }
        } else if let folder = folder(link.name, real: real, in: link.folder) {
            try read(from: folder, isLinked: true)
        }
    }

    /// Reports a link out of the folder, unless a pattern leaves it out.
    private mutating func leaveOut(_ link: Link, real: FilePath, _ status: FileStatus) {
        let units = NamePattern.units(of: link.name.bytes)
        let isWanted =
            status.isFolder
            ? filter.entering(units, from: link.folder.state) != nil
            : filter.takes(units, in: link.folder.state)
        guard isWanted else {
            passed.filtered += 1
            return
        }
        let relative = link.folder.relative.appending(link.name)
        // The store beside it says what is wrong with it.
        if status.isFolder, StoreFileName.isSupportFolder(link.name.bytes) { return }
        guard !status.isFolder else {
            skip(relative, .storeOutside(target: real))
            return
        }
        let verdict = probe.judge(name: link.name, real: real, size: status.size) { _ in true }
        switch verdict {
        case .store: skip(relative, .storeOutside(target: real))
        case .skipped(.unreadable(let reason)): skip(relative, .unreadable(reason))
        case .skipped, .other: skip(relative, .linkLeavesFolder(target: real))
        }
    }

    /// Whether a real path below the folder lies where nothing is searched.
    private func isPrivate(_ real: FilePath) -> Bool {
        let below = FilePath(bytes: real.bytes.dropFirst(realRoot.bytes.count))
        return below.components.contains {
            StoreFileName.isOurs($0) || StoreFileName.isSupportFolder($0)
        } || ignored.contains { real.isInside($0) }
    }

    private mutating func skip(_ relative: FilePath, _ reason: SkippedFile.Reason) {
        skipped.append(
            SkippedFile(path: root.appending(relative), reason: reason, isNamed: false))
    }
}

extension [FilePath] {
    /// Whether a sorted array holds a path.
    fileprivate func containsSorted(_ wanted: FilePath) -> Bool {
        var low = startIndex
        var high = endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if self[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return low < endIndex && self[low] == wanted
    }
}
