import CoreDataStore
import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationPlans
import StoreForge
import StoreRuns
import TestSupport
import Testing

/// Ordered lists of objects that two entity mappings make of one source object.
@Suite("Ordered lists of objects made twice") struct OrderedMappingTests {
    private static func entities(isToMany: Bool, named name: String) -> [Entity] {
        [
            Entity(
                name: "Person", attributes: [Attribute(name: "name", type: .string)],
                relationships: [
                    Relationship(
                        name: name, destination: "Team", inverse: "list",
                        maximumCount: isToMany ? 0 : 1)
                ]),
            Entity(
                name: "Team", attributes: [Attribute(name: "title", type: .string)],
                relationships: [
                    Relationship(
                        name: "list", destination: "Person", inverse: name, maximumCount: 0,
                        isOrdered: true)
                ]),
        ]
    }

    private static func refusal(
        isToMany: Bool, named name: String, _ yaml: String, saying texts: [String]
    ) throws {
        try StoreLab.run { lab in
            let entities = entities(isToMany: isToMany, named: name)
            var recipe = ForgeRecipe(model: try Model(entities: entities), seed: 5)
            recipe.rows = ["Person": 30, "Team": 6]
            try lab.forge(recipe)
            let model = try Model(entities: entities + [Entity(name: "Other")])
            let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
            var options = PlanOptions(strategy: .whole)
            options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
            try lab.expectRefusal(
                to: .model(try DestinationModel(model: model)), options: options,
                namesStore: false, saying: texts)
        }
    }

    /// One of the mappings leaves the relationship to the list, which leads to both objects.
    @Test(arguments: [true, false], ["alpha", "omega"])
    func twoObjectsCannotShareAPlace(isToMany: Bool, name: String) throws {
        let yaml = """
            godwit-mapping: 1
            entities:
              - entity: Person
                name: First
              - entity: Person
                name: Second
                relationships: {\(name): unset}
            """
        try Self.refusal(
            isToMany: isToMany, named: name, yaml,
            saying: ["both make the objects", "First", "Second", "mapping:"])
    }

    /// Both state the relationship, whose place comes along with the row.
    @Test func twoRowsCannotBringOnePlace() throws {
        let yaml = """
            godwit-mapping: 1
            entities:
              - entity: Person
                name: First
              - entity: Person
                name: Second
            """
        try Self.refusal(
            isToMany: false, named: "alpha", yaml, saying: ["First", "Second", "alpha unset"])
    }

    /// Both leave the relationship to the list.
    @Test func aListCannotLinkBothObjects() throws {
        let yaml = """
            godwit-mapping: 1
            entities:
              - entity: Person
                name: First
                relationships: {alpha: unset}
              - entity: Person
                name: Second
                relationships: {alpha: unset}
            """
        try Self.refusal(
            isToMany: false, named: "alpha", yaml,
            saying: ["First", "Second", "Team.list", "mapping: First"])
    }
}
