import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import MappingFiles
import MappingModel
import MigrationPlans
import MigrationValidation
import RunService
import StoreForge
import StoreRuns
import TestSupport
import Testing

@testable import RunCommands

/// Mapping files that tell objects of one entity apart, or make several of one.
@Suite("Filtered migrations") struct FilteredMigrationTests {
    static let strategies: [MigrationPlans.Strategy] = [.whole, .partitioned]

    private static let personAttributes = [
        Attribute(name: "email", type: .string), Attribute(name: "name", type: .string),
        Attribute(name: "phone", type: .string), Attribute(name: "score", type: .integer32),
    ]

    static let team = Entity(
        name: "Team", attributes: [Attribute(name: "title", type: .string)],
        relationships: [
            Relationship(
                name: "members", destination: "Person", inverse: "team", maximumCount: 0)
        ])

    static func person(_ links: [Relationship] = []) -> Entity {
        Entity(
            name: "Person", attributes: personAttributes,
            relationships: [
                Relationship(
                    name: "friends", destination: "Person", inverse: "friends", maximumCount: 0),
                Relationship(name: "team", destination: "Team", inverse: "members"),
            ] + links)
    }

    /// Persons of whom a third has no email and half have no phone.
    func forge(_ lab: StoreLab) throws {
        var recipe = ForgeRecipe(model: try Model(entities: [Self.person(), Self.team]), seed: 7)
        recipe.rows = ["Person": 90, "Team": 6]
        try lab.forge(recipe)
        try lab.damage(
            "UPDATE ZPERSON SET ZSCORE = Z_PK % 100, ZEMAIL = 'e' || Z_PK, ZPHONE = 'p' || Z_PK; "
                + "UPDATE ZPERSON SET ZEMAIL = NULL WHERE Z_PK % 3 = 0; "
                + "UPDATE ZPERSON SET ZPHONE = NULL WHERE Z_PK % 2 = 0")
    }

