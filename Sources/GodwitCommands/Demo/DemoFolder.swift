import CoreDataStore
import DurableFiles
import LocalRun
import MigrationEngine
import StoreForge

/// The folder that the demo works in.
struct DemoFolder {
    let path: FilePath
    private let files = DurableFileSystem()

    private static let mark = ".made-by-godwit-demo"

    var backups: FilePath { path.appending("backups") }
    private var migrated: FilePath { path.appending("migrated") }
    private var templates: FilePath { path.appending("templates") }

    /// Makes the folder anew.
    ///
    /// - Throws: `CommandFailure` for a folder that no demo made, `DurableFileError`.
    static func make(at path: FilePath) throws -> DemoFolder {
        let folder = DemoFolder(path: path)
        if try FileStatus.ifPresent(path) != nil {
            guard try FileStatus.ifPresent(path.appending(mark)) != nil else {
                throw CommandFailure.usage(
                    "\(path) is there and no demo made it: run the demo in another folder")
            }
            try folder.files.removeTree(path)
        }
        for part in [folder.backups, folder.migrated, folder.templates] {
            try folder.files.makeFolders(part)
        }
        try folder.files.publish([], to: path.appending(mark))
        for app in [DemoStore.App.notes, .shop] {
            let recipe = try DemoStore(app: app, version: 3, objects: 0).template()
            _ = try Forge(recipe).write(to: folder.template(of: app))
        }
        return folder
    }

    private func template(of app: DemoStore.App) -> FilePath {
        templates.appending("\(app.rawValue).sqlite")
    }

    /// The migration of one store to what its app's template shows.
    func request(for store: DemoStore, slots: Int) throws -> MigrationRequest {
        let state = path.appending(".state").appending(store.fileName)
        try files.makeFolders(state)
        let template = try StoreOpener().open(template(of: store.app), scratch: state)
        return MigrationRequest(
            store: backups.appending(store.fileName),
            output: migrated.appending(store.fileName), state: state,
            destination: .model(try DestinationModel(template: template)),
            // Small enough to show several chunks of the large store.
            options: PlanOptions(chunkBytes: 32 << 20), slots: slots)
    }

    /// SHA-256 of a backup's database.
    func digest(of name: String) throws(DurableFileError) -> String {
        try ContentDigest.hexadecimal(of: backups.appending(name), files: files).digest
    }

    /// Every file that the demo leaves, folders of external data as one line.
    func listing() throws -> String {
        try files.removeTree(path.appending(".state"))
        var lines = ["", "What lies in \(path) now:"]
        for part in [backups, migrated, templates] {
            for name in try files.names(in: part).sorted() {
                let file = part.appending(name)
                let status = try FileStatus(of: file)
                guard status.isFolder else {
                    lines.append("  \(file)  \(ByteSize(bytes: status.size).words)")
                    continue
                }
                let inside = try files.tree(at: file).filter(\.status.isRegularFile)
                lines.append("  \(file)/  \(inside.count) files of external data")
            }
        }
        lines.append("  \(path.appending(Self.mark))")
        return lines.joined(separator: "\n")
    }
}
