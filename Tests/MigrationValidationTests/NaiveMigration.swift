import CoreDataStore
import DurableFiles
import FaultSupport
import ManagedObjectModel
import MappingModel
import ModelFiles
import SafeSQLite
import StoreFileChecks

@testable import MigrationValidation
import ValidationScans

/// A pair of models with the changes that move rows about, a source written by hand, and its
/// destination written by hand as well: plain SQL of this one mapping.
enum NaiveMigration {
    /// Entities are numbered Employee 1, Manager 2, Team 3.
    static func source() throws -> Model {
        try Model(entities: [
            Entity(
                name: "Employee",
                attributes: [
                    Attribute(name: "name", type: .string, isOptional: false),
                    Attribute(name: "rank", type: .integer32),
                    Attribute(
                        name: "portrait", type: .binary, allowsExternalBinaryDataStorage: true),
                    Attribute(name: "badge", type: .binary),
                    Attribute(name: "gone", type: .string),
                ],
                relationships: [
                    Relationship(name: "team", destination: "Team", inverse: "members"),
                    Relationship(name: "mentor", destination: "Employee"),
                ]),
            Entity(name: "Manager", parent: "Employee"),
            Entity(
                name: "Team", attributes: [Attribute(name: "title", type: .string)],
                relationships: [
                    Relationship(
                        name: "members", destination: "Employee", inverse: "team", maximumCount: 0)
                ]),
        ])
    }

    /// `Archive` shifts all numbers; `name` becomes `fullName`; `rank` becomes a real; `portrait`
    /// comes into the row and `badge` may go to a file; `city` is new with a default; the members
    /// of a team get an order; managers are dropped.
    static func destination() throws -> Model {
        try Model(entities: [
            Entity(name: "Archive", attributes: [Attribute(name: "note", type: .string)]),
            Entity(
                name: "Employee",
                attributes: [
                    Attribute(name: "fullName", type: .string, isOptional: false),
                    Attribute(name: "rank", type: .double),
                    Attribute(name: "portrait", type: .binary),
                    Attribute(
                        name: "badge", type: .binary, allowsExternalBinaryDataStorage: true),
                    Attribute(name: "city", type: .string, defaultValue: .text("Riga")),
                ],
                relationships: [
                    Relationship(name: "team", destination: "Team", inverse: "members"),
                    Relationship(name: "mentor", destination: "Employee"),
                ]),
            Entity(
                name: "Team", attributes: [Attribute(name: "title", type: .string)],
                relationships: [
                    Relationship(
                        name: "members", destination: "Employee", inverse: "team", maximumCount: 0,
                        isOrdered: true)
                ]),
        ])
    }

    static let mapping = Mapping(entityMappings: [
        EntityMapping(name: "Archive", kind: .add, source: nil, destination: "Archive"),
        EntityMapping(
            name: "EmployeeToEmployee", kind: .transform, source: "Employee",
            destination: "Employee",
            attributes: [
                AttributeMapping(destination: "fullName", value: .source("name")),
                AttributeMapping(destination: "rank", value: .source("rank")),
                AttributeMapping(destination: "portrait", value: .source("portrait")),
                AttributeMapping(destination: "badge", value: .source("badge")),
                AttributeMapping(destination: "city", value: .constant(.text("Riga"))),
            ],
            relationships: [
                RelationshipMapping(destination: "team", source: nil),
                RelationshipMapping(destination: "mentor", source: "mentor"),
            ]),
        EntityMapping(name: "Manager", kind: .remove, source: "Manager", destination: nil),
        EntityMapping(
            name: "TeamToTeam", kind: .transform, source: "Team", destination: "Team",
            attributes: [AttributeMapping(destination: "title", value: .source("title"))],
            relationships: [RelationshipMapping(destination: "members", source: "members")]),
    ])

    /// The name of the one external file.
    static let file = "0F8FAD5B-D9CB-469F-A165-70867728950E"

