/// A version in between that renames what a migration in one step loses.
///
/// A renaming identifier of that version names the old property; the destination does not repeat
/// it. A migration to that version first, and from there to the destination, keeps the data.
package struct IntermediateRename: Hashable, Sendable, Codable {
    /// Name of the version.
    package let version: String
    /// What that version calls it: `Entity.property`, or `Entity`.
    package let name: String

    package init(version: String, name: String) {
        self.version = version
        self.name = name
    }
}

extension IntermediateRename: CustomStringConvertible {
    package var description: String {
        "version \(version) renames it to \(name): migrate to that version first, or repeat its "
            + "renaming identifier in the destination"
    }
}
