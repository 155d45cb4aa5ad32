import Foundation
import TestSupport
import Testing

/// `godwit keys` as a user runs it.
@Suite struct KeysCommandTests {
    private struct Line: Decodable {
        let user: String
        let key: String
        let folder: String?
    }

    private func run(_ words: String..., in folder: URL) throws -> ProcessTests.Ended {
        try ProcessTests().run(["keys"] + words, in: folder)
    }

    private func lines(_ ended: ProcessTests.Ended) throws -> [Line] {
        try JSONDecoder().decode([Line].self, from: Data(ended.output.utf8))
    }

    @Test func aClusterIsMadeAndGrows() throws {
        try withTemporaryFolder { folder in
            let made = try run("new", "--output", "k", "--workers", "2", "--json", in: folder)
            #expect(made.status == 0, "\(made.log)")
            let first = try lines(made)
            #expect(
                first.map(\.user) == [
                    "coordinator", "worker/worker-1", "worker/worker-2", "client/client-1",
                ])
            #expect(first.map(\.folder).last == "k/clients/client-1")
            let again = try run("new", "--output", "k", in: folder)
            #expect(again.status == 64)
            #expect(again.log.contains("--worker NAME"))
            let added = try run(
                "new", "--output", "k", "--worker", "rack-3", "--client", "ops", in: folder)
            #expect(added.status == 0, "\(added.log)")
            #expect(added.output.contains("worker/rack-3"))
            let taken = try run("new", "--output", "k", "--worker", "rack-3", in: folder)
            #expect(taken.status == 64)
            let list = try lines(try run("list", "k", "--json", in: folder))
            #expect(
                Set(list.map(\.user))
                    == Set(first.map(\.user) + ["worker/rack-3", "client/ops"]))
            #expect(Set(list.map(\.key)).count == 6)
            for (line, other) in zip(first, first.dropFirst()) { #expect(line.key != other.key) }
            #expect(Set(list.map(\.key)).isSuperset(of: first.map(\.key)))
        }
    }

    @Test func theStandardServesASmallCluster() throws {
        try withTemporaryFolder { folder in
            let made = try run("new", "--output", "k", in: folder)
            #expect(made.status == 0)
            #expect(made.output.split(separator: "\n").count == 1 + 1 + 8 + 1)
            // No secret leaves its file.
            let secret = try String(
                contentsOf: folder.appendingPathComponent("k/coordinator/secret.key"),
                encoding: .utf8)
            #expect(!(made.output + made.log).contains(secret.prefix(40)))
        }
    }

    @Test(arguments: [
        (["new"], "--output"), (["new", "--output", "k", "--workers", "-1"], "--workers"),
        (["new", "--output", "k", "--worker", "../x"], "--worker"),
        (["new", "--output", "k", "--worker", "a", "--worker", "a"], "the same name"),
        (["list", "k"], "keys new"),
    ])
    func whatCannotBeIsRefused(words: [String], text: String) throws {
        try withTemporaryFolder { folder in
            let ended = try ProcessTests().run(["keys"] + words, in: folder)
            #expect(ended.status == 64)
            #expect(ended.log.contains(text), "\(ended.log)")
        }
    }
}
