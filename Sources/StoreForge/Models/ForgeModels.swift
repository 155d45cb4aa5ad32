import CoreDataStore
package import ManagedObjectModel

/// Models of which recipes are made: what benchmarks measure and what demos show.
///
/// Consecutive versions of each can be migrated by inference: names that changed carry renaming
/// identifiers, and required attributes that are new have defaults.
package enum ForgeModels {
    /// Rows of about a hundred bytes with eight attributes, one of them indexed.
    ///
    /// Version 2 adds an attribute with a default and renames another one, so that every row is
    /// rewritten.
    package static func smallRows(version: Int) throws(ModelError) -> Model {
        let isFirst = version == 1
        var reading = Entity(
            name: "Reading",
            attributes: [
                Attribute(name: "sensor", type: .integer32, isOptional: false, isIndexed: true),
                Attribute(name: "sequence", type: .integer64, isOptional: false),
                Attribute(name: "isValid", type: .boolean, isOptional: false),
                Attribute(name: "takenAt", type: .date, isOptional: false),
                Attribute(name: "value", type: .double, isOptional: false),
                Attribute(name: "unit", type: .string),
                Attribute(name: "identifier", type: .uuid, isOptional: false),
            ],
            fetchIndexes: [
                FetchIndex(name: "sensor", elements: [FetchIndexElement(.property("sensor"))])
            ])
        if isFirst {
            reading.attributes.append(Attribute(name: "note", type: .string))
        } else {
            reading.attributes += [
                Attribute(name: "remark", type: .string, renamingIdentifier: "note"),
                Attribute(
                    name: "quality", type: .integer16, isOptional: false,
                    defaultValue: .integer(1)),
            ]
        }
        return try Model(entities: [reading], versionIdentifiers: ["\(version)"])
    }

    /// Large binaries.
    ///
    /// In version 1 `Photo` inherits from `Item` and lies in its table; in version 2 it is an
    /// entity of its own, and so its binaries move to another table.
    package static func largeBinaries(version: Int) throws(ModelError) -> Model {
        let shared = [
            Attribute(name: "createdAt", type: .date, isOptional: false),
            Attribute(name: "title", type: .string),
        ]
        let own = [
            Attribute(name: "data", type: .binary, isOptional: false),
            Attribute(name: "height", type: .integer32, isOptional: false),
            Attribute(name: "width", type: .integer32, isOptional: false),
        ]
        let item = Entity(name: "Item", attributes: shared)
        let photo =
            version == 1
            ? Entity(name: "Photo", parent: "Item", attributes: own)
            : Entity(name: "Photo", attributes: own + shared)
        return try Model(entities: [item, photo], versionIdentifiers: ["\(version)"])
    }
}

extension ForgeRecipe {
    /// Rows of about 127 bytes on the disk, an integer index included.
    package static func smallRows(
        _ count: Int, seed: UInt64 = 1
    ) throws(ModelError) -> ForgeRecipe {
        var recipe = ForgeRecipe(model: try ForgeModels.smallRows(version: 1), seed: seed)
        recipe.rows = ["Reading": count]
        recipe.bytesByAttribute = [
            PropertyKey("Reading", "unit"): 2...8, PropertyKey("Reading", "note"): 42...82,
        ]
        return recipe
    }

    /// Photos with binaries of exactly so many bytes, and a tenth as many plain items.
    package static func largeBinaries(
        _ count: Int, bytes: Int, seed: UInt64 = 1
    ) throws(ModelError) -> ForgeRecipe {
        var recipe = ForgeRecipe(model: try ForgeModels.largeBinaries(version: 1), seed: seed)
        recipe.rows = ["Photo": count, "Item": count / 10]
        recipe.bytesByAttribute = [PropertyKey("Photo", "data"): bytes...bytes]
        return recipe
    }
}
