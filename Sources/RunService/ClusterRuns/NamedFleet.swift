package import DurableFiles
import MigrationEngine
package import RunLedger
import SafeSQLite
package import StateFolders
package import StoreDiscovery
import StoreRuns
import StoreSwap

/// The stores of a run, numbered, with what was left out: what every way to name them comes to.
package struct NamedFleet: Sendable {
    package let stores: [FoundStore]
    package let skipped: [SkippedFile]
    package let warnings: [DiscoveryWarning]

    /// Finds the stores.
    ///
    /// - Parameters:
    ///   - selection: paths, lists, patterns.
    ///   - required: those of the paths that must be stores: a command line must not name what
    ///     is not there, a list of a hundred thousand stores may.
    ///   - output: the folder of the results, absolute; nil for a swap in place.
    ///   - files: through which files are read.
    /// - Throws: `RunError.store` for a required file that is no store, `RunError.nothingToDo`
    ///   where no store was found, where results would share a path or take the place of their
    ///   original, and for an original that an earlier run keeps.
    package init(
        _ selection: StoreSelection, required: Set<FilePath> = [], output: FilePath?,
        files: DurableFileSystem
    ) throws(RunError) {
        let found = try RunError.translating {
            try StoreSearch.discover(selection, files: files)
        }
        if let named = found.skipped.first(where: { $0.isNamed && required.contains($0.path) }) {
            switch named.reason {
            case .missing, .noMatch:
                throw .nothingToDo(
                    "\(named.path) does not exist; name database files or folders that hold them")
            default:
                throw .store(.notAStore(path: "\(named.path)", reason: "\(named.reason)"))
            }
        }
        guard !found.stores.isEmpty else {
            throw .nothingToDo(
                "no store was found in \(Self.names(selection)); \(found.absence). Name database "
                    + "files, or folders that hold Core Data stores")
        }
        if output != nil { try Self.refuseSharedResults(found.warnings) }
        skipped = found.skipped
        warnings = found.warnings
        var stores: [FoundStore] = []
        // Two swaps of one file would share its backup.
        let aliases = output == nil ? Self.aliases(found.warnings) : []
        for store in found.stores where !aliases.contains(store.path) {
            let result = output.map { StoreLocation($0.appending(store.relative)) }
            if output == nil { try Self.refuseKept(store) }
            try Self.refuseItself(store, result)
            stores.append(
                FoundStore(
                    number: stores.count + 1, location: store.location, output: result,
                    bytes: store.bytes))
        }
        self.stores = stores
    }

    /// What was searched, for an error: not more than a few names.
    private static func names(_ selection: StoreSelection) -> String {
        let paths = (selection.paths + selection.lists).map { PrintableText.line("\($0)") }
        let more = paths.count > 3 ? " and \(paths.count - 3) more" : ""
        return paths.prefix(3).joined(separator: ", ") + more
    }

    /// The further names of files that have several.
    private static func aliases(_ warnings: [DiscoveryWarning]) -> Set<FilePath> {
        Set(warnings.filter { $0.kind == .sameFile }.flatMap { $0.paths.dropFirst() })
    }

    private static func refuseSharedResults(_ warnings: [DiscoveryWarning]) throws(RunError) {
        for warning in warnings {
            switch warning.kind {
            case .sameResult, .sameSupportFolder:
                throw .nothingToDo(
                    "\(warning); migrate them one after the other into different folders")
            case .sameFile, .sameResultButForCase: continue
            }
        }
    }

    /// Refuses what godwit itself keeps: a kept original that is migrated is no original any more.
    private static func refuseKept(_ store: DiscoveredStore) throws(RunError) {
        let names = store.location.database.bytes.split(separator: UInt8(ascii: "/"))
        guard names.contains(where: { $0.starts(with: SwapPlan.backupPrefix.utf8) }) else { return }
        throw .nothingToDo(
            "\(store.path) is an original that an earlier run keeps; leave it out, or copy it "
                + "elsewhere first")
    }

    /// The advice for an existing result is to remove it: it must not be the original.
    private static func refuseItself(
        _ store: DiscoveredStore, _ result: StoreLocation?
    ) throws(RunError) {
        guard let result,
            let there = try RunError.translating({ try FileStatus.ifPresent(result.database) }),
            there.identity.device == store.device, there.identity.inode == store.inode
        else { return }
        throw .nothingToDo(
            "the result of \(store.path) would take the place of the original; give another "
                + "output folder, or none for a swap in place")
    }
}