    private static let sourceRows = """
        INSERT INTO ZEMPLOYEE (Z_PK, Z_ENT, Z_OPT, ZNAME, ZRANK, ZPORTRAIT, ZBADGE, ZGONE, ZTEAM,
            ZMENTOR, Z1_MENTOR) VALUES
            (1, 1, 1, 'Ada', 7, x'01AABB', x'0102', 'x', 1, 2, 1),
            (2, 1, 4, 'Bo', NULL, NULL, NULL, NULL, 1, 3, 2),
            (3, 2, 1, 'Cy', 3, NULL, NULL, NULL, 2, NULL, NULL),
            (5, 1, 2, 'Di', -2, x'02' || CAST('\(file)' AS BLOB) || x'00', x'', '', 2, NULL, NULL);
        UPDATE ZEMPLOYEE SET ZPORTRAIT = CAST(ZPORTRAIT AS BLOB) WHERE Z_PK = 5;
        INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 3, 1, 'One'), (2, 3, 1, NULL);
        """

    /// Numbers are Archive 1, Employee 2, Team 3; the link to the dropped manager is gone.
    private static let destinationRows = """
        INSERT INTO ZEMPLOYEE (Z_PK, Z_ENT, Z_OPT, ZFULLNAME, ZRANK, ZPORTRAIT, ZBADGE, ZCITY,
            ZTEAM, ZMENTOR, Z_FOK_TEAM) VALUES
            (1, 2, 1, 'Ada', 7, x'AABB', x'010102', 'Riga', 1, 2, 2048),
            (2, 2, 4, 'Bo', NULL, NULL, NULL, 'Riga', 1, NULL, 3072),
            (5, 2, 2, 'Di', -2, x'CAFE01', x'01', 'Riga', 2, NULL, 2048);
        INSERT INTO ZTEAM (Z_PK, Z_ENT, Z_OPT, ZTITLE) VALUES (1, 3, 1, 'One'), (2, 3, 1, NULL);
        """

    /// Writes both stores and the external file.
    ///
    /// - Returns: what validates the pair.
    static func write(in folder: FilePath) throws -> (validator: Validator, layout: StoreLayout) {
        let before = try StoreLayout(model: source(), framework: .newestVerified)
        let after = try StoreLayout(model: destination(), framework: .newestVerified)
        let from = folder.appending("source.sqlite")
        let to = folder.appending("destination.sqlite")
        let maxima: [String: Int64] = ["Employee": 9, "Team": 2]
        try store(from, before, rows: sourceRows, maxima: maxima)
        try store(to, after, rows: destinationRows, maxima: maxima)
        let external = StoreLocation(from).externalData
        let files = DurableFileSystem()
        try files.makeFolders(external)
        let made = try files.create(external.appending(file))
        try made.write([0xCA, 0xFE, 0x01])
        try made.close()
        let scope = ValidationScope(
            source: before, destination: after, mapping: mapping,
            highestKeys: ["ZEMPLOYEE": 9, "ZTEAM": 2])
        let validator = Validator(
            scope: scope,
            files: ValidationFiles(
                source: from, sourceExternalData: external, destination: to,
                destinationExternalData: StoreLocation(to).externalData))
        return (validator, after)
    }

    private static func store(
        _ path: FilePath, _ layout: StoreLayout, rows: String, maxima: [String: Int64]
    ) throws {
        let builder = try StoreBuilder(creating: path, layout: layout)
        try builder.createTables()
        try builder.connection.execute(rows)
        for index in layout.indexes { try builder.connection.execute(index.sql) }
        let made = try DestinationModel(model: layout.model)
        let metadata = StoreMetadata(
            uuid: "8D1E2F3A-0000-4000-8000-00000000000A",
            properties: .dictionary([PropertyList.Entry("AppKey", .string("kept"))])
        ).migrated(
            hashes: made.hashes, identifiers: layout.model.versionIdentifiers,
            framework: layout.framework)
        try builder.writeSystemTables(
            maxima: maxima, metadata: metadata, modelCache: made.modelCache)
        try builder.createRTreesAndTriggers()
        try builder.finish(isWriteAheadLogged: true)
    }
}
