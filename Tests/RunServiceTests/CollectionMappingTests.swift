import CoreDataStore
import Foundation
import GRDB
import ManagedObjectModel
import MappingFiles
import MigrationPlanning
import MigrationPlans
import MigrationValidation
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Values and filters for which the members of collections are looked at one by one.
@Suite("Mapped migrations: collections") struct CollectionMappingTests {
    private func model(_ added: [Attribute]) throws -> Model {
        var entities = try ForgeModels.notes(version: 3).numberedEntities
        let place = try #require(entities.firstIndex { $0.name == "Folder" })
        entities[place].attributes += added
        return try Model(entities: entities)
    }

    private func options(_ strategy: Strategy, _ yaml: String) throws -> PlanOptions {
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
        var options = PlanOptions(strategy: strategy, chunkBytes: 8192)
        options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
        options.now = 700_000_000
        return options
    }

    private static let added = [
        Attribute(name: "pinned", type: .integer64), Attribute(name: "hasPinned", type: .boolean),
        Attribute(name: "files", type: .integer64), Attribute(name: "first", type: .string),
        Attribute(name: "last", type: .string), Attribute(name: "siblings", type: .integer64),
        Attribute(name: "titles", type: .integer64), Attribute(name: "isAlone", type: .boolean),
    ]

    private static let yaml = """
        godwit-mapping: 1
        entities:
          - entity: Folder
            attributes:
              pinned: SUBQUERY($source.notes, $x, $x.isPinned == YES AND $x.title != nil).@count
              hasPinned: TERNARY(ANY $source.notes.isPinned == YES, YES, NO)
              files: count($source.notes.@distinctUnionOfSets.attachments)
              first: $source.notes[FIRST].title
              last: $source.notes[LAST].title
              siblings: $source.parent.subfolders.@count
              titles: count($source.notes.title)
              isAlone: TERNARY($source IN $source.parent.subfolders, NO, YES)
        """

    /// The same as SQL that is written by hand.
    private static let query = """
        SELECT f.Z_PK,
          (SELECT count(*) FROM ZNOTE n
            WHERE n.ZFOLDER = f.Z_PK AND n.ZISPINNED AND n.ZTITLE IS NOT NULL),
          EXISTS (SELECT 1 FROM ZNOTE n WHERE n.ZFOLDER = f.Z_PK AND n.ZISPINNED),
          (SELECT count(*) FROM ZNOTE n JOIN ZELEMENT a ON a.ZNOTE = n.Z_PK
            WHERE n.ZFOLDER = f.Z_PK),
          (SELECT n.ZTITLE FROM ZNOTE n WHERE n.ZFOLDER = f.Z_PK
            ORDER BY n.Z_FOK_FOLDER, n.Z_PK LIMIT 1),
          (SELECT n.ZTITLE FROM ZNOTE n WHERE n.ZFOLDER = f.Z_PK
            ORDER BY n.Z_FOK_FOLDER DESC, n.Z_PK DESC LIMIT 1),
          CASE WHEN f.ZPARENT IN (SELECT Z_PK FROM ZFOLDER) THEN
            (SELECT count(*) FROM ZFOLDER s WHERE s.ZPARENT = f.ZPARENT) END,
          (SELECT count(DISTINCT n.ZTITLE) FROM ZNOTE n WHERE n.ZFOLDER = f.Z_PK),
          f.ZPARENT IS NULL OR f.ZPARENT NOT IN (SELECT Z_PK FROM ZFOLDER)
        FROM ZFOLDER f ORDER BY 1
        """

    @Test(arguments: [Strategy.whole, .partitioned])
    func valuesEqualHandwrittenSQL(strategy: Strategy) throws {
        try StoreLab.run { lab in
            try lab.forge(try ForgeRecipe.notes(version: 3, notes: 200, seed: 5))
            try lab.damage(
                "UPDATE ZNOTE SET ZTITLE = NULL WHERE Z_PK % 5 = 0; "
                    + "UPDATE ZNOTE SET ZTITLE = 'it''s ' || char(0x1F600) || ' ' || Z_PK % 9 "
                    + "WHERE Z_PK % 3 = 0")
            let outcome = try lab.migrate(
                to: .model(try DestinationModel(model: model(Self.added))),
                options: options(strategy, Self.yaml))
            #expect(outcome.validation.isEqual)
            let wanted = try lab.raw { try Row.fetchAll($0, sql: Self.query) }
            let found = try lab.raw(lab.output) {
                try Row.fetchAll(
                    $0,
                    sql: "SELECT Z_PK, ZPINNED, ZHASPINNED, ZFILES, ZFIRST, ZLAST, ZSIBLINGS, "
                        + "ZTITLES, ZISALONE FROM ZFOLDER ORDER BY 1")
            }
            #expect(wanted.count > 5)
            #expect(
                wanted.map { Array($0.databaseValues) } == found.map { Array($0.databaseValues) })
        }
    }

    @Test("a filter may ask for members")
    func filter() throws {
        let yaml = """
            godwit-mapping: 1
            entities:
              - entity: Folder
                filter: ANY notes.isPinned == YES AND notes.@count > 1
            """
        try StoreLab.run { lab in
            try lab.forge(try ForgeRecipe.notes(version: 3, notes: 200, seed: 6))
            _ = try lab.migrate(
                to: .model(try DestinationModel(model: model([]))),
                options: options(.partitioned, yaml))
            let wanted = try lab.raw {
                try Int64.fetchAll(
                    $0,
                    sql: "SELECT Z_PK FROM ZFOLDER f WHERE (SELECT max(n.ZISPINNED) "
                        + "AND count(*) > 1 FROM ZNOTE n WHERE n.ZFOLDER = f.Z_PK) ORDER BY 1")
            }
            let found = try lab.raw(lab.output) {
                try Int64.fetchAll($0, sql: "SELECT Z_PK FROM ZFOLDER ORDER BY 1")
            }
            #expect(wanted == found && !wanted.isEmpty)
        }
    }

    @Test("a value in external storage is refused before the start")
    func externalStorage() throws {
        let yaml = """
            godwit-mapping: 1
            entities:
              - entity: Folder
                attributes:
                  files: SUBQUERY($source.notes.attachments, $x, $x.content == nil).@count
            """
        try StoreLab.run { lab in
            try lab.forge(try ForgeRecipe.notes(version: 3, notes: 20, seed: 7))
            let error = #expect(throws: (any Error).self) {
                try lab.migrate(
                    to: .model(
                        DestinationModel(
                            model: model([Attribute(name: "files", type: .integer64)]))),
                    options: options(.whole, yaml))
            }
            #expect(error.map { "\($0)" }?.contains("Attachment.content") == true)
            #expect(!FileManager.default.fileExists(atPath: lab.output.path))
        }
    }
}
