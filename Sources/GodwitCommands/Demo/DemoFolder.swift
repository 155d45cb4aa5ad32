import CommandSupport
import CoreDataStore
import DurableFiles
import MigrationEngine
import RunReports
import StoreForge
import StoreRuns

/// The folder that the demo works in.
struct DemoFolder {
    let path: FilePath
    private let files = DurableFileSystem()

    private static let mark = ".made-by-godwit-demo"

    /// Where the stores lie and are swapped in place.
    var backups: FilePath { path.appending("backups") }
    /// Where the newest version of the model comes from.
    var template: FilePath { path.appending("template.sqlite") }
    var state: FilePath { path.appending(".godwit") }

    /// Makes the folder from scratch.
    ///
    /// - Throws: `CommandFailure` for a folder that no demo made, `DurableFileError`.
    static func make(at path: FilePath) throws -> DemoFolder {
        let folder = try cleared(at: path)
        try folder.files.makeFolders(folder.backups)
        _ = try Forge(try DemoStore.template()).write(to: folder.template)
        return folder
    }

    /// Makes the folder without anything in it.
    ///
    /// - Throws: `CommandFailure` for a folder that no demo made, `DurableFileError`.
    static func cleared(at path: FilePath) throws -> DemoFolder {
        let folder = DemoFolder(path: path)
        if try FileStatus.ifPresent(path) != nil {
            guard try FileStatus.ifPresent(path.appending(mark)) != nil else {
                throw CommandFailure.usage(
                    "\(path) exists but is not from an earlier demo. Run the demo in another "
                        + "folder")
            }
            try folder.files.removeTree(path)
        }
        try folder.files.makeFolders(path)
        try folder.files.publish([], to: path.appending(mark))
        return folder
    }

    /// The destination: what the template shows.
    func destination() throws -> DestinationChoice {
        let scratch = path.appending(".scratch")
        try files.makeFolders(scratch)
        let store = try StoreOpener().open(StoreLocation(template), scratch: scratch)
        try files.removeTree(scratch)
        return .model(try DestinationModel(template: store))
    }

    /// Every file that the demo leaves, folders as one line.
    func listing() throws -> [String] {
        var lines: [String] = []
        for folder in [backups, state] {
            let inside = try files.tree(at: folder).filter(\.status.isRegularFile)
            let bytes = inside.reduce(Int64(0)) { $0 + $1.status.size }
            lines.append(
                "  \(folder)/  \(counted(inside.count, "file")), \(ByteSize(bytes: bytes).words)")
        }
        lines.append("  \(template)")
        return lines + ["  \(path.appending(Self.mark))"]
    }
}
