import CoreDataStore
import GRDB
import ManagedObjectModel
import MappingModel
import MigrationPlans
import MigrationValidation
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Relationships that get their links by a path, and whose other side the models know.
@Suite("Paths and inverses") struct PathInverseTests {
    private static func model(isNew: Bool) throws -> Model {
        func link(_ name: String, _ to: String, _ inverse: String, isMany: Bool = false)
            -> Relationship
        {
            Relationship(
                name: name, destination: to, inverse: inverse, maximumCount: isMany ? 0 : 1)
        }
        let text = Attribute(name: "name", type: .string)
        return try Model(entities: [
            Entity(
                name: "Note", attributes: isNew ? [text, Attribute(name: "x", type: .string)] : [],
                relationships: [
                    link("editor", "Person", "edits"), link("folder", "Folder", "notes"),
                ]),
            Entity(
                name: "Folder", attributes: [text],
                relationships: [
                    link("head", "Person", "leads"), link("notes", "Note", "folder", isMany: true),
                ]),
            Entity(
                name: "Person", attributes: [text],
                relationships: [
                    link("edits", "Note", "editor", isMany: true), link("leads", "Folder", "head"),
                ]),
            Entity(name: "Boss", parent: "Person"),
        ])
    }

    /// Every note is edited by the next person, and folders are led by a person and by bosses.
    private static func forge(_ lab: StoreLab) throws {
        var recipe = ForgeRecipe(model: try model(isNew: false), seed: 6)
        recipe.rows = ["Note": 12, "Folder": 3, "Person": 3, "Boss": 2]
        try lab.forge(recipe)
        // The columns that name the target's entity have a number in their names.
        let named = try lab.raw { database in
            try ["ZNOTE", "ZFOLDER"].map { table in
                try String.fetchOne(
                    database,
                    sql: "SELECT name FROM pragma_table_info('\(table)') "
                        + "WHERE name GLOB 'Z[0-9]*_EDITOR' OR name GLOB 'Z[0-9]*_HEAD'"
                )
            }
        }
        let (editor, head) = (try #require(named[0]), try #require(named[1]))
        try lab.damage(
            "UPDATE ZNOTE SET ZFOLDER = 1 + Z_PK % 3, (ZEDITOR, \(editor)) = "
                + "(SELECT Z_PK, Z_ENT FROM ZPERSON p WHERE p.Z_PK = 1 + ZNOTE.Z_PK % 3); "
                + "UPDATE ZFOLDER SET ZHEAD = NULL, \(head) = NULL; "
                + "UPDATE ZPERSON SET ZLEADS = NULL")
        for folder in 1...3 {
            let kind = folder == 1 ? "Person" : "Boss"
            try lab.damage(
                "UPDATE ZPERSON SET ZLEADS = \(folder) WHERE Z_PK = (SELECT min(Z_PK) FROM ZPERSON "
                    + "WHERE ZLEADS IS NULL AND Z_ENT = (SELECT Z_ENT FROM Z_PRIMARYKEY "
                    + "WHERE Z_NAME = '\(kind)')); "
                    + "UPDATE ZFOLDER SET (ZHEAD, \(head)) = (SELECT Z_PK, Z_ENT FROM ZPERSON "
                    + "WHERE ZLEADS = \(folder)) WHERE Z_PK = \(folder)")
        }
    }

    private static let path = """
        godwit-mapping: 1
        entities:
          - entity: Note
            relationships:
              editor: {source: $source.folder.head, mapping: PersonToPerson}
        """

    /// Notes with an editor, and those whose editor is not the head of their folder.
    private static func editors(_ lab: StoreLab) throws -> [Int?] {
        try lab.raw(lab.output) { database in
            try [
                "SELECT count(*) FROM ZNOTE WHERE ZEDITOR IS NOT NULL",
                "SELECT count(*) FROM ZNOTE n JOIN ZFOLDER f ON f.Z_PK = n.ZFOLDER "
                    + "WHERE n.ZEDITOR IS NOT f.ZHEAD",
            ].map { try Int.fetchOne(database, sql: $0) }
        }
    }

    private static func destination() throws -> DestinationChoice {
        .model(try DestinationModel(model: model(isNew: true)))
    }

    /// The other side has a source of the same name, which is not inferred beside the path; of the
    /// folders, one is led by a person and two by bosses.
    @Test(arguments: [
        ("\n  - entity: Person", [4, 8]),
        ("\n  - entity: Person\n    relationships: {edits: unset}", [4, 8]),
        // The same links, seen from the other side.
        (
            "\n  - entity: Person\n    relationships:\n"
                + "      edits: {source: $source.leads.notes, mapping: NoteToNote}", [4, 8]
        ),
    ])
    func thePathAloneLinks(others: String, expected: [Int]) throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                try Self.forge(lab)
                let outcome = try lab.migrate(
                    to: Self.destination(),
                    options: PolicyLab.options(strategy, mapping: Self.path + others))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                #expect(try Self.editors(lab) == expected)
                let lost = outcome.validation.losses.map(\.line)
                #expect(
                    lost.contains(
                        "Note.editor: 8 links of a path to objects that the relationship does not "
                            + "take"), "\(lost)")
            }
        }
    }

    /// Without a mapping, a path leads to what any of them makes.
    @Test func aPathToAFamily() throws {
        try StoreLab.run { lab in
            try Self.forge(lab)
            let mapping = """
                godwit-mapping: 1
                entities:
                  - entity: Note
                    relationships: {editor: $source.folder.head}
                """
            let outcome = try lab.migrate(
                to: Self.destination(), options: PolicyLab.options(.whole, mapping: mapping))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            #expect(try Self.editors(lab) == [12, 0])
        }
    }

    /// Passes over one table each follow a path of their own.
    @Test func twoPathsOfOneRelationship() throws {
        for strategy in [MigrationPlans.Strategy.whole, .partitioned] {
            try StoreLab.run { lab in
                try Self.forge(lab)
                try lab.damage("UPDATE ZFOLDER SET ZNAME = NULL WHERE Z_PK = 2")
                let mapping = """
                    godwit-mapping: 1
                    entities:
                      - entity: Note
                        filter: $source.folder.name == nil
                        relationships: {editor: $source.folder.head}
                      - entity: Note
                        name: Named
                        filter: $source.folder.name != nil
                        relationships: {editor: $source.editor.leads.head}
                    """
                let expected = try lab.raw { database in
                    try Int64?.fetchAll(
                        database,
                        sql: "SELECT iif(f.ZNAME IS NULL, f.ZHEAD, l.ZHEAD) FROM ZNOTE n "
                            + "JOIN ZFOLDER f ON f.Z_PK = n.ZFOLDER "
                            + "JOIN ZPERSON p ON p.Z_PK = n.ZEDITOR "
                            + "LEFT JOIN ZFOLDER l ON l.Z_PK = p.ZLEADS ORDER BY n.Z_PK")
                }
                let outcome = try lab.migrate(
                    to: Self.destination(),
                    options: PolicyLab.options(strategy, mapping: mapping))
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                let found = try lab.raw(lab.output) { database in
                    try Int64?.fetchAll(database, sql: "SELECT ZEDITOR FROM ZNOTE ORDER BY Z_PK")
                }
                #expect(found == expected)
                #expect(expected.count == 12 && Set(expected).count > 1)
            }
        }
    }

    @Test(arguments: [
        "{edits: $source.edits}",
        "{edits: {source: $source.leads.head, mapping: NoteToNote}}",
        "{edits: {source: $source.leads.notes, mapping: Other}}",
    ])
    func bothSidesAreRefused(line: String) throws {
        try StoreLab.run { lab in
            try Self.forge(lab)
            let other = "\n  - {source: Note, destination: Note, name: Other, filter: 'NO == YES'}"
            let mapping = Self.path + "\n  - entity: Person\n    relationships: \(line)"
            try lab.expectRefusal(
                to: Self.destination(),
                options: PolicyLab.options(
                    .whole, mapping: mapping + (line.contains("Other") ? other : "")),
                namesStore: false, saying: ["PersonToPerson.edits", "line 7"])
        }
    }

    /// Links of bosses' notes would be left out, because only persons are linked.
    @Test func theOtherSideOfAnotherMappingIsRefused() throws {
        try StoreLab.run { lab in
            try Self.forge(lab)
            let line = "edits: {source: $source.leads.notes, mapping: NoteToNote}"
            let mapping = Self.path + "\n  - entity: Boss\n    relationships: {\(line)}"
            try lab.expectRefusal(
                to: Self.destination(),
                options: PolicyLab.options(
                    .whole, mapping: mapping + "\n  - entity: Person"), namesStore: false,
                saying: ["BossToBoss.edits", "state them on one side"])
        }
    }

    /// Contacts come of old ones, which their persons lead to, and of persons themselves: links of
    /// both kinds never meet.
    @Test(arguments: ["", "\n    relationships: {contacts: $source.contacts}"])
    func linksOfOtherObjectsStay(line: String) throws {
        func model(_ contact: String) throws -> Model {
            try Model(entities: [
                Entity(
                    name: "Person", attributes: [Attribute(name: "name", type: .string)],
                    relationships: [
                        Relationship(
                            name: "contacts", destination: contact, inverse: "person",
                            maximumCount: 0)
                    ]),
                Entity(
                    name: contact, attributes: [Attribute(name: "name", type: .string)],
                    relationships: [
                        Relationship(name: "person", destination: "Person", inverse: "contacts")
                    ]),
            ])
        }
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try model("Old"), seed: 7)
            recipe.rows = ["Person": 5, "Old": 9]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZOLD SET ZPERSON = 1 + Z_PK % 5")
            let mapping = """
                godwit-mapping: 1
                entities:
                  - entity: Person\(line)
                  - {source: Old, destination: Contact}
                  - source: Person
                    destination: Contact
                    name: Emails
                    relationships:
                      person: {source: $source, mapping: PersonToPerson}
                """
            let outcome = try lab.migrate(
                to: .model(DestinationModel(model: model("Contact"))),
                options: PolicyLab.options(.whole, mapping: mapping))
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            let counts = try lab.raw(lab.output) { database in
                try [
                    "SELECT count(*) FROM ZCONTACT WHERE ZPERSON IS NOT NULL",
                    "SELECT count(*) FROM ZCONTACT WHERE ZPERSON = 1",
                ].map { try Int.fetchOne(database, sql: $0) }
            }
            #expect(counts == [14, 2])
        }
    }
}
