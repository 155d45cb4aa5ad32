import CoreDataStore
import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationPlans
import MigrationValidation
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// A table whose objects come from two tables, one of which has none.
@Suite("Sources without objects") struct EmptySourceTests {
    /// A mapping file puts the keys of the entity without objects before those of the other one,
    /// which then move by nothing, too.
    @Test(arguments: ["Alpha", "Beta"], ["Alpha", "Beta"])
    func itsKeysAreNone(empty: String, first: String) throws {
        try StoreLab.run { lab in
            let text = [Attribute(name: "text", type: .string)]
            let names = ["Alpha", "Beta"]
            var recipe = ForgeRecipe(
                model: try Model(entities: names.map { Entity(name: $0, attributes: text) }))
            recipe.rows = ["Alpha": 2_000, "Beta": 2_000]
            recipe.rows[empty] = 0
            try lab.forge(recipe)
            let model = try Model(
                entities: [Entity(name: "Parent")]
                    + names.map { Entity(name: $0, parent: "Parent", attributes: text) })
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: \(first)
                    filter: text != nil
                  - entity: \(first)
                    name: Further
                """
            let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
            var options = PlanOptions(strategy: .partitioned, chunkBytes: 4_096)
            options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
            let outcome = try lab.migrate(
                to: .model(try DestinationModel(model: model)), options: options)
            #expect(outcome.validation.isEqual)
        }
    }
}
