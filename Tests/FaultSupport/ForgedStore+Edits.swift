package import DurableFiles
import SafeSQLite
package import StoreForge
package import TestSupport

extension ForgedStore {
    /// Writes a store by a recipe and changes it behind Core Data's back.
    ///
    /// - Parameters:
    ///   - recipe: of the store.
    ///   - path: where nothing is yet.
    ///   - edits: statements that are run on it afterwards, without a guard.
    /// - Throws: `ForgeError`, `StoreError`.
    package static func write(
        _ recipe: ForgeRecipe, to path: FilePath, edits: [String]
    ) throws {
        _ = try Forge(recipe).write(to: path)
        let connection = try Connection(path: path, mode: .readWrite)
        for edit in edits { try connection.execute(edit) }
        try connection.close()
    }
}