    func options(
        _ strategy: MigrationPlans.Strategy, _ yaml: String
    ) throws -> PlanOptions {
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(yaml.utf8))
        var options = PlanOptions(strategy: strategy, chunkBytes: 2048)
        options.mappings = [MappingChoice(name: "m.yaml", definition: file.definition)]
        return options
    }

    private func numbers(
        _ lab: StoreLab, _ sql: String, isResult: Bool = true
    ) throws -> [[Int64?]] {
        try lab.raw(isResult ? lab.output : lab.store) { database in
            try Row.fetchAll(database, sql: sql).map { row in
                row.databaseValues.map { Int64.fromDatabaseValue($0) }
            }
        }
    }

    /// Rows of the join table of friends, in their order.
    private func friends(in lab: URL) throws -> [[Int64?]] {
        let queue = try DatabaseQueue(path: lab.path)
        let rows = try queue.inDatabase { database in
            let name = try String.fetchOne(
                database, sql: "SELECT name FROM sqlite_master WHERE name LIKE 'Z%FRIENDS'")
            return try Row.fetchAll(
                database, sql: "SELECT * FROM \(try #require(name)) ORDER BY 1, 2"
            ).map { row in Array(row.databaseValues).map { Int64.fromDatabaseValue($0) } }
        }
        try queue.close()
        return rows
    }

    private func entityNumber(_ name: String, _ lab: StoreLab) throws -> Int64 {
        let found = try lab.raw(lab.output) {
            try Int64.fetchOne(
                $0, sql: "SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = ?", arguments: [name])
        }
        return try #require(found)
    }

    /// The result verified as by another program.
    private func verify(_ lab: StoreLab, _ options: PlanOptions) throws -> Bool {
        try withTemporaryFolder { folder in
            try LocalVerification(
                source: lab.path(lab.store), destination: lab.path(lab.output),
                mappings: options.mappings
            ).run(scratch: lab.path(folder)).isEqual
        }
    }

    private static let split = """
        godwit-mapping: 1
        entities:
          - source: Person
            destination: Adult
            filter: score >= 18
          - source: Person
            destination: Child
            filter: NOT score >= 18
        """

    private static let humans: [Entity] = {
        var human = person()
        human.name = "Human"
        human.relationships[0].destination = "Human"
        var team = Self.team
        team.relationships[0].destination = "Human"
        return [
            human, Entity(name: "Adult", parent: "Human"), Entity(name: "Child", parent: "Human"),
            team,
        ]
    }()

    /// Filters that exclude each other leave keys as they are, and every link finds its objects.
    @Test(arguments: strategies)
    func objectsOfOneEntityBecomeTwo(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            let to = DestinationChoice.model(
                try DestinationModel(model: Model(entities: Self.humans)))
            let options = try options(strategy, Self.split)
            let outcome = try lab.migrate(to: to, options: options)
            #expect(outcome.validation.isEqual && outcome.validation.losses.isEmpty)
            #expect(outcome.plan.maxima["Human"] == 90)
            #expect(outcome.plan.changedURIs["Child"].map { $0 > 0 } == true)
            let (adult, child) = try (entityNumber("Adult", lab), entityNumber("Child", lab))
            #expect(
                try numbers(lab, "SELECT Z_PK, Z_ENT, ZTEAM FROM ZHUMAN ORDER BY 1")
                    == numbers(
                        lab,
                        "SELECT Z_PK, CASE WHEN ZSCORE >= 18 THEN \(adult) ELSE \(child) END, "
                            + "ZTEAM FROM ZPERSON ORDER BY 1", isResult: false))
            let friends = try friends(in: lab.store)
            #expect(try friends == self.friends(in: lab.output) && friends.count > 20)
            #expect(try verify(lab, options))
        }
    }

    /// What no filter takes is counted as lost, and so are no links to it.
    @Test(arguments: strategies)
    func whatNoFilterTakesIsLost(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            let to = DestinationChoice.model(
                try DestinationModel(
                    model: Model(entities: [Self.person(), Self.team, Entity(name: "Other")])))
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                    filter: email MATCHES "e[0-9]+"
                """
            let options = try options(strategy, yaml)
            let outcome = try lab.migrate(to: to, options: options)
            #expect(outcome.validation.isEqual)
            let losses = outcome.validation.losses
            #expect(losses.map(\.subject) == [Loss.Subject(.filter, "Person")])
            #expect(losses.map(\.count) == [30])
            #expect(
                try numbers(lab, "SELECT Z_PK FROM ZPERSON ORDER BY 1")
                    == numbers(
                        lab, "SELECT Z_PK FROM ZPERSON WHERE ZEMAIL IS NOT NULL ORDER BY 1",
                        isResult: false))
            let friends = try friends(in: lab.output)
            #expect(
                friends.allSatisfy { $0.allSatisfy { ($0 ?? 0) % 3 != 0 } } && friends.count > 5)
            #expect(try verify(lab, options))
        }
    }

    private static func settings(_ inverse: Relationship) -> [Entity] {
        [
            person([inverse]), team,
            Entity(
                name: "Settings", attributes: [Attribute(name: "address", type: .string)],
                relationships: [
                    Relationship(name: "owner", destination: "Person", inverse: "settings")
                ]),
        ]
    }

    /// An object is linked to another one that comes of the same source object, by either side.
    @Test(
        arguments: strategies,
        [
            ("owner", "PersonToPerson", 1), ("settings", "PersonToSettings", 1),
            ("owner", "PersonToPerson", 0), ("settings", "PersonToSettings", 0),
        ])
    func oneObjectBecomesTwoThatAreLinked(
        strategy: MigrationPlans.Strategy, stated: (side: String, mapping: String, most: Int32)
    ) throws {
        try StoreLab.run { lab in
            try forge(lab)
            let entities = Self.settings(
                Relationship(
                    name: "settings", destination: "Settings", inverse: "owner",
                    maximumCount: stated.most))
            let to = DestinationChoice.model(try DestinationModel(model: Model(entities: entities)))
            let link = "\(stated.side): {source: $source, mapping: \(stated.mapping)}"
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                    relationships: {\(stated.side == "owner" ? "" : link)}
                  - source: Person
                    destination: Settings
                    filter: email != nil
                    attributes: {address: $source.email}
                    relationships: {\(stated.side == "owner" ? link : "")}
                """
            let options = try options(strategy, yaml)
            let outcome = try lab.migrate(to: to, options: options)
            #expect(outcome.validation.isEqual && outcome.validation.losses.isEmpty)
            let made = try numbers(lab, "SELECT Z_PK, ZOWNER FROM ZSETTINGS ORDER BY 1")
            #expect(made.count == 60 && made.allSatisfy { $0[0] == $0[1] })
            if stated.most == 1 {
                let back = try numbers(lab, "SELECT Z_PK, ZSETTINGS FROM ZPERSON ORDER BY 1")
                #expect(back.allSatisfy { $0[1] == (($0[0] ?? 0) % 3 == 0 ? nil : $0[0]) })
            }
            #expect(try verify(lab, options))
        }
    }

    static let contacts = [
        person([
            Relationship(
                name: "contacts", destination: "Contact", inverse: "person", maximumCount: 0)
        ]), team,
        Entity(
            name: "Contact", attributes: [Attribute(name: "text", type: .string)],
            relationships: [
                Relationship(name: "person", destination: "Person", inverse: "contacts")
            ]),
    ]

    /// An object that becomes two in one table has its second key above all others.
    @Test(arguments: strategies)
    func oneObjectBecomesTwoInOneTable(strategy: MigrationPlans.Strategy) throws {
        try StoreLab.run { lab in
            try forge(lab)
            let to = DestinationChoice.model(
                try DestinationModel(model: Model(entities: Self.contacts)))
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                  - source: Person
                    destination: Contact
                    name: Emails
                    filter: email != nil
                    attributes: {text: $source.email}
                    relationships:
                      person: {source: $source, mapping: PersonToPerson}
                  - source: Person
                    destination: Contact
                    name: Phones
                    filter: phone != nil
                    attributes: {text: $source.phone}
                    relationships:
                      person: {source: $source, mapping: PersonToPerson}
                """
            let options = try options(strategy, yaml)
            let outcome = try lab.migrate(to: to, options: options)
            #expect(outcome.validation.isEqual && outcome.validation.losses.isEmpty)
            let found = try lab.raw(lab.output) {
                try Row.fetchAll($0, sql: "SELECT Z_PK, ZTEXT, ZPERSON FROM ZCONTACT ORDER BY 1")
                    .map { "\($0[0] as Int64) \($0[1] as String) \($0[2] as Int64)" }
            }
            let keys: ClosedRange<Int64> = 1...90
            let wanted =
                keys.filter { $0 % 3 != 0 }.map { "\($0) e\($0) \($0)" }
                + keys.filter { $0 % 2 != 0 }.map { "\($0 + 90) p\($0) \($0)" }
            #expect(found == wanted)
            #expect(outcome.plan.maxima["Contact"] == 180)
            let report = PlanReport(outcome.plan, store: lab.name, oddities: [])
            let mappings = try #require(report.entityMappings)
            #expect(mappings.map(\.name) == ["Emails", "PersonToPerson", "TeamToTeam", "Phones"])
            #expect(mappings.map(\.rows) == [60, 90, 6, 45])
            #expect(mappings.map(\.keyOffset) == [0, 0, 0, 90])
            #expect(mappings.map(\.filterMaker) == [.sql, nil, nil, .sql])
            #expect(report.filterNotes.isEmpty)
            #expect(try verify(lab, options))
        }
    }

    @Test func aFilterThatTakesNothingIsNoted() throws {
        try StoreLab.run { lab in
            try forge(lab)
            let to = DestinationChoice.model(
                try DestinationModel(model: Model(entities: Self.contacts)))
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                    filter: score > 1000
                  - entity: Team
                    filter: title != nil OR title == nil
                """
            let request = try lab.request(to: to, options: options(.whole, yaml))
            let report = PlanReport(try StorePlanning(request).plan())
            let notes = report.filterNotes
            #expect(
                notes == [
                    "the filter of entity mapping PersonToPerson takes none of 90 objects of Person"
                ])
            #expect(report.notes.filter(notes.contains) == notes)
        }
    }

    /// Nothing tells which of two objects a link leads to, until the mapping names one.
    @Test(arguments: [true, false])
    func aLinkToAnObjectMadeTwiceNamesItsMapping(isNamed: Bool) throws {
        try StoreLab.run { lab in
            try forge(lab)
            let to = DestinationChoice.model(
                try DestinationModel(
                    model: Model(entities: [Self.person(), Self.team, Entity(name: "Other")])))
            let friends = isNamed ? "{source: $source.friends, mapping: First}" : "$source.friends"
            let yaml = """
                godwit-mapping: 1
                entities:
                  - entity: Person
                    name: First
                    relationships:
                      friends: \(friends)
                      team: $source.team
                  - entity: Person
                    name: Second
                    relationships: {friends: unset, team: unset}
                  - entity: Team
                    relationships: {members: unset}
                """
            guard isNamed else {
                try lab.expectRefusal(
                    to: to, options: options(.whole, yaml), namesStore: false,
                    saying: ["both make the objects", "First", "Second", "Person.friends"])
                return
            }
            let outcome = try lab.migrate(to: to, options: options(.whole, yaml))
            #expect(outcome.validation.isEqual)
            let rows = try numbers(
                lab, "SELECT count(*), count(ZTEAM), max(Z_PK) FROM ZPERSON")
            #expect(rows.first?[0] == 180 && rows.first?[2] == 180)
            #expect((rows.first?[1] ?? 0) <= 90)
        }
    }
}
