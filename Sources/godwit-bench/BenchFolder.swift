import DurableFiles
import Foundation
import ManagedObjectModel
import StoreForge

/// The folder that benchmarks work in.
struct BenchFolder {
    let path: String

    /// - Throws: `CocoaError` when the folder cannot be made.
    init(_ path: String) throws {
        self.path = URL(fileURLWithPath: path).path
        try FileManager.default.createDirectory(
            atPath: self.path, withIntermediateDirectories: true)
    }

    func file(_ name: String) -> String { path + "/" + name }

    /// Forges a store unless it is there.
    func forge(_ recipe: ForgeRecipe, as name: String) throws -> String {
        let place = file(name)
        if !FileManager.default.fileExists(atPath: place) {
            print("making \(name) …")
            let receipt = try Forge(recipe).write(to: FilePath(place))
            print("  \(receipt.rows) rows, \(receipt.bytes >> 20) MiB")
            try DurableFileSystem(links: .followed).syncFile(FilePath(place))
        }
        return place
    }

    /// An empty store of a model: what an expert takes metadata from, and what names a model.
    func template(_ model: Model, as name: String) throws -> String {
        var recipe = ForgeRecipe(model: model)
        recipe.defaultRows = 0
        return try forge(recipe, as: name)
    }

    /// Removes stores of earlier rounds, with what readers left beside them.
    func remove(_ names: [String]) throws {
        for name in names.flatMap({ [$0, $0 + "-wal", $0 + "-shm"] })
        where FileManager.default.fileExists(atPath: file(name)) {
            try FileManager.default.removeItem(atPath: file(name))
        }
    }

    /// This program, to be run as a process of its own.
    static var program: String { ProcessInfo.processInfo.arguments.first ?? "godwit-bench" }
}
