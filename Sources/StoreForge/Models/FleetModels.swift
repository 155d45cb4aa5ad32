import CoreDataStore
package import ManagedObjectModel

/// An app with many small stores, in five versions: twenty tables and sixty indexes each.
extension ForgeModels {
    /// The newest version of the fleet's model.
    package static let newestFleetVersion = 5

    /// Twenty entities, each with a to-one to another and two fetch indexes.
    ///
    /// Version 2 renames `note` to `remark` in every second entity, version 3 adds `quality` with a
    /// default to all, version 4 renames `Window` to `Pane`, version 5 adds `label` with a default
    /// to every second entity and renames `amount` to `total`. From any version to the newest every
    /// row is rewritten.
    package static func fleet(version: Int) throws(ModelError) -> Model {
        let names = fleetNames(version)
        let entities = names.indices.map { place in
            Entity(
                name: names[place], attributes: fleetAttributes(place, version),
                relationships: [
                    Relationship(
                        name: "owner", destination: names[(place + 7) % names.count],
                        inverse: "members"),
                    Relationship(
                        name: "members",
                        destination: names[(place + names.count - 7) % names.count],
                        inverse: "owner", maximumCount: 0),
                ],
                fetchIndexes: ["createdAt", "title"].map {
                    FetchIndex(name: $0, elements: [FetchIndexElement(.property($0))])
                },
                renamingIdentifier: names[place] == "Pane" ? "Window" : nil)
        }
        return try Model(entities: entities, versionIdentifiers: ["Fleet \(version)"])
    }

    private static func fleetNames(_ version: Int) -> [String] {
        [
            "Account", "Address", "Album", "Book", "Card", "Contact", "Device", "Event", "Folder",
            "Invoice", "Journal", "Message", "Note", "Order", "Place", "Product", "Recipe", "Task",
            "Trip", version >= 4 ? "Pane" : "Window",
        ]
    }

    private static func fleetAttributes(_ place: Int, _ version: Int) -> [Attribute] {
        let isEven = place % 2 == 0
        var attributes = [
            Attribute(name: "createdAt", type: .date, isOptional: false, isIndexed: true),
            Attribute(name: "identifier", type: .uuid, isOptional: false),
            Attribute(name: "isHidden", type: .boolean, isOptional: false),
            Attribute(name: "rank", type: .integer32),
            Attribute(name: "title", type: .string, isOptional: false, isIndexed: true),
            version >= 5
                ? Attribute(name: "total", type: .double, renamingIdentifier: "amount")
                : Attribute(name: "amount", type: .double),
            version >= 2 && isEven
                ? Attribute(name: "remark", type: .string, renamingIdentifier: "note")
                : Attribute(name: "note", type: .string),
        ]
        if version >= 3 {
            attributes.append(
                Attribute(
                    name: "quality", type: .integer16, isOptional: false,
                    defaultValue: .integer(1)))
        }
        if version >= 5, isEven {
            attributes.append(
                Attribute(
                    name: "label", type: .string, isOptional: false, defaultValue: .text("none")))
        }
        return attributes
    }
}

extension ForgeRecipe {
    /// A small store of about half a megabyte.
    package static func fleet(version: Int, seed: UInt64) throws(ModelError) -> ForgeRecipe {
        var recipe = ForgeRecipe(model: try ForgeModels.fleet(version: version), seed: seed)
        recipe.defaultRows = 75
        recipe.textBytes = 8...40
        recipe.metadata = ForgeRecipe.sampleMetadata
        return recipe
    }
}
