package import DurableFiles
package import Jobs
package import MigrationPlans

/// Where a job's files are on this machine.
package struct JobEnvironment: Sendable {
    /// Folders by the name that jobs give them.
    package let roots: [String: FileRoot]
    package let files: DurableFileSystem
    /// The migration policies that the process carries.
    package let policies: PolicyLibrary
    /// Whether jobs may run programs between two steps: never those that come over a network.
    package let runsPrograms: Bool

    package init(
        roots: [FileRoot], files: DurableFileSystem = DurableFileSystem(),
        policies: PolicyLibrary = PolicyLibrary(), runsPrograms: Bool = false
    ) {
        self.policies = policies
        self.runsPrograms = runsPrograms
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
        do throws(DurableFileError) {
            return try root.resolve(RootedPath(reference))
        } catch {
            throw .file(error)
        }
    }
}

extension RootedPath {
    /// The place that a reference names; what peers write is decoded first and checked then, for
    /// an escape may stand for any byte.
    ///
    /// - Throws: `DurableFileError.refusedPath` with the rule that is broken.
    package init(_ reference: FileReference) throws(DurableFileError) {
        guard let path = FilePath(escaped: reference.path) else {
            throw .refusedPath(
                FilePath(reference.path), reason: "a backslash in it begins no known escape")
        }
        try self.init(root: reference.root, path: path)
    }
}
