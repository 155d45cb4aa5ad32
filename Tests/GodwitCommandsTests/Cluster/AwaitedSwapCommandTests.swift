import DurableFiles
import Foundation
import StoreForge
import TestSupport
import Testing

/// The built programs with a run whose results wait for their swap, and with stores by path.
@Suite(.serialized) struct AwaitedSwapCommandTests {
    private func makeStores(in url: URL) throws {
        let data = url.appendingPathComponent("data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
        for (name, version) in [("data/a", 1), ("data/b", 1), ("template", 2)] {
            let file = url.appendingPathComponent("\(name).sqlite")
            try ForgedStore.notes(at: FilePath(file.path), version: version, notes: 10)
        }
    }

    private let submit = [
        "submit", "data", "--to", "template.sqlite", "--root", "data=.", "--wait", "--keys", "keys",
    ]

    @Test func whoWaitsIsToldHowToSwap() throws {
        try withTemporaryFolder { url in
            try makeStores(in: url)
            let cluster = try CoordinateCommandTests.Cluster(in: url)
            let hint = "swap the results in with: godwit swap r1 --connect "
            for words in [submit + ["--defer-swap"], submit + ["--defer-swap"]] {
                let end = try ClientProcess(words, in: url).finish()
                #expect(end.status == 0, "\(end.log)")
                #expect(end.output.hasPrefix("r1: open, 0/2 stores, 2 ready to swap"))
                #expect(end.output.contains(hint))
                #expect(!end.log.contains("2 ready to swap"), "\(end.log)")
            }
            let watched = try cluster.ask("watch", "r1")
            #expect(watched.status == 0)
            #expect(watched.output.contains(hint))
            for words in ["pause", "resume"] {
                let told = try cluster.ask(words, "r1")
                #expect(told.status == 64)
                #expect(told.log.contains("godwit swap r1 --connect "), "\(told.log)")
            }
            for store in ["99", "1"] {
                let told = try cluster.ask("replay", "r1", "--store", store)
                #expect(told.status == 64)
                #expect(told.log.contains("store \(store)"), "\(told.log)")
            }
            let swapped = try ClientProcess(submit, in: url).finish()
            #expect(swapped.status == 0, "\(swapped.log)")
            #expect(swapped.output.hasPrefix("r1: ended, 2/2 stores"), "\(swapped.output)")
            let again = try cluster.ask("swap", "r1")
            #expect(again.status == 64)
            #expect(again.log == "godwit: no result of the run r1 waits for its swap\n")
            #expect(try cluster.end() == 0)
            let status = try ClientProcess(
                ["status", "--state", "state"], in: url, isConnected: false
            ).finish()
            #expect(status.output.contains("r1   ended"), "\(status.output)")
        }
    }

    @Test func cancelDiscardsResultsReadyToSwap() throws {
        try withTemporaryFolder { url in
            try makeStores(in: url)
            let cluster = try CoordinateCommandTests.Cluster(in: url)
            let end = try ClientProcess(submit + ["--defer-swap"], in: url).finish()
            #expect(end.status == 0, "\(end.log)")
            let told = try cluster.ask("cancel", "r1")
            #expect(told.status == 0, "\(told.log)")
            let watched = try cluster.ask("watch", "r1")
            #expect(watched.output.contains("r1: cancelled"), "\(watched.output)")
            let left = try FileManager.default.contentsOfDirectory(
                atPath: url.appendingPathComponent("data").path)
            #expect(!left.contains { $0.hasPrefix(".godwit") }, "\(left)")
            #expect(try cluster.end() == 0)
        }
    }

    @Test func statusFindsTheRunsOfAStore() throws {
        try withTemporaryFolder { url in
            try makeStores(in: url)
            func run(_ words: String...) throws -> (status: Int32, output: String, log: String) {
                try ClientProcess(words + ["--state", "state"], in: url, isConnected: false)
                    .finish()
            }
            for store in ["data/a.sqlite", "data/b.sqlite"] {
                let end = try run("migrate", store, "--to", "template.sqlite")
                #expect(end.status == 0, "\(end.log)")
            }
            let status = try run("status", "data/b.sqlite")
            #expect(status.output.contains("r2   ended"), "\(status.output)")
            #expect(!status.output.contains("r1"))
            let other = try run("status", "template.sqlite")
            #expect(other.status == 64)
            #expect(other.log.contains("no run of this state folder has the store"), "\(other.log)")
            let unknown = try run("status", "nix.sqlite")
            #expect(unknown.status == 64)
            #expect(
                unknown.log.contains("there is no file"), "\(unknown.log)")
            let nowhere = try ClientProcess(
                ["status", "/nowhere/nix.sqlite", "--state", "nix"], in: url, isConnected: false
            ).finish()
            #expect(nowhere.status == 64)
            #expect(nowhere.log.contains("/nowhere/nix.sqlite does not exist"), "\(nowhere.log)")
            #expect(try run("status", "r9").status == 64)
        }
    }
}
