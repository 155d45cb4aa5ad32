import CoreDataStore
import DurableFiles
import ManagedObjectModel
import StoreForge

/// One store of the demo: an app, a version of its model, and a size.
struct DemoStore {
    /// The apps whose backups the demo shows.
    enum App: String {
        case notes, shop
    }

    let app: App
    let version: Int
    /// Notes or orders.
    let objects: Int

    /// The name of its file.
    var fileName: String { "\(app.rawValue)-v\(version).sqlite" }

    /// Three small stores of different versions, and one of about 200 MB.
    static let all = [
        DemoStore(app: .notes, version: 1, objects: 400),
        DemoStore(app: .notes, version: 2, objects: 600),
        DemoStore(app: .notes, version: 3, objects: 300),
        DemoStore(app: .shop, version: 1, objects: 860_000),
    ]

    /// What it is forged from.
    ///
    /// - Throws: `ModelError` for a model that is none, which a test rules out.
    func recipe(objects: Int) throws(ModelError) -> ForgeRecipe {
        switch app {
        case .notes:
            return try .notes(version: version, notes: objects, seed: UInt64(version))
        case .shop:
            var recipe = try ForgeRecipe.shop(
                version: version, orders: objects, seed: UInt64(version))
            recipe.hasApplicationObjects = false
            return recipe
        }
    }

    /// Makes the store among the backups.
    ///
    /// - Returns: a line about it.
    /// - Throws: `ForgeError` or `ModelError`.
    func forge(in folder: DemoFolder) throws -> String {
        let receipt = try Forge(try recipe(objects: objects))
            .write(to: folder.backups.appending(fileName))
        let files =
            receipt.externalFiles > 0
            ? ", \(receipt.externalFiles) external files of "
                + ByteSize(bytes: receipt.externalBytes).words : ""
        return "\(fileName): \(receipt.rows) rows, \(receipt.joinRows) join rows, "
            + ByteSize(bytes: receipt.bytes).words + files
    }

    /// An empty store of the newest version: what the app's new version would make.
    func template() throws -> ForgeRecipe {
        let newest = DemoStore(app: app, version: 3, objects: 0)
        var recipe = try newest.recipe(objects: 0)
        recipe.rows = recipe.rows.mapValues { _ in 0 }
        recipe.defaultRows = 0
        return recipe
    }
}
