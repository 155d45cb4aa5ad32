import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import Jobs
import MappingInference
import MappingModel
import MigrationPlans
import MigrationValidation
@testable import ModelCommands
import RunReports
import StateFolders
import StoreForge
import StoreRuns
import TestSupport
import Testing

@testable import CommandSupport
@testable import RunCommands

/// Verdicts on the versions of a bundle, without a store.
@Suite struct ModelCheckTests {
    /// A bundle of `Note` in five versions: a rename that the last one forgot, a type that goes
    /// and comes back, and a version that is no model.
    private func makeBundle(_ folder: URL) throws -> URL {
        let bundle = folder.appendingPathComponent("M.xcdatamodeld")
        func version(
            _ name: String, _ attribute: String, identifier: String? = nil,
            type: String = "String"
        ) throws {
            try Samples.makeSource(
                at: bundle.appendingPathComponent("\(name).xcdatamodel"), attribute: attribute,
                identifier: identifier, type: type)
        }
        try version("M", "color")
        try version("M 2", "hexColor", identifier: "color")
        try version("M 3", "hexColor", type: "Integer 32")
        try version("M 9", "hexColor")
        try version("M 10", "hexColor", identifier: "hexColor")
        try FileManager.default.createDirectory(
            at: bundle.appendingPathComponent("M 4.xcdatamodel"),
            withIntermediateDirectories: true)
        let current = ["_XCCurrentVersionName": "M 10.xcdatamodel"]
        try PropertyListSerialization.data(fromPropertyList: current, format: .xml, options: 0)
            .write(to: bundle.appendingPathComponent(".xccurrentversion"))
        return bundle
    }

    private func check(
        _ source: String, _ destination: String? = nil, policy: LossPolicy = .report,
        refusesData: Bool = false, allowsOlder: Bool = false
    ) throws -> ModelCheck {
        try ModelCheck(
            source: ModelArgument(source), destination: destination.map { ModelArgument($0) },
            rules: ModelCheck.Rules(
                losses: policy, refusesData: refusesData, allowsOlder: allowsOlder))
    }

