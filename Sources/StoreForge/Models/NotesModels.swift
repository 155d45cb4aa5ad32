import CoreDataStore
package import ManagedObjectModel

/// A note-taking app in three versions.
extension ForgeModels {
    /// Folders, notes, tags (many-to-many) and attachments (external binaries).
    ///
    /// Version 2 renames `Note.body` to `text`, adds attributes with defaults and nests folders.
    /// Version 3 orders a folder's notes, gives `Note` a sub-entity and puts attachments under a
    /// new abstract entity, so that they move to another table.
    package static func notes(version: Int) throws(ModelError) -> Model {
        var entities = [folder(version), note(version), tag(version), attachment(version)]
        if version >= 3 {
            entities += [
                Entity(
                    name: "Checklist", parent: "Note",
                    attributes: [
                        Attribute(
                            name: "doneCount", type: .integer32, isOptional: false,
                            defaultValue: .integer(0))
                    ]),
                Entity(
                    name: "Element", isAbstract: true,
                    attributes: [
                        Attribute(
                            name: "position", type: .integer16, isOptional: false,
                            defaultValue: .integer(0))
                    ]),
                Entity(
                    name: "Link", parent: "Element",
                    attributes: [Attribute(name: "address", type: .uri)]),
            ]
        }
        return try Model(entities: entities, versionIdentifiers: ["Notes \(version)"])
    }

    private static func folder(_ version: Int) -> Entity {
        var folder = Entity(
            name: "Folder",
            attributes: [
                Attribute(name: "createdAt", type: .date),
                Attribute(name: "name", type: .string, isOptional: false, isIndexed: true),
            ],
            relationships: [
                Relationship(
                    name: "notes", destination: "Note", inverse: "folder", maximumCount: 0,
                    isOrdered: version >= 3, deleteRule: .cascade)
            ],
            fetchIndexes: [
                FetchIndex(name: "name", elements: [FetchIndexElement(.property("name"))])
            ])
        if version >= 2 {
            folder.relationships += [
                Relationship(name: "parent", destination: "Folder", inverse: "subfolders"),
                Relationship(
                    name: "subfolders", destination: "Folder", inverse: "parent",
                    maximumCount: 0),
            ]
        }
        return folder
    }

    private static func note(_ version: Int) -> Entity {
        var note = Entity(
            name: "Note",
            attributes: [
                Attribute(name: "createdAt", type: .date, isOptional: false),
                Attribute(name: "identifier", type: .uuid, isOptional: false),
                Attribute(
                    name: "isPinned", type: .boolean, isOptional: false,
                    defaultValue: .boolean(false)),
                Attribute(name: "title", type: .string),
            ],
            relationships: [
                Relationship(
                    name: "attachments", destination: "Attachment", inverse: "note",
                    maximumCount: 0, deleteRule: .cascade),
                Relationship(name: "folder", destination: "Folder", inverse: "notes"),
                Relationship(
                    name: "tags", destination: "Tag", inverse: "notes", maximumCount: 0),
            ],
            fetchIndexes: [
                FetchIndex(
                    name: "byDate",
                    elements: [
                        FetchIndexElement(.property("createdAt"), isAscending: false),
                        FetchIndexElement(.property("title")),
                    ])
            ])
        if version == 1 {
            note.attributes.append(Attribute(name: "body", type: .string))
        } else {
            note.attributes += [
                Attribute(name: "text", type: .string, renamingIdentifier: "body"),
                Attribute(
                    name: "priority", type: .integer16, isOptional: false,
                    defaultValue: .integer(0)),
            ]
        }
        return note
    }

    private static func tag(_ version: Int) -> Entity {
        var tag = Entity(
            name: "Tag", attributes: [Attribute(name: "name", type: .string, isOptional: false)],
            relationships: [
                Relationship(
                    name: "notes", destination: "Note", inverse: "tags", maximumCount: 0)
            ],
            uniquenessConstraints: [["name"]])
        if version >= 2 {
            tag.attributes.append(
                Attribute(
                    name: "colour", type: .string, isOptional: false,
                    defaultValue: .text("blue")))
        }
        return tag
    }

    private static func attachment(_ version: Int) -> Entity {
        Entity(
            name: "Attachment", parent: version >= 3 ? "Element" : nil,
            attributes: [
                Attribute(
                    name: "content", type: .binary, allowsExternalBinaryDataStorage: true),
                Attribute(name: "fileName", type: .string),
                Attribute(name: "settings", type: .transformable),
            ],
            relationships: [
                Relationship(name: "note", destination: "Note", inverse: "attachments")
            ])
    }
}

extension ForgeRecipe {
    /// A small note-taking store: folders, notes, tags, attachments with files beside it.
    package static func notes(
        version: Int = 1, notes: Int, seed: UInt64 = 1
    ) throws(ModelError) -> ForgeRecipe {
        var recipe = ForgeRecipe(model: try ForgeModels.notes(version: version), seed: seed)
        recipe.rows = [
            "Folder": notes / 20 + 1, "Note": notes, "Tag": notes / 10 + 1,
            "Attachment": notes / 5 + 1,
        ]
        if version >= 3 { recipe.rows.merge(["Checklist": notes / 10, "Link": notes / 10]) { $1 } }
        recipe.bytesByAttribute = [PropertyKey("Attachment", "content"): 0...200_000]
        recipe.externalThreshold = 131_072
        recipe.deletedShare = 0.05
        recipe.metadata = ForgeRecipe.sampleMetadata
        return recipe
    }
}
