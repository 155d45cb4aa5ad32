import CoreDataStore
import GRDB
import ManagedObjectModel
import MappingModel
import MigrationPlans
import MigrationValidation
import StoreForge
import StoreRuns
import Testing

/// What filtered mappings ask of the objects that they take, and of no others.
extension FilteredMigrationTests {
    /// One mapping takes what has a value, and the other one fills it in.
    @Test(arguments: strategies)
    func filtersDecideWhatAMappingAsks(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            var person = Self.person()
            let place = try #require(person.attributes.firstIndex { $0.name == "email" })
            person.attributes[place].isOptional = false
            person.uniquenessConstraints = [["name", "score"]]
            try lab.damage("UPDATE ZPERSON SET ZNAME = 'n' || Z_PK")
            let to = DestinationChoice.model(
                try DestinationModel(model: Model(entities: [person, Self.team])))
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                    filter: email != nil
                  - entity: Person
                    name: Others
                    filter: email == nil
                    attributes: {email: {constant: none}}
                """
            let outcome = try lab.migrate(to: to, options: options(strategy, yaml))
            #expect(outcome.validation.isEqual && outcome.plan.changedURIs.isEmpty)
            let rows = try lab.raw(lab.output) {
                try Row.fetchAll(
                    $0, sql: "SELECT count(*), sum(ZEMAIL = 'none'), max(Z_PK) FROM ZPERSON")
            }
            #expect(rows.first.map { [$0[0], $0[1], $0[2]] as [Int64] } == [90, 30, 90])
        }
    }

    /// A stored 2 is true, for SQL as well as for Swift.
    @Test(arguments: strategies)
    func oddTruthValuesAreTrue(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            var flagged = Self.person()
            flagged.attributes.append(Attribute(name: "isOld", type: .boolean))
            var recipe = ForgeRecipe(model: try Model(entities: [flagged, Self.team]), seed: 3)
            recipe.rows = ["Person": 20, "Team": 2]
            try lab.forge(recipe)
            try lab.damage("UPDATE ZPERSON SET ZISOLD = Z_PK % 4")
            let to = DestinationChoice.model(
                try DestinationModel(model: Model(entities: [Self.person(), Self.team])))
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                    filter: isOld == YES
                """
            let outcome = try lab.migrate(to: to, options: options(strategy, yaml))
            #expect(outcome.validation.isEqual)
            let count = try lab.raw(lab.output) {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM ZPERSON")
            }
            #expect(count == 15)
        }
    }

    /// A person cannot have two contacts by a relationship that is to-one.
    @Test func twoLinksToWhatComesOfOneObjectAreRefused() throws {
        try StoreLab.run { lab in
            try forge(lab)
            var entities = Self.contacts
            entities[0].relationships[2].maximumCount = 1
            let to = DestinationChoice.model(try DestinationModel(model: Model(entities: entities)))
            let contacts = ["email", "phone"].map { name in
                """
                  - source: Person
                    destination: Contact
                    name: \(name)
                    filter: \(name) != nil
                    relationships:
                      person: {source: $source, mapping: PersonToPerson}
                """
            }
            let yaml =
                "godwit-mapping: 1\nentities:\n  - entity: Person\n"
                + contacts.joined(separator: "\n")
            try lab.expectRefusal(
                to: to, options: options(.whole, yaml), namesStore: false,
                saying: ["to-one", "exclude each other"])
        }
    }

    @Test func tooManyFiltersAreRefused() throws {
        try StoreLab.run { lab in
            try forge(lab)
            let to = DestinationChoice.model(
                try DestinationModel(
                    model: Model(entities: [Self.person(), Self.team, Entity(name: "Other")])))
            let mappings = (0...70).map { number in
                "  - entity: Person\n    name: p\(number)\n    filter: score == \(number)\n"
            }
            let yaml = "godwit-mapping: 1\nentities:\n" + mappings.joined()
            try lab.expectRefusal(
                to: to, options: options(.whole, yaml), namesStore: false,
                saying: ["more than 62 different filters", "p62"])
        }
    }
}
