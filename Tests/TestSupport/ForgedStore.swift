import CoreDataStore
package import DurableFiles
package import StoreForge

/// The stores that tests migrate, made without Apple's tools.
package enum ForgedStore {
    /// Writes a small note-taking store in WAL mode, some of whose attachments are files beside
    /// it.
    ///
    /// - Parameters:
    ///   - path: where nothing is yet.
    ///   - version: of the model, from 1 to 3.
    ///   - notes: how many notes; a fifth as many attachments.
    ///   - seed: of all that is random.
    ///   - change: changes of the recipe.
    /// - Returns: the path.
    /// - Throws: `ForgeError`, `ModelError`.
    @discardableResult
    package static func notes(
        at path: FilePath, version: Int = 1, notes: Int = 60, seed: UInt64 = 1,
        change: (inout ForgeRecipe) -> Void = { _ in }
    ) throws -> FilePath {
        var recipe = try ForgeRecipe.notes(version: version, notes: notes, seed: seed)
        recipe.bytesByAttribute = [PropertyKey("Attachment", "content"): 0...9_000]
        recipe.externalThreshold = 8_000
        recipe.journal = .writeAheadLog
        change(&recipe)
        _ = try Forge(recipe).write(to: path)
        return path
    }
}
