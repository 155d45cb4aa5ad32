import CoreDataStore
import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationPlans
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Required relationships whose targets are not there: refused before anything is written.
@Suite("Required relationships") struct RequiredLinkTests {
    private static func note(isFolderRequired: Bool, hasOwner: Bool = false) -> Entity {
        var folder = Relationship(name: "folder", destination: "Folder", inverse: "notes")
        folder.isOptional = !isFolderRequired
        var owner = Relationship(name: "owner", destination: "Person")
        owner.isOptional = false
        return Entity(
            name: "Note", attributes: [Attribute(name: "title", type: .string)],
            relationships: [folder] + (hasOwner ? [owner] : []))
    }

    private static let others = [
        Entity(
            name: "Folder", attributes: [Attribute(name: "name", type: .string)],
            relationships: [
                Relationship(
                    name: "notes", destination: "Note", inverse: "folder", maximumCount: 0),
                Relationship(name: "person", destination: "Person"),
            ]),
        Entity(name: "Person", attributes: [Attribute(name: "name", type: .string)]),
    ]

    private static func refusal(
        _ edits: String, to note: Entity, mapping yaml: String? = nil,
        dangling: DanglingPolicy = .keep, saying texts: [String]
    ) throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(
                model: try Model(entities: [Self.note(isFolderRequired: false)] + others), seed: 3)
            recipe.rows = ["Note": 12, "Folder": 4, "Person": 3]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZNOTE SET ZFOLDER = 1; UPDATE ZFOLDER SET ZPERSON = 1; \(edits)")
            var options = PlanOptions(strategy: .whole)
            options.dangling = dangling
            if let yaml {
                let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
                options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
            }
            let model = try Model(entities: [note] + others)
            try lab.expectRefusal(
                to: .model(try DestinationModel(model: model)), options: options,
                namesStore: false, saying: texts)
        }
    }

    @Test func aReferenceThatIsNullifiedIsNoTarget() throws {
        try Self.refusal(
            "UPDATE ZNOTE SET ZFOLDER = 99 WHERE Z_PK = 5",
            to: Self.note(isFolderRequired: true), dangling: .nullify,
            saying: ["Note.folder has 1 object with a number of links"])
    }

    private static let path = """
        godwit-mapping: 1
        entities:
          - entity: Note
            relationships:
              owner: {source: $source.folder.person, mapping: PersonToPerson}
          - entity: Person
        """

    @Test(arguments: [
        "UPDATE ZNOTE SET ZFOLDER = NULL WHERE Z_PK = 5",
        "UPDATE ZNOTE SET ZFOLDER = 2 WHERE Z_PK = 5; UPDATE ZFOLDER SET ZPERSON = NULL "
            + "WHERE Z_PK = 2",
        "UPDATE ZNOTE SET ZFOLDER = 2 WHERE Z_PK = 5; UPDATE ZFOLDER SET ZPERSON = 77 "
            + "WHERE Z_PK = 2",
    ])
    func aPathThatLeadsNowhereIsNoTarget(edits: String) throws {
        try Self.refusal(
            edits, to: Self.note(isFolderRequired: false, hasOwner: true), mapping: Self.path,
            saying: [
                "entity Note has 1 object of which $source.folder.person leads to no object",
                "Note.owner is required", "/Note/p5",
            ])
    }

    @Test func whatAFilterLeavesOutIsNoTarget() throws {
        try Self.refusal(
            "UPDATE ZPERSON SET ZNAME = 'x'; UPDATE ZFOLDER SET ZPERSON = 2 WHERE Z_PK = 2; "
                + "UPDATE ZPERSON SET ZNAME = 'y' WHERE Z_PK = 2; "
                + "UPDATE ZNOTE SET ZFOLDER = 2 WHERE Z_PK > 10",
            to: Self.note(isFolderRequired: false, hasOwner: true),
            mapping: Self.path + "\n    filter: name == 'x'",
            saying: ["entity Note has 2 objects of which $source.folder.person leads to no object"])
    }
}
