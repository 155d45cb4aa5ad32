import ArgumentParser
import CoreDataStore
import MappingModel
import MigrationEngine
import MigrationPlans
@testable import ModelCommands
import RunReports
import Testing

@testable import CommandSupport
@testable import GodwitCommands
@testable import RunCommands

@Suite struct OptionTests {
    private func command(_ words: [String]) throws -> PlanCommand {
        try PlanCommand.parse(["store", "--to", "self"] + words)
    }

    private func arguments(_ words: String...) throws -> MigrationArguments {
        try command(words).arguments
    }

    @Test func standardsAreThoseOfTheEngine() throws {
        let arguments = try arguments()
        #expect(try arguments.options() == PlanOptions())
        #expect(try command([]).place.slots >= 1)
        #expect(arguments.to.form == .itself)
        #expect(arguments.from == nil)
    }

    @Test func everyOptionReachesThePlan() throws {
        let arguments = try arguments(
            "--strategy", "partitioned", "--partition", "uuid:Car.id", "--partition",
            "uuid:Person.id", "--chunk-bytes", "64K", "--history", "keep", "--dangling", "nullify",
            "--allow-missing-external", "--link-external", "--framework", "1132", "--from",
            "A.momd:V", "other", "--losses", "refuse", "--accept-loss", "Post.text",
            "--accept-loss",
            "Draft")
        let expected = PlanOptions(
            strategy: .partitioned,
            partition: .uuid([PropertyKey("Car", "id"), PropertyKey("Person", "id")]),
            chunkBytes: 65536, history: .keep, dangling: .nullify,
            allowsMissingExternalData: true, linksExternalData: true,
            framework: FrameworkVersion(1132), losses: .refuse(accepted: ["Post.text", "Draft"]))
        #expect(try arguments.options() == expected)
        #expect(throws: (any Error).self) { try command(["--accept-loss", "Post.text"]) }
        #expect(try command(["--workers", "3"]).place.slots == 3)
        #expect(arguments.stores == ["store", "other"])
        #expect(arguments.from?.form == .compiledBundle("A.momd", version: "V"))
    }

    @Test func externalFilesAreLinkedInAnotherFolderAlone() throws {
        let words = ["store", "--to", "self", "--link-external"]
        #expect(throws: (any Error).self) { try MigrateCommand.parse(words) }
        let command = try MigrateCommand.parse(words + ["--output", "out"])
        #expect(command.arguments.engine.linkExternal)
    }

    /// What a command refuses its help does not offer, and what it needs is said to be.
    @Test func helpSaysWhatGoes() {
        let submit = SubmitCommand.helpMessage()
        #expect(!submit.contains("--workers") && !submit.contains("--state"))
        #expect(submit.contains("Required"))
        #expect(CoordinateCommand.helpMessage().contains("Required"))
        #expect(WorkCommand.helpMessage().contains("Required"))
        #expect(PlanCommand.helpMessage().contains("TMPDIR"))
        #expect(MigrateCommand.helpMessage().contains("during the run"))
    }

    @Test(arguments: [
        (["auto"], PartitionMode.auto), (["key"], .key), (["entity"], .entity), ([], .auto),
        (["uuid:A.b.c"], .uuid([PropertyKey("A", "b.c")])),
        (["auto", "uuid:A.b"], .uuid([PropertyKey("A", "b")])),
    ])
    func partitionModes(_ texts: [String], _ mode: PartitionMode) throws {
        #expect(try PartitionArgument.mode(texts.compactMap { PartitionArgument($0) }) == mode)
    }

    @Test(arguments: [
        ["key", "entity"], ["key", "key"], ["key", "uuid:A.b"], ["uuid:A.b", "uuid:A.c"],
    ])
    func contradictionsAreUsageErrors(_ texts: [String]) throws {
        let all = texts.compactMap { PartitionArgument($0) }
        #expect(all.count == texts.count)
        let failure = try #require(throws: CommandFailure.self) { try PartitionArgument.mode(all) }
        #expect(failure.status == .usage)
    }

    @Test(arguments: ["", "uuid", "uuid:", "uuid:A", "uuid:.b", "uuid:A.", "keys", "Key"])
    func othersAreNoPartition(_ text: String) { #expect(PartitionArgument(text) == nil) }

    @Test func evolveIsRefused() throws {
        let arguments = try arguments("--strategy", "evolve")
        let failure = try #require(throws: CommandFailure.self) { try arguments.options() }
        #expect(failure.status == .usage)
        #expect(failure.description.contains("not available in this version"))
    }

    @Test(arguments: [
        ["--workers", "0"], ["--workers", "257"], ["--framework", "0"], ["--chunk-bytes", "0"],
        ["--chunk-bytes", "1"], ["--chunk-bytes", "4095"],
        ["--history", "some"], ["--strategy", "fast"], ["--bogus"],
    ])
    func wrongValuesAreUsageErrors(_ words: [String]) {
        #expect {
            try PlanCommand.parse(["store", "--to", "self"] + words)
        } throws: { PlanCommand.exitCode(for: $0).rawValue == CommandStatus.usage.rawValue }
    }
}
