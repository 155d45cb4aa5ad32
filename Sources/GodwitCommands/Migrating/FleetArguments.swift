import DurableFiles
import LocalRun
import MigrationEngine
import RunLedger

/// The stores that a command line names, as a run numbers them.
struct FleetArguments {
    let stores: [FoundStore]
    /// What was named, absolute.
    let inputs: [FilePath]
    let skipped: [SkippedFile]
    let warnings: [DiscoveryWarning]

    /// Finds the stores; what is odd about them goes to standard error.
    ///
    /// - Parameters:
    ///   - arguments: as parsed.
    ///   - output: the folder of the results; nil for a swap in place.
    ///   - state: the folder of the runs.
    /// - Throws: `CommandFailure` with status 64 for what cannot be meant: a named store that is
    ///   not there, results that would share a path, a result in the place of its original.
    init(
        _ arguments: MigrationArguments, output: String?, state: FilePath
    ) throws(CommandFailure) {
        var selection = StoreSelection(paths: arguments.stores.map { FilePath($0) })
        selection.lists = arguments.lists.map { FilePath($0) }
        selection.include = arguments.include.map { FilePath($0) }
        selection.exclude = arguments.exclude.map { FilePath($0) }
        selection.ignoredFolders = [state] + (output.map { [FilePath($0)] } ?? [])
        let found = try CommandFailure.translating {
            try StoreDiscovery.discover(selection)
        }
        skipped = found.skipped
        warnings = found.warnings
        try FleetArguments.refuse(found, arguments, isInPlace: output == nil)
        for file in found.skipped where FleetArguments.isTold(file) {
            Console.log("warning: \(file.path) is left out: \(file.reason)")
        }
        for warning in found.warnings { Console.log("warning: \(warning)") }
        inputs = try CommandFailure.translating {
            try (selection.paths + selection.lists).map(FleetArguments.absolute)
        }
        stores = try CommandFailure.translating {
            let folder = try output.map { try FleetArguments.absolute(FilePath($0)) }
            return try found.stores.enumerated().map { place, store in
                let result = folder?.appending(store.relative)
                if folder == nil { try FleetArguments.refuseKept(store) }
                try FleetArguments.refuseItself(store, result)
                return FoundStore(
                    number: place + 1, path: store.real, output: result, bytes: store.bytes)
            }
        }
    }

    /// Whether a file that is not taken is worth a warning beside its line in the report: a link
    /// that leads elsewhere may stand for a whole disk of stores.
    private static func isTold(_ file: SkippedFile) -> Bool {
        switch file.reason {
        case .linkLeavesFolder, .storeOutside, .brokenLink: true
        default: file.needsAttention
        }
    }

    /// Refuses what godwit itself keeps: a kept original that is migrated is no original any more.
    private static func refuseKept(_ store: DiscoveredStore) throws(CommandFailure) {
        let names = store.real.bytes.split(separator: UInt8(ascii: "/"))
        guard names.contains(where: { $0.starts(with: SwapPlan.backupPrefix.utf8) }) else { return }
        throw .usage(
            "\(store.path) is an original that an earlier run keeps; leave it out, or copy it "
                + "elsewhere first")
    }

    /// The path from the root, with the links in its folder resolved as far as it exists.
    static func absolute(_ path: FilePath) throws(DurableFileError) -> FilePath {
        let files = DurableFileSystem(links: .followed)
        var existing = path.bytes.isEmpty ? FilePath(".") : path
        var missing: [FilePath] = []
        while try FileStatus.ifPresent(existing) == nil {
            missing.append(existing.lastComponent)
            let parent = existing.folderAsGiven
            guard parent != existing else { break }
            existing = parent.bytes.isEmpty ? FilePath(".") : parent
        }
        return missing.reversed().reduce(try files.resolve(existing)) { $0.appending($1) }
    }

    private static func refuse(
        _ found: Discovery, _ arguments: MigrationArguments, isInPlace: Bool
    ) throws(CommandFailure) {
        // A list of a hundred thousand stores may name one that is gone; a command line must not.
        let typed = Set(arguments.stores.map { FilePath($0) })
        if let named = found.skipped.first(where: { $0.isNamed && typed.contains($0.path) }) {
            switch named.reason {
            case .missing, .noMatch:
                throw .usage(
                    "\(named.path) does not exist; name database files or folders that hold them")
            default: throw CommandFailure(.badData, "\(named.path): \(named.reason)")
            }
        }
        guard !found.stores.isEmpty else {
            let searched = (arguments.stores + arguments.lists).joined(separator: ", ")
            throw .usage(
                "no store was found in \(searched); \(found.absence). Name database files, or "
                    + "folders that hold Core Data stores")
        }
        guard !isInPlace else { return }
        for warning in found.warnings {
            switch warning.kind {
            case .sameResult, .sameSupportFolder:
                throw .usage(
                    "\(warning); migrate them one after the other into different folders")
            case .sameFile, .sameResultButForCase: continue
            }
        }
    }

    /// The advice for an existing result is to remove it: it must not be the original.
    private static func refuseItself(_ store: DiscoveredStore, _ result: FilePath?) throws {
        guard let result, let there = try FileStatus.ifPresent(result) else { return }
        guard there.identity.device == store.device, there.identity.inode == store.inode else {
            return
        }
        throw CommandFailure.usage(
            "the result of \(store.path) would take the place of the original; give another "
                + "--output, or none for a swap in place")
    }
}
