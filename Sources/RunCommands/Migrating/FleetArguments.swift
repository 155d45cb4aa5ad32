import CommandSupport
package import DurableFiles
import MigrationEngine
import RunLedger
import RunService
import StoreDiscovery

/// The stores that a command line names, as a run numbers them.
package struct FleetArguments {
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
        selection.lists = arguments.filters.lists.map { FilePath($0) }
        selection.include = arguments.filters.include.map { FilePath($0) }
        selection.exclude = arguments.filters.exclude.map { FilePath($0) }
        selection.ignoredFolders = [state] + (output.map { [FilePath($0)] } ?? [])
        let folder = try CommandFailure.translating {
            try output.map { try FleetArguments.absolute(FilePath($0)) }
        }
        let typed = Set(selection.paths)
        let found = try CommandFailure.translating {
            try NamedFleet(
                selection, required: typed, output: folder, files: DurableFileSystem())
        }
        stores = found.stores
        skipped = found.skipped
        warnings = found.warnings
        for file in found.skipped where FleetArguments.isTold(file) {
            Console.log("warning: skipped \(file.path): \(file.reason)")
        }
        for warning in found.warnings { Console.log("warning: \(warning)") }
        inputs = try CommandFailure.translating {
            try (selection.paths + selection.lists).map(FleetArguments.absolute)
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

    /// The path from the root, with the links in its folder resolved as far as it exists.
    package static func absolute(_ path: FilePath) throws(DurableFileError) -> FilePath {
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
}
