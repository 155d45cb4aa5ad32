import DurableFiles

/// Names of tables and indexes that a stranger chose, for people.
enum StrangersName {
    /// The name, short and in one line.
    static func text(_ name: String) -> String {
        String(FilePath(String(name.prefix(64))).description.prefix(128))
    }
}
