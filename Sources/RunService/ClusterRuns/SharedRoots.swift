package import DurableFiles
package import Jobs
import MigrationEngine
import MigrationPlans
package import RunLedger
package import StateFolders
import StoreRuns

/// The folders that a coordinator and its workers both see, each under one name.
package struct SharedRoots: Sendable {
    let environment: JobEnvironment
    /// The deepest folder first: a path is named by the root that lies nearest to it.
    private let roots: [FileRoot]

    /// - Parameters:
    ///   - folders: by their names.
    ///   - files: through which durable actions go.
    /// - Throws: `RunError.file` for a folder that is not there.
    package init(
        _ folders: [String: FilePath], files: DurableFileSystem = DurableFileSystem()
    ) throws(RunError) {
        do throws(DurableFileError) {
            var roots: [FileRoot] = []
            for (name, folder) in folders.sorted(by: { $0.key < $1.key }) {
                roots.append(try FileRoot(name: name, folder: folder))
            }
            self.roots = roots.sorted { $0.folder.bytes.count > $1.folder.bytes.count }
            environment = JobEnvironment(roots: roots, files: files.with(.refused))
        } catch {
            throw .file(error)
        }
    }

    /// Their names.
    package var names: [String] { roots.map(\.name) }

    /// Their folders, without symbolic links.
    var folders: [FilePath] { roots.map(\.folder) }

    /// The root that a path lies in; nil where workers do not see it.
    ///
    /// - Parameter path: without symbolic links.
    /// - Returns: the root.
    func root(of path: FilePath) -> FileRoot? { roots.first { path.isInside($0.folder) } }

    /// How jobs name a path.
    ///
    /// - Parameter path: without symbolic links.
    /// - Returns: the root's name and the path below it.
    /// - Throws: `RunError.notShared` for one outside of every root.
    package func reference(to path: FilePath) throws(RunError) -> FileReference {
        let root = try nearest(to: path)
        return try RunError.translating {
            let rooted = try root.rooted(path)
            return FileReference(root: rooted.root, path: rooted.path.description)
        }
    }

    private func nearest(to path: FilePath) throws(RunError) -> FileRoot {
        guard let root = root(of: path) else {
            throw .notShared(path)
        }
        return root
    }

    /// Where something that a client names is, patterns as they are.
    ///
    /// Its escapes are decoded, every rule of `RootedPath` is checked, and what exists of it is
    /// resolved below the root, in this order. A link in the place of the last name is kept, so
    /// that a store has the name that it was given; where it leads is checked here and again at
    /// every use.
    ///
    /// - Throws: `RunError` for an unknown root, and for a path that leaves its root.
    package func place(of reference: FileReference) throws(RunError) -> FilePath {
        let root = try root(named: reference.root)
        return try RunError.translating {
            let rooted = try RootedPath(reference)
            _ = try root.resolve(rooted, links: .followed)
            guard let name = rooted.path.components.last else { return root.folder }
            let above = rooted.path.bytes.dropLast(name.count)
            let folder = try root.resolve(
                try RootedPath(root: rooted.root, path: FilePath(bytes: above.dropLast())),
                links: .followed)
            return folder.appending(FilePath(bytes: name))
        }
    }

    private func root(named name: String) throws(RunError) -> FileRoot {
        guard let root = environment.roots[name] else {
            throw .nothingToDo(
                "the coordinator has no root \(PrintableText.line(name)); its roots: "
                    + names.sorted().joined(separator: ", "))
        }
        return root
    }

    /// A path that lies in a root and still holds no symbolic link, as far as it exists.
    ///
    /// - Parameter path: absolute; without links when it was found.
    /// - Returns: the path that later steps use.
    /// - Throws: `RunError.notShared` where it lies in none, `RunError.file` where a
    ///   link is on the way, or it cannot be looked at.
    func confined(_ path: FilePath) throws(RunError) -> FilePath {
        let root = try nearest(to: path)
        return try RunError.translating { try root.resolve(try root.rooted(path)) }
    }

    /// Looks whether workers see a store and the place of its result.
    ///
    /// A symbolic link on the way fails that store alone, when its turn comes.
    ///
    /// - Throws: `RunError.notShared` where they do not.
    package func check(_ store: FoundStore) throws(RunError) {
        for path in [store.path, store.output?.database].compactMap(\.self) {
            do throws(RunError) {
                _ = try confined(path)
            } catch {
                guard case .file(.refusedPath) = error else { throw error }
            }
        }
    }

    /// The path of what a job names.
    ///
    /// - Throws: `RunError` for an unknown root, and for a path that leaves its root.
    package func resolve(_ reference: FileReference) throws(RunError) -> FilePath {
        _ = try root(named: reference.root)
        return try RunError.engine { () throws(EngineError) in try environment.resolve(reference) }
    }
}
