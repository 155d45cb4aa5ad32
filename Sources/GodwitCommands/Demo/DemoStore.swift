import CoreDataStore
import DurableFiles
import ManagedObjectModel
import StoreForge

/// One store of the demo: the backup of a notes app, at a version of its model.
struct DemoStore {
    /// The name of its file.
    let fileName: String
    let version: Int
    let notes: Int
    let seed: UInt64
    /// The most bytes of an attachment.
    var attachmentBytes = 150_000
    /// Whether its second half is thrown away once it is made.
    var isBroken = false

    /// 24 small stores of versions 1 and 2, one that is cut off in the middle, and one of about
    /// 200 MB.
    static let all: [DemoStore] =
        (1...24).map { number in
            DemoStore(
                fileName: "user-\(number < 10 ? "0" : "")\(number).sqlite",
                version: number.isMultiple(of: 3) ? 2 : 1, notes: 120 + 35 * (number % 9),
                seed: UInt64(number))
        } + [
            DemoStore(
                fileName: "user-25-broken.sqlite", version: 1, notes: 400, seed: 25,
                isBroken: true),
            DemoStore(
                fileName: "user-26-large.sqlite", version: 1, notes: 470_000, seed: 26,
                attachmentBytes: 1_500),
        ]

    /// Makes the store in a folder.
    ///
    /// - Returns: bytes of its database.
    /// - Throws: `ForgeError`, or `ModelError` for a model that is none, which a test rules out.
    func forge(in folder: FilePath) throws -> Int64 {
        let path = folder.appending(FilePath(fileName))
        var recipe = try ForgeRecipe.notes(version: version, notes: notes, seed: seed)
        recipe.bytesByAttribute = [PropertyKey("Attachment", "content"): 0...attachmentBytes]
        let receipt = try Forge(recipe).write(to: path)
        guard isBroken else { return receipt.bytes }
        let file = try DurableFileSystem().openForWriting(path)
        try file.setSize(receipt.bytes / 2 / 4096 * 4096)
        try file.close()
        return receipt.bytes / 2
    }

    /// An empty store of the newest version: what the app's new version would make.
    static func template() throws -> ForgeRecipe {
        var recipe = try ForgeRecipe.notes(version: 3, notes: 0, seed: 3)
        recipe.rows = recipe.rows.mapValues { _ in 0 }
        recipe.defaultRows = 0
        return recipe
    }
}
