import CoreDataStore
import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationPlans
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Plans compute the values of mappings: what would end a migration is told before.
@Suite("Plans compute values") struct ValueTrialTests {
    private static func model(isNew: Bool) throws -> Model {
        var item = Entity(
            name: "Item",
            attributes: [
                Attribute(name: "name", type: .string), Attribute(name: "size", type: .double),
            ])
        if isNew {
            item.attributes += [
                Attribute(name: "label", type: .string), Attribute(name: "whole", type: .integer64),
            ]
            item.uniquenessConstraints = [["label", "whole"]]
        }
        return try Model(entities: [item])
    }

    /// Plans a store of six items after edits.
    private static func plan(_ edits: String, _ lines: String) throws {
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try model(isNew: false), seed: 5)
            recipe.rows = ["Item": 6]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZITEM SET ZNAME = 'n' || Z_PK, ZSIZE = Z_PK + 0.5; \(edits)")
            let yaml = "godwit-mapping: 1\nentities:\n" + lines
            let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
            var options = PlanOptions(strategy: .whole)
            options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
            let request = try lab.request(
                to: .model(try DestinationModel(model: try model(isNew: true))), options: options)
            _ = try StorePlanning(request).plan()
        }
    }

    private static let small = """
          - entity: Item
            attributes:
              label: lowercase($source.name)
              whole: {constant: 1}
        """

    @Test(arguments: [
        (
            "UPDATE ZITEM SET ZNAME = iif(Z_PK < 3, 'A', 'a') WHERE Z_PK NOT IN (3, 4)",
            small, "entity Item would have 3 objects equal to another one in label, whole"
        ),
        // Nothing is equal to nothing.
        ("UPDATE ZITEM SET ZNAME = NULL", small, nil),
        (
            "UPDATE ZITEM SET ZNAME = 'A' WHERE Z_PK < 3",
            small.replacing("{constant: 1}", with: "$source.size"), nil
        ),
        // What a filter leaves out is equal to nothing either.
        (
            "UPDATE ZITEM SET ZNAME = 'A' WHERE Z_PK < 3",
            small.replacing("    attributes", with: "    filter: '#size > 2'\n    attributes"), nil
        ),
        (
            "UPDATE ZITEM SET ZNAME = 'A' WHERE Z_PK > 3",
            small.replacing("    attributes", with: "    filter: '#size > 2'\n    attributes"),
            "entity Item would have 2 objects equal to another one"
        ),
    ])
    func computedValuesThatMustBeUnique(edits: String, lines: String, refusal: String?) throws {
        guard let refusal else {
            try Self.plan(edits, lines)
            return
        }
        let error = try #require(throws: RunError.self) { try Self.plan(edits, lines) }
        #expect(error.description.contains(refusal), "\(error)")
        #expect(error.description.contains("Remove the uniqueness constraint of Item"))
    }

    /// A cast of SQL would give the greatest integer.
    @Test(arguments: ["$source.size", "$source.size * 2"])
    func numbersThatNoIntegerHolds(value: String) throws {
        let lines = "  - entity: Item\n    attributes: {whole: \(value)}"
        try Self.plan("UPDATE ZITEM SET ZSIZE = -4e18 WHERE Z_PK = 4", lines)
        let error = try #require(throws: RunError.self) {
            try Self.plan("UPDATE ZITEM SET ZSIZE = 9.3e18 WHERE Z_PK = 4", lines)
        }
        let text = error.description
        #expect(text.contains("/Item/p4 cannot be computed"), "\(text)")
        #expect(text.contains("failing: {constant: …}"), "\(text)")
    }

    /// A plan computes values of more columns than a statement of SQLite can have.
    @Test func manyValuesArePlanned() throws {
        let names = (0..<21).map { "text\($0)" }
        let entities = { (suffix: String) in
            [
                Entity(
                    name: "Base", isAbstract: true,
                    attributes: names.map { Attribute(name: $0 + suffix, type: .string) })
            ] + (0..<100).map { Entity(name: "Kind\($0)", parent: "Base") }
        }
        try StoreLab.run { lab in
            var recipe = ForgeRecipe(model: try Model(entities: entities("")), seed: 4)
            recipe.defaultRows = 1
            try lab.forge(recipe)
            let lines = (0..<100).map { kind in
                "  - entity: Kind\(kind)\n    attributes:\n"
                    + names.map { "      \($0)x: uppercase($source.\($0))" }
                    .joined(separator: "\n")
            }
            let yaml = "godwit-mapping: 1\nentities:\n" + lines.joined(separator: "\n")
            let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
            var options = PlanOptions(strategy: .whole)
            options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
            let model = try Model(entities: entities("x"))
            let request = try lab.request(
                to: .model(try DestinationModel(model: model)), options: options)
            let planned = try StorePlanning(request).plan()
            #expect(planned.plan.computedCells.count == 2_100)
        }
    }
}
