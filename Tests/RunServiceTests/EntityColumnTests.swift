import CommandSupport
import CoreDataStore
import DurableFiles
import FaultSupport
import ManagedObjectModel
import MappingModel
import MigrationPlans
import MigrationValidation
import RunReports
import RunService
import SafeSQLite
import StateFolders
import StoreFileChecks
import StoreForge
import StoreRuns
import TestSupport
import Testing

@testable import GodwitCommands

/// Entity numbers that name no entity which can stand there: faults of the source, which a
/// migration counts and survives.
@Suite("Entity columns with foreign numbers")
struct EntityColumnTests {
    /// What becomes of the model of notes and their owners.
    enum Destination: CaseIterable {
        case itself, sameNumbers, otherNumbers, smallerFamily, ownerRequired
    }

    private static func model(_ destination: Destination, isRequired: Bool = false) throws -> Model
    {
        var entities = [
            Entity(
                name: "Note",
                relationships: [
                    Relationship(
                        name: "owner", destination: "Person", inverse: "notes",
                        isOptional: destination != .ownerRequired && !isRequired)
                ]),
            Entity(
                name: "Person",
                relationships: [
                    Relationship(
                        name: "notes", destination: "Note", inverse: "owner", maximumCount: 0)
                ]),
            Entity(name: "Author", parent: "Person"),
        ]
        if destination != .smallerFamily {
            entities.append(Entity(name: "Editor", parent: "Person"))
        }
        if destination == .sameNumbers || destination == .ownerRequired {
            entities[0].attributes.append(Attribute(name: "mark", type: .string))
        }
        if destination == .otherNumbers { entities.append(Entity(name: "Aaa")) }
        return try Model(entities: entities)
    }

