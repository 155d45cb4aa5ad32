package import DurableFiles
package import Jobs

/// Where a job's files are on this machine.
package struct JobEnvironment: Sendable {
    /// Folders by the name that jobs give them.
    package let roots: [String: FileRoot]
    package let files: DurableFileSystem

    package init(roots: [FileRoot], files: DurableFileSystem = DurableFileSystem()) {
        self.roots = Dictionary(
            roots.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.files = files
    }

    /// The path of a file that a job names.
    ///
    /// - Throws: `EngineError.file` for an unknown root or a path that leaves it.
    package func resolve(_ reference: FileReference) throws(EngineError) -> FilePath {
        guard let root = roots[reference.root] else {
            throw .internalError("no folder is known for the root \(reference.root)")
        }
        do {
            let path = FilePath(escaped: reference.path) ?? FilePath(reference.path)
            return try root.resolve(RootedPath(root: reference.root, path: path))
        } catch {
            throw .file(error)
        }
    }
}
