import CoreDataStore
import DurableFiles
import Foundation
import GRDB
@testable import ModelCommands
import StoreForge

@testable import CommandSupport

/// Three versions of notes: a text becomes a number that the second version requires, and the
/// third one does not; beside them tags, which go with the third.
struct NumberBundle {
    let folder: URL
    let path: String
    let mapping: String

    init(_ folder: URL) throws {
        self.folder = folder
        path = folder.appendingPathComponent("M.xcdatamodeld").path
        mapping = folder.appendingPathComponent("numbers.yaml").path
        try version("M", number: "attributeType=\"String\" optional=\"YES\"")
        try version("M 2", number: "attributeType=\"Integer 32\" optional=\"NO\"")
        try version(
            "M 3", "number",
            number: "attributeType=\"Integer 32\" optional=\"YES\" elementID=\"n\"",
            hasTags: false)
        let current = ["_XCCurrentVersionName": "M 3.xcdatamodel"]
        try PropertyListSerialization.data(
            fromPropertyList: current, format: .xml, options: 0
        ).write(to: URL(fileURLWithPath: path).appendingPathComponent(".xccurrentversion"))
        try Data(
            """
            godwit-mapping: 1
            entities:
              - entity: Note
                attributes:
                  n: CONVERT($source.n, 'integer32')
            """.utf8
        ).write(to: URL(fileURLWithPath: mapping))
    }

    private func version(
        _ name: String, _ attribute: String = "n", number: String, hasTags: Bool = true
    ) throws {
        let place = URL(fileURLWithPath: path).appendingPathComponent("\(name).xcdatamodel")
        try FileManager.default.createDirectory(
            at: place, withIntermediateDirectories: true)
        // The first version alone has one of these attributes, the second alone the other.
        let extra =
            name == "M"
            ? "<attribute name=\"old\" optional=\"YES\" attributeType=\"String\"/>"
            : name == "M 2"
                ? "<attribute name=\"flag\" attributeType=\"Boolean\" "
                    + "defaultValueString=\"YES\"/>" : ""
        let tags = """
            <entity name="Tag" representedClassName="Tag" syncable="YES">
            <attribute name="name" optional="YES" attributeType="String"/></entity>
            """
        try Data(
            """
            <?xml version="1.0" encoding="UTF-8" standalone="yes"?>
            <model type="com.apple.IDECoreDataModeler.DataModel" documentVersion="1.0">
            <entity name="Note" representedClassName="Note" syncable="YES">
            <attribute name="\(attribute)" \(number)/>\(extra)
            <attribute name="title" optional="YES" attributeType="String"/>
            <relationship name="next" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="Note" inverseName="previous" inverseEntity="Note"/>
            <relationship name="previous" optional="YES" maxCount="1" deletionRule="Nullify"
            destinationEntity="Note" inverseName="next" inverseEntity="Note"/>
            </entity>\(hasTags ? tags : "")</model>
            """.utf8
        ).write(to: place.appendingPathComponent("contents"))
    }

    func makeStore(_ name: String, notes: Int, seed: UInt64 = 1) throws -> String {
        let model = try ModelArgument("\(path):M").load(scratch: FilePath(folder.path)).model
        let store = folder.appendingPathComponent(name).path
        var recipe = ForgeRecipe(model: model, seed: seed)
        recipe.rows = ["Note": notes, "Tag": 7]
        _ = try Forge(recipe).write(to: FilePath(store))
        try write(
            name, "UPDATE ZNOTE SET ZN = Z_PK % 97; CREATE INDEX app ON ZNOTE (ZOLD)")
        return store
    }

    func write(_ name: String, _ sql: String) throws {
        try DatabaseQueue(path: folder.appendingPathComponent(name).path).write {
            try $0.execute(sql: sql)
        }
    }

    func rows(_ name: String) throws -> [[DatabaseValue]] {
        try DatabaseQueue(path: folder.appendingPathComponent(name).path).read {
            try Row.fetchAll(
                $0,
                sql: "SELECT Z_PK, ZNUMBER, ZTITLE, ZNEXT, ZPREVIOUS FROM ZNOTE ORDER BY Z_PK"
            ).map { Array($0.databaseValues) }
        }
    }

    var way: [String] { ["--to", path, "--via", "M 2", "--mapping", mapping] }
}
