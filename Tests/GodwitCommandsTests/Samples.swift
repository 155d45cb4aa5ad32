import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import ManagedObjectModel
import ModelFiles
import SafeSQLite

/// Small hand-made models and a store of them.
enum Samples {
    /// Owners and their cars; a sport car is a car.
    static func garage(_ identifier: String = "1") throws -> Model {
        try Model(
            entities: [
                Entity(
                    name: "Car",
                    attributes: [
                        Attribute(name: "plate", type: .string),
                        Attribute(
                            name: "photo", type: .binary, allowsExternalBinaryDataStorage: true),
                    ],
                    relationships: [
                        Relationship(name: "owner", destination: "Person", inverse: "cars"),
                        Relationship(
                            name: "drivers", destination: "Person", inverse: "drives",
                            maximumCount: 0),
                    ]),
                Entity(
                    name: "Person", attributes: [Attribute(name: "name", type: .string)],
                    relationships: [
                        Relationship(
                            name: "cars", destination: "Car", inverse: "owner", maximumCount: 0),
                        Relationship(
                            name: "drives", destination: "Car", inverse: "drivers",
                            maximumCount: 0),
                    ]),
                Entity(
                    name: "SportCar", parent: "Car",
                    attributes: [Attribute(name: "power", type: .integer32)]),
            ], versionIdentifiers: [identifier])
    }

    /// The garage with a renamed attribute and a new one.
    static func newGarage() throws -> Model {
        let old = try garage()
        let entities = old.numberedEntities.map { entity in
            var copy = entity
            guard entity.name == "Person" else { return copy }
            copy.attributes = [
                Attribute(name: "age", type: .integer16),
                Attribute(name: "fullName", type: .string, renamingIdentifier: "name"),
            ]
            return copy
        }
        return try Model(entities: entities, versionIdentifiers: ["2"])
    }

    /// Makes a store of the garage: three cars (one a sport car, one with a photo in a file that
    /// is not there), two persons, one join row, and a table and an index of the app's own.
    static func makeStore(at url: URL, hashes: [String: [UInt8]]? = nil) throws -> FilePath {
        let model = try garage()
        let layout = try StoreLayout(model: model, framework: .newestVerified)
        let path = FilePath(url.path)
        let builder = try StoreBuilder(creating: path, layout: layout)
        try builder.createTables()
        let connection = builder.connection
        try connection.execute(
            """
            INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZOWNER, ZPLATE, ZPHOTO) VALUES
              (1, 1, 1, 1, 'A', X'01FF'), (2, 1, 1, 1, 'B', NULL),
              (4, 2, 1, NULL, 'C', CAST(X'02' || 'B0E7A6F6-0000-4000-8000-000000000001' || X'00'
                AS BLOB));
            INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) VALUES (1, 3, 1, 'X'), (2, 3, 1, 'Y');
            """)
        let join = layout.joinTables[0]
        try connection.execute("INSERT INTO \(join.name) VALUES (1, 2)")
        for index in layout.indexes { try connection.execute(index.sql) }
        try connection.execute(
            "CREATE TABLE appCache (key TEXT); CREATE INDEX appPlates ON ZCAR (ZPLATE)")
        let metadata = StoreMetadata(
            uuid: "6B0A2F0E-0000-4000-8000-000000000000",
            properties: .dictionary([.init("lastSync", .integer(1))]))
        try builder.writeSystemTables(
            maxima: ["Car": 7, "Person": 2],
            metadata: metadata.migrated(
                hashes: hashes.map { VersionHashes(read: $0) } ?? VersionHashes(model),
                identifiers: model.versionIdentifiers, framework: .newestVerified),
            modelCache: try Deflate.compress(ModelArchive.write(model)))
        try builder.finish(isWriteAheadLogged: true)
        return path
    }

    /// Makes an `.xcdatamodel` folder with one entity.
    ///
    /// - Parameters:
    ///   - folder: of the version.
    ///   - attribute: the only one of the entity `Note`.
    ///   - identifier: its renaming identifier.
    ///   - type: its type.
    /// - Throws: `CocoaError` where the file cannot be written.
    static func makeSource(
        at folder: URL, attribute: String, identifier: String? = nil, type: String = "String"
    ) throws {
        let rename = identifier.map { " elementID=\"\($0)\"" } ?? ""
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let text = """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
                <entity name="Note" representedClassName="Note" syncable="YES">
                    <attribute name="\(attribute)" optional="YES" attributeType="\(type)"\(rename)/>
                </entity>
            </model>
            """
        try Data(text.utf8).write(to: folder.appendingPathComponent("contents"))
    }

    /// Makes a `.momd` folder with one version named `Garage` and these hashes.
    static func makeCompiled(at folder: URL, hashes: [String: [UInt8]]) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Data(ModelArchive.write(garage()))
            .write(to: folder.appendingPathComponent("Garage.mom"))
        let named = hashes.sorted { $0.key < $1.key }
            .map { PropertyList.Entry($0.key, .data($0.value)) }
        let list = PropertyList.dictionary([
            .init("NSManagedObjectModel_CurrentVersionName", .string("Garage")),
            .init(
                "NSManagedObjectModel_VersionHashes",
                .dictionary([.init("Garage", .dictionary(named))])),
        ])
        try Data(BinaryPropertyList.write(list))
            .write(to: folder.appendingPathComponent("VersionInfo.plist"))
    }
}
