import DurableFiles
import Foundation
import ManagedObjectModel
import StoreForge

/// A fleet of very many very small stores: copies of a forged one, each a file of its own.
struct TinyFleet {
    let place: BenchFolder
    let stores: Int

    /// Stores of one folder.
    private static let folderSize = 1000

    /// Makes the fleet unless it is there.
    ///
    /// - Returns: its folder, and a template of the destination's version.
    func make() throws -> (folder: String, template: String) {
        let template = try place.template(
            try Self.model(version: 2), as: "tiny-template.sqlite")
        let name = "tiny-\(stores)"
        let folder = place.file(name)
        let manager = FileManager.default
        if manager.fileExists(atPath: folder) { return (folder, template) }
        var recipe = ForgeRecipe(model: try Self.model(version: 1))
        recipe.defaultRows = 3
        recipe.pageSize = 1024
        let store = try place.forge(recipe, as: "tiny.sqlite")
        let bytes = try Data(contentsOf: URL(fileURLWithPath: store))
        print("making \(stores) stores of \(bytes.count) bytes …")
        let unfinished = place.file(name + ".unfinished")
        if manager.fileExists(atPath: unfinished) { try manager.removeItem(atPath: unfinished) }
        for number in 0..<stores {
            let part = "\(unfinished)/\(number / Self.folderSize)"
            if number % Self.folderSize == 0 {
                try manager.createDirectory(atPath: part, withIntermediateDirectories: true)
            }
            try bytes.write(to: URL(fileURLWithPath: "\(part)/\(number).sqlite"))
        }
        try manager.moveItem(atPath: unfinished, toPath: folder)
        return (folder, template)
    }

    /// One entity; version 2 adds an attribute with a default.
    private static func model(version: Int) throws -> Model {
        var attributes = [
            Attribute(name: "key", type: .string, isOptional: false),
            Attribute(name: "value", type: .integer64, isOptional: false),
        ]
        if version > 1 {
            attributes.append(
                Attribute(
                    name: "isSet", type: .boolean, isOptional: false,
                    defaultValue: .boolean(true)))
        }
        return try Model(
            entities: [Entity(name: "Setting", attributes: attributes)],
            versionIdentifiers: ["\(version)"])
    }
}
