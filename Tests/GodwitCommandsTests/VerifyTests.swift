import CoreDataStore
import Foundation
import ManagedObjectModel
import ModelFiles
import TestSupport
import Testing

@testable import GodwitCommands
@testable import RunCommands

/// What `verify` says of the versions of both stores.
@Suite struct VerifyTests {
    @Test func versionsAreSaid() throws {
        try withTemporaryFolder { folder in
            _ = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            let new = try Samples.newGarage()
            try Data(ModelArchive.write(new)).write(to: folder.appendingPathComponent("New.mom"))
            let done = try ProcessTests().run(
                [
                    "migrate", "a.sqlite", "--to", "New.mom", "--output", "b",
                    "--allow-missing-external",
                ], in: folder)
            #expect(done.status == 0, "\(done.log)")
            let digest = VersionHashes(new).digest
            let verified = try ProcessTests().run(["verify", "a.sqlite", "b/a.sqlite"], in: folder)
            #expect(verified.status == 0)
            #expect(verified.log.isEmpty, "\(verified.log)")
            #expect(verified.output.hasPrefix("source       a.sqlite: model 1, framework 1522, "))
            let line = "destination  b/a.sqlite: model 2, framework 1522, "
            #expect(verified.output.contains(line + "digest \(digest.prefix(12))…\n"))

            let json = try ProcessTests().run(
                ["verify", "a.sqlite", "b/a.sqlite", "--to", "New.mom", "--json"], in: folder)
            let report = try JSONDecoder().decode(
                VerificationReport.self, from: Data(json.output.utf8))
            #expect(report.isEqual)
            #expect(report.sourceVersion?.versionIdentifiers == ["1"])
            #expect(report.destinationVersion?.versionIdentifiers == ["2"])
            #expect(report.destinationVersion?.digest == digest)
        }
    }

    @Test func comparisonsThatProveLittleAreWarnedOf() throws {
        try withTemporaryFolder { folder in
            let store = folder.appendingPathComponent("a.sqlite")
            _ = try Samples.makeStore(at: store)
            try FileManager.default.copyItem(
                at: store, to: folder.appendingPathComponent("b.sqlite"))
            try FileManager.default.linkItem(
                at: store, to: folder.appendingPathComponent("c.sqlite"))
            for (words, warning) in [
                (["a.sqlite"], "lead to the same file"), (["c.sqlite"], "lead to the same file"),
                (["a.sqlite", "--to", "self"], "lead to the same file"),
                (["b.sqlite"], "both stores have the same model version"),
                (["b.sqlite", "--to", "self"], nil),
            ] as [([String], String?)] {
                let ended = try ProcessTests().run(["verify", "a.sqlite"] + words, in: folder)
                #expect(ended.status == 0, "\(ended.log)")
                if let warning {
                    #expect(ended.log.hasPrefix("warning: "))
                    #expect(ended.log.contains(warning), "\(ended.log)")
                } else {
                    #expect(ended.log.isEmpty, "\(ended.log)")
                }
            }
        }
    }
}