    /// A store of ten notes, all owned by one of three authors, with these edits.
    private func lab(
        _ model: Model, _ edits: [String],
        _ body: (_ folder: FilePath, _ store: FilePath) throws -> Void
    ) throws {
        var recipe = ForgeRecipe(model: model)
        recipe.rows = ["Note": 10, "Person": 0, "Author": 3, "Editor": 0]
        recipe.linkShare = 0
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let store = folder.appending("store.sqlite")
            let owners =
                "UPDATE ZNOTE SET ZOWNER = 1 + Z_PK % 3, Z2_OWNER = "
                + "(SELECT Z_ENT FROM ZPERSON WHERE Z_PK = 1 + ZNOTE.Z_PK % 3)"
            try ForgedStore.write(recipe, to: store, edits: [owners] + edits)
            try body(folder, store)
        }
    }

    private func migrate(
        _ store: FilePath, in folder: FilePath, to choice: DestinationChoice, _ strategy: Strategy,
        dangling: DanglingPolicy = .keep
    ) throws(RunError) -> (outcome: MigrationOutcome, result: FilePath) {
        var options = PlanOptions(strategy: strategy)
        options.dangling = dangling
        let result = folder.appending("\(strategy).sqlite")
        let request = MigrationRequest(
            store: store, output: result, state: folder.appending("state-\(strategy)"),
            destination: choice, options: options)
        return (try EngineMigration(request, clock: { 0 }).run(), result)
    }

    private func texts(_ path: FilePath, _ sql: String) throws -> [String] {
        let connection = try Connection(path: path, mode: .immutable)
        let texts = try connection.texts(sql)
        try connection.close()
        return texts
    }

    private func count(_ kind: Fault.Kind, _ report: ValidationReport) -> Int64 {
        report.inherited.filter { $0.fault.kind == kind }.map(\.count).reduce(0, +)
    }

    /// Three notes whose owner's entity is missing, unknown, and that of a note.
    private static let edits = [
        "UPDATE ZNOTE SET Z2_OWNER = NULL WHERE Z_PK = 1",
        "UPDATE ZNOTE SET Z2_OWNER = 999 WHERE Z_PK = 2",
        "UPDATE ZNOTE SET Z2_OWNER = 1 WHERE Z_PK = 3",
    ]

    @Test(
        "a to-one that names no entity of its family is an inherited fault",
        arguments: Destination.allCases, [Strategy.whole, .partitioned])
    func foreignTargets(_ destination: Destination, _ strategy: Strategy) throws {
        try lab(Self.model(.itself), Self.edits) { folder, store in
            let choice: DestinationChoice =
                destination == .itself
                ? .itself : .model(try DestinationModel(model: Self.model(destination)))
            let (outcome, result) = try migrate(store, in: folder, to: choice, strategy)
            let report = outcome.validation
            #expect(report.isEqual, "\(report.lines)")
            #expect(report.newFaults.isEmpty)
            #expect(count(.dangling, report) == 3, "\(report.lines)")
            let owners = try texts(
                result, "SELECT coalesce(ZOWNER, '-') FROM ZNOTE ORDER BY Z_PK LIMIT 3")
            // Without the family's third entity nothing tells where the keys belong.
            #expect(owners == (destination == .smallerFamily ? ["-", "-", "-"] : ["2", "3", "1"]))
        }
    }

    @Test("the entity column stays as it is while numbers stay, and is empty where they change")
    func entityColumn() throws {
        try lab(Self.model(.itself), Self.edits) { folder, store in
            for (choice, column, wanted) in [
                (Destination.itself, "Z2_OWNER", ["-", "999", "1", "3"]),
                (.sameNumbers, "Z2_OWNER", ["-", "999", "1", "3"]),
                (.otherNumbers, "Z3_OWNER", ["-", "-", "-", "4"]),
            ] {
                let model = try DestinationModel(model: Self.model(choice))
                let place = folder.appending("\(choice)")
                try DurableFileSystem().makeFolder(place)
                let (_, result) = try migrate(store, in: place, to: .model(model), .whole)
                let found = try texts(
                    result, "SELECT coalesce(\(column), '-') FROM ZNOTE ORDER BY Z_PK LIMIT 4")
                #expect(found == wanted, "\(choice)")
            }
        }
    }

    @Test("a required to-one that cannot be followed is no new fault", arguments: [true, false])
    func requiredTargets(_ wasRequired: Bool) throws {
        try lab(Self.model(.itself, isRequired: wasRequired), Self.edits) { folder, store in
            var model = try Self.model(.smallerFamily, isRequired: true)
            model = try Model(entities: model.numberedEntities)
            let choice = DestinationChoice.model(try DestinationModel(model: model))
            guard wasRequired else {
                // The destination asks for an owner that nothing tells.
                let error = try #require(throws: RunError.self) {
                    try migrate(store, in: folder, to: choice, .whole)
                }
                guard case .plan(.refused(let texts)) = error else { throw error }
                #expect(texts.contains { $0.contains("Note.owner has 3 objects") }, "\(texts)")
                return
            }
            let (outcome, _) = try migrate(store, in: folder, to: choice, .whole)
            #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
            #expect(count(.missingLink, outcome.validation) == 3)
        }
    }

    @Test(
        "rows of a table of one entity are read as that entity, whatever number they carry",
        arguments: [Strategy.whole, .partitioned], DanglingPolicy.allCases)
    func misnumberedRows(_ strategy: Strategy, _ dangling: DanglingPolicy) throws {
        let edits = [
            "UPDATE ZNOTE SET Z_ENT = 77 WHERE Z_PK = 1",
            "UPDATE ZNOTE SET Z_ENT = 3 WHERE Z_PK = 2",
            "UPDATE ZNOTE SET Z_ENT = NULL WHERE Z_PK = 3",
            "UPDATE ZNOTE SET Z_ENT = 'x' WHERE Z_PK = 4",
        ]
        for destination in Destination.allCases {
            try lab(Self.model(.itself), edits) { folder, store in
                let choice: DestinationChoice =
                    destination == .itself
                    ? .itself : .model(try DestinationModel(model: Self.model(destination)))
                let (outcome, result) = try migrate(
                    store, in: folder, to: choice, strategy, dangling: dangling)
                #expect(outcome.validation.isEqual, "\(outcome.validation.lines)")
                #expect(count(.foreignEntity, outcome.validation) == 4)
                let numbers = try texts(result, "SELECT DISTINCT Z_ENT FROM ZNOTE")
                #expect(numbers == [destination == .otherNumbers ? "2" : "1"])
                let owned = "SELECT count(*) FROM ZNOTE WHERE ZOWNER = 1 + Z_PK % 3"
                #expect(try texts(result, owned) == ["10"])
                let verification = LocalVerification(
                    source: store, destination: result, dangling: dangling)
                let scratch = folder.appending("verify")
                try DurableFileSystem().makeFolder(scratch)
                #expect(try verification.run(scratch: scratch).isEqual)
            }
        }
    }

    @Test(
        "such rows in a table of several entities are refused, as nothing tells what they are",
        arguments: ["77", "1", "NULL", "Z_ENT || 'x'", "Z_ENT + 0.5"])
    func unknownRowsOfFamilies(_ number: String) throws {
        try lab(Self.model(.itself), ["UPDATE ZPERSON SET Z_ENT = \(number) WHERE Z_PK = 1"]) {
            folder, store in
            let error = try #require(throws: RunError.self) {
                try migrate(store, in: folder, to: .itself, .whole)
            }
            #expect("\(error)".contains("ZPERSON has 1 rows of an entity"))
            #expect(CommandStatus(error) == .badData)
        }
    }

    @Test(
        "a result of equal hashes is the same in place and beside, whatever identifiers say",
        arguments: [Strategy.whole, .partitioned])
    func oneVersion(_ strategy: Strategy) throws {
        let attributes = { (x: String?, y: String?) in
            [
                Attribute(name: "x", type: .string, renamingIdentifier: x),
                Attribute(name: "y", type: .string, renamingIdentifier: y),
            ]
        }
        let one = try Model(entities: [Entity(name: "Note", attributes: attributes(nil, nil))])
        let two = try Model(entities: [Entity(name: "Note", attributes: attributes("y", "x"))])
        let edits = ["UPDATE ZNOTE SET ZX = 'x' || Z_PK, ZY = 'y' || Z_PK"]
        try withTemporaryFolder { url in
            let folder = try #require(FilePath(url))
            let store = folder.appending("store.sqlite")
            var recipe = ForgeRecipe(model: one)
            recipe.rows = ["Note": 10]
            try ForgedStore.write(recipe, to: store, edits: edits)
            let choice = DestinationChoice.model(try DestinationModel(model: two))
            let (outcome, result) = try migrate(store, in: folder, to: choice, strategy)
            #expect(outcome.validation.isEqual)
            #expect(
                try texts(result, "SELECT count(*) FROM ZNOTE WHERE ZX = 'x' || Z_PK") == ["10"])
            for given in [nil, choice] {
                let verification = LocalVerification(
                    source: store, destination: result, choice: given)
                let scratch = folder.appending(given == nil ? "plain" : "given")
                try DurableFileSystem().makeFolder(scratch)
                #expect(try verification.run(scratch: scratch).isEqual)
            }
            let inPlace = MigrationRequest(
                store: store, output: nil, state: folder.appending("state-in-place"),
                destination: choice, options: PlanOptions(strategy: strategy))
            let error = try #require(throws: RunError.self) {
                try EngineMigration(inPlace, clock: { 0 }).run()
            }
            guard case .alreadyThere = error else { throw error }
        }
    }
}