    @Test func everyVersionGetsItsVerdict() throws {
        try withTemporaryFolder { folder in
            let found = try check(try makeBundle(folder).path)
            #expect(found.destination == "M 10")
            #expect(found.versions.map(\.version) == ["M", "M 2", "M 3", "M 4", "M 9", "M 10"])
            #expect(
                found.versions.map(\.verdict) == [
                    .inferred, .same, .mapping, .refused, .same, .same,
                ])
            let lost = try #require(found.versions.first?.losses.first)
            #expect(lost.subject.name == "Note.color")
            #expect(lost.renamed == IntermediateRename(version: "M 2", name: "Note.hexColor"))
            #expect(found.versions.dropFirst().flatMap(\.losses).isEmpty)
            #expect(!found.isPassed)
            #expect(found.text.hasPrefix("Stores of 4 of 6 versions can be migrated to M 10"))
            #expect(found.warnings.isEmpty)
        }
    }

    @Test func aPairIsChecked() throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder).path
            let one = try check("\(bundle):M", "\(bundle):M 2")
            #expect(one.versions.map(\.verdict) == [.inferred])
            #expect(one.versions.first?.losses.isEmpty == true)
            #expect(one.isPassed)
            let back = try check("\(bundle):M 2", "\(bundle):M")
            #expect(back.versions.map(\.verdict) == [.refused])
            #expect(back.versions.first?.reasons.first?.contains("newer") == true)
            let allowed = try check("\(bundle):M 2", "\(bundle):M", allowsOlder: true)
            #expect(allowed.versions.map(\.verdict) == [.inferred])
            let all = try check(bundle, "\(bundle):M 9")
            #expect(all.versions.map(\.version) == ["M", "M 2", "M 3", "M 4", "M 9", "M 10"])
            #expect(all.destination == "M 9")
            let alone = #expect(throws: CommandFailure.self) {
                try check("\(bundle)/M.xcdatamodel")
            }
            #expect(alone?.status == .usage)
        }
    }

    @Test func lossesAreRefusedUnlessTheyAreAccepted() throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder).path
            for (accepted, isPassed) in [([], false), (["Note.*"], true), (["Other.*"], false)] {
                let found = try check(
                    "\(bundle):M", "\(bundle)", policy: .refuse(accepted: accepted))
                #expect(found.isPassed == isPassed)
                let one = try #require(found.cases(seconds: 1).first)
                #expect(one.failure?.kind == (isPassed ? nil : "losses"))
                #expect(one.warnings.isEmpty != isPassed)
                let isMistyped = accepted == ["Other.*"]
                #expect(found.warnings.isEmpty != isMistyped)
                #expect(one.file?.hasSuffix("M.xcdatamodeld/M.xcdatamodel/contents") == true)
            }
        }
    }

    @Test func theNearestVersionIsSuggested() throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder).path
            let failure = #expect(throws: CommandFailure.self) { try check("\(bundle):M9") }
            #expect(failure?.description.contains("Did you mean M 9") == true)
            let far = #expect(throws: CommandFailure.self) { try check("\(bundle):Something") }
            #expect(far?.description.contains("It has: M, M 2, M 3") == true)
        }
    }

    /// A store of the bundle's first version.
    private func makeStore(of bundle: String, in folder: URL) throws -> String {
        let model = try ModelArgument("\(bundle):M").load(scratch: FilePath(folder.path)).model
        let store = folder.appendingPathComponent("a.sqlite").path
        _ = try Forge(ForgeRecipe(model: model)).write(to: FilePath(store))
        return store
    }

    private func values(
        _ column: String, of path: String, in folder: URL
    ) throws -> [String?] {
        try DatabaseQueue(path: folder.appendingPathComponent(path).path).read {
            try String?.fetchAll($0, sql: "SELECT \(column) FROM ZNOTE ORDER BY Z_PK")
        }
    }

    /// A migration that follows the hint keeps what the direct one loses.
    @Test func theHintHelps() throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder).path
            let program = ProcessTests()
            let store = try makeStore(of: bundle, in: folder)
            let direct = try program.run(["plan", store, "--to", bundle], in: folder)
            #expect(direct.output.contains("version M 2 renames it to Note.hexColor"))
            for (to, output) in [("M 2", "one"), ("M 10", "two")] {
                let from = output == "one" ? store : "one/a.sqlite"
                let ended = try program.run(
                    [
                        "migrate", from, "--to", "\(bundle):\(to)", "--output", output,
                        "--losses", "refuse",
                    ], in: folder)
                #expect(ended.status == 0, "\(ended.log)")
            }
            let values = try self.values("ZCOLOR", of: "a.sqlite", in: folder)
            #expect(values.count == 20)
            #expect(try self.values("ZHEXCOLOR", of: "two/a.sqlite", in: folder) == values)
            // Models without identifiers are called as the bundle calls them.
            let report = try String(
                contentsOf: folder.appendingPathComponent("one/.godwit/runs/r1/report.txt"),
                encoding: .utf8)
            #expect(report.contains("M → M 2"), "\(report)")
        }
    }

    /// The same in one command, by a version that is named and by one that is found.
    @Test(arguments: ["M 2", "auto"]) func oneCommandGoesThroughAVersion(via: String) throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder).path
            let program = ProcessTests()
            let store = try makeStore(of: bundle, in: folder)
            let planned = try program.run(
                ["plan", store, "--to", bundle, "--via", via], in: folder)
            #expect(planned.output.contains("through    M 2, in one pass"), "\(planned.output)")
            let isCompared =
                planned.output.contains("straight: loses Note.color")
                && planned.output.contains("through M 2: loses nothing (chosen)")
            #expect(isCompared == (via == "auto"), "\(planned.output)")
            let ended = try program.run(
                [
                    "migrate", store, "--to", bundle, "--via", via, "--output", "out",
                    "--losses", "refuse",
                ], in: folder)
            #expect(ended.status == 0, "\(ended.log)")
            let values = try self.values("ZCOLOR", of: "a.sqlite", in: folder)
            #expect(values.count == 20)
            #expect(try self.values("ZHEXCOLOR", of: "out/a.sqlite", in: folder) == values)
            for (extra, status) in [(["--via", via], 0), ([], 1)] {
                let verified = try program.run(
                    ["verify", "a.sqlite", "out/a.sqlite", "--to", bundle] + extra, in: folder)
                #expect(verified.status == Int32(status), "\(verified.log)")
            }
            let checked = try program.run(
                ["model", "check", "\(bundle):M", bundle, "--via", via, "--losses", "refuse"],
                in: folder)
            #expect(checked.status == 0, "\(checked.output)")
        }
    }

    @Test(arguments: [
        ("M 22", "the bundle has no version M 22"), ("M 10", "M 10 is the destination itself"),
        ("M 2,M 2", "names each version once"), ("M 9,M 2", "order is M 2, M 9, M 10"),
        ("M 4", "M 4.xcdatamodel"),
        ("M 3", "step M 3 → M 10 has no mapping"),
    ])
    func waysThatAreNone(via: String, text: String) throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder).path
            let program = ProcessTests()
            let store = try makeStore(of: bundle, in: folder)
            let ended = try program.run(["plan", store, "--to", bundle, "--via", via], in: folder)
            #expect(ended.status != 0)
            #expect((ended.output + ended.log).contains(text), "\(ended.output)\(ended.log)")
        }
    }

    @Test func aVersionThatIsNotCurrentYetIsNamed() throws {
        try withTemporaryFolder { folder in
            let bundle = try makeBundle(folder)
            try Samples.makeSource(
                at: bundle.appendingPathComponent("M 11.xcdatamodel"), attribute: "other")
            let found = try check(bundle.path)
            #expect(found.warnings.count == 1)
            #expect(found.warnings.first?.contains("later names exist: M 11") == true)
            #expect(try check("\(bundle.path):M 10").warnings.isEmpty)
        }
    }

    /// What depends on the data passes unless that is refused, and the text does not hide it.
    @Test func whatDependsOnDataCanBeRefused() throws {
        try withTemporaryFolder { folder in
            let models = ["V1", "V2"].map { folder.appendingPathComponent("\($0).xcdatamodel") }
            try Samples.makeSource(at: models[0], attribute: "text")
            try Samples.makeSource(at: models[1], attribute: "text")
            let contents = models[1].appendingPathComponent("contents")
            let text = try String(contentsOf: contents, encoding: .utf8)
            try Data(text.replacing("optional=\"YES\" ", with: "").utf8).write(to: contents)
            let found = try check(models[0].path, models[1].path)
            #expect(found.versions.map(\.verdict) == [.data])
            #expect(found.isPassed)
            #expect(found.text.contains("of 1 only if their data fulfil the reasons below"))
            let refused = try check(models[0].path, models[1].path, refusesData: true)
            #expect(!refused.isPassed)
            #expect(refused.cases(seconds: 0).first?.failure?.kind == "data")
        }
    }

    /// The verdict on a version is what the plan of a store of it says.
    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func verdictsAgreeWithPlans() throws {
        try withTemporaryFolder { folder in
            let bundle = try Fixtures.url(
                "wireapp-wire-ios-data-model/models/zmessaging.xcdatamodeld")
            let stores = try FixtureStores.all().filter { $0.path.contains("wireapp") }
            var verdicts: Set<VersionCheck.Verdict> = []
            var compared = 0
            let cache = MigrationCache()
            let scratch = FilePath(folder.path)
            for (number, version) in ["2.53.0", "2.60.0", "2.101.0", "2.30.0"].enumerated() {
                let loaded = try ModelArgument("\(bundle.path):zmessaging\(version)")
                    .load(scratch: scratch)
                var options = PlanOptions(allowsMissingExternalData: true)
                if number > 0 { options.newerVersions = loaded.newerVersions() }
                let destination = try loaded.destination()
                for (place, store) in stores.enumerated() where place % 4 == number {
                    let model = try ModelArgument(store.path).load(scratch: scratch)
                    let check = VersionCheck(
                        of: model.model, hashes: model.hashes, name: "source", to: destination,
                        options: options, cache: cache)
                    let planned = plan(
                        MigrationRequest(
                            store: FilePath(store.path),
                            output: scratch.appending("out").appending("result"),
                            state: scratch.appending("state"), destination: .model(destination),
                            options: options, cache: cache))
                    verdicts.insert(check.verdict)
                    compared += 1
                    switch (check.verdict, planned) {
                    case (.same, .success), (.inferred, .success), (.data, .success): break
                    case (.data, .failure(let error)):
                        #expect(error.cause == .dataRefused)
                    case (.mapping, .failure(let error)):
                        #expect(error.cause == .noMapping)
                    case (.refused, .failure(let error)):
                        #expect([.noMapping, .olderDestination].contains(error.cause))
                    default: Issue.record("\(store.path) to \(version): \(check) and \(planned)")
                    }
                }
            }
            #expect(compared > 30)
            #expect(verdicts.isSuperset(of: [.inferred, .mapping, .refused]))
        }
    }

    private func plan(_ request: MigrationRequest) -> Result<PlannedStore, RunError> {
        Result { () throws(RunError) in try StorePlanning(request).plan() }
    }
}
