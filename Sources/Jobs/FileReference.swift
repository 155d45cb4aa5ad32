/// A file by the name of a root and a path below it: what a job says instead of an absolute
/// path, so that every machine finds the file in its own folders.
package struct FileReference: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The root's name, such as `run`, `source` or `output`.
    package let root: String
    /// Relative, `/` between names, never `..`; bytes that are no UTF-8 are escaped.
    package let path: String

    package init(root: String, path: String) {
        self.root = root
        self.path = path
    }

    package var description: String { "\(root):\(path)" }
}
