import ArgumentParser
import DurableFiles
import Foundation
import Glibc
import StoreForge
import TestSupport
import Testing

@testable import CommandSupport
@testable import GodwitCommands

/// The built program as a coordinator: how it ends where it cannot begin, and whom it knows.
@Suite(.serialized) struct CoordinateCommandTests {
    /// Runs `coordinate`, which has to end by itself.
    private func ended(
        _ words: [String], in url: URL
    ) throws -> (status: Int32, output: String, log: String) {
        try ClientProcess(
            ["coordinate", "--state", "state", "--root", "data=."] + words, in: url,
            isConnected: false
        ).finish()
    }

    /// A port at which no other program can listen while the body runs.
    private func withPort(_ body: (UInt16) throws -> Void) throws {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(socket >= 0)
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(socket, address, size) == 0 && listen(socket, 1) == 0
                    && getsockname(socket, address, &size) == 0
            }
        }
        try #require(isBound)
        try body(UInt16(bigEndian: address.sin_port))
    }

    @Test func aPortInUseIsInputAndOutput() throws {
        try withTemporaryFolder { url in
            try withPort { port in
                let end = try ended(
                    ["--listen", "tcp://127.0.0.1:\(port)", "--plain"], in: url)
                #expect(end.status == 74, "\(end.log)")
                #expect(end.log.contains("tcp://127.0.0.1:\(port)"))
                #expect(end.log.contains("stop it or choose another port"))
            }
        }
    }

    @Test(arguments: [
        (["--listen", "ipc:///does/not/exist/socket"], "must exist"),
        (["--listen", "tcp://192.0.2.1:7411", "--keys", "keys"], "no such address"),
        (["--listen", "ipc:///tmp/x", "--keys", "none"], "none"),
        (["--listen", "ipc:///tmp/x", "--root", "more=none"], "--root more="),
    ])
    func whatCanNeverBeIsAMistake(words: [String], text: String) throws {
        try withTemporaryFolder { url in
            _ = try KeyGenerator(try #require(FilePath(url)).appending("keys"))
                .makeCluster(workers: [], clients: [])
            let end = try ended(words, in: url)
            #expect(end.status == 64, "\(end.log)")
            #expect(end.log.contains(text), "\(end.log)")
            #expect(!end.log.contains("coordinating"))
        }
    }

    @Test func whereStoresLieHasToBeSaid() throws {
        let error = try #require(throws: (any Error).self) {
            try CoordinateCommand.parse(["--listen", "ipc:///tmp/x", "--state", "state"])
        }
        let text = CoordinateCommand.message(for: error)
        #expect(text.contains("--root NAME=FOLDER"), "\(text)")
        #expect(text.contains("Workers use the same names"), "\(text)")
    }

    @Test func aLedgerThatIsNoneIsInputAndOutput() throws {
        try withTemporaryFolder { url in
            let state = url.appendingPathComponent("state")
            try FileManager.default.createDirectory(
                at: state, withIntermediateDirectories: false)
            try Data(repeating: 7, count: 8192).write(
                to: state.appendingPathComponent("ledger.sqlite"))
            let end = try ended(["--listen", ClientProcess.endpoint(in: url)], in: url)
            #expect(end.status == 74, "\(end.log)")
            #expect(end.log.contains("ledger.sqlite"))
        }
    }

    /// A coordinator with keys over a socket of the folder, and a worker.
    struct Cluster {
        let url: URL
        let coordinator: ClientProcess
        let worker: ClientProcess

        init(in url: URL) throws {
            self.url = url
            let keys = url.appendingPathComponent("keys").path
            _ = try KeyGenerator(FilePath(keys)).makeCluster(workers: ["rack-7"], clients: ["me"])
            coordinator = try ClientProcess(
                [
                    "coordinate", "--state", "state", "--root", "data=.", "--keys", keys,
                    "--listen", ClientProcess.endpoint(in: url),
                ], in: url, isConnected: false)
            worker = try ClientProcess(
                ["work", "--root", "data=.", "--slots", "1", "--keys", "keys/workers/rack-7"],
                in: url)
        }

        func ask(_ words: String...) throws -> (status: Int32, output: String, log: String) {
            try ClientProcess(words + ["--keys", "keys"], in: url).finish()
        }

        /// Asks for the workers until one is there.
        func names() throws -> [String] {
            for _ in 0..<200 {
                let shown = try ask("workers", "--json")
                let workers = try? JSONDecoder().decode(
                    [ClusterEntry.Worker].self, from: Data(shown.output.utf8))
                if let workers, workers.contains(where: { $0.state == "active" }) {
                    return workers.map(\.name)
                }
            }
            throw Unheard(description: "a worker")
        }

        func end() throws -> Int32 {
            for process in [worker, coordinator] { kill(process.identifier, SIGTERM) }
            return try coordinator.finish().status
        }
    }

    /// The list that a key is on says whose it is, and both sides say what to give instead.
    @Test func keysOfTheOtherKindAreToldApart() throws {
        try withTemporaryFolder { url in
            let cluster = try Cluster(in: url)
            #expect(try cluster.names() == ["rack-7"])
            kill(cluster.worker.identifier, SIGTERM)
            #expect(try cluster.worker.finish().status == 0)
            let client = try ClientProcess(
                ["workers", "--keys", "keys/workers/rack-7"], in: url
            ).finish()
            #expect(client.status == 64)
            #expect(client.log.contains("this is a worker's key"), "\(client.log)")
            let worker = try ClientProcess(
                ["work", "--root", "data=.", "--slots", "1", "--keys", "keys/clients/me"], in: url
            ).finish()
            #expect(worker.status == 64)
            #expect(worker.log.contains("this is a client's key"), "\(worker.log)")
            // The line that helps a worker in names none of the client's keys.
            let none = try cluster.ask("workers")
            #expect(none.output.contains("--keys KEYS/workers/NAME"), "\(none.output)")
            #expect(try cluster.end() == 0)
        }
    }

    @Test func workersAreKnownByTheirNamesOnTheList() throws {
        try withTemporaryFolder { url in
            let cluster = try Cluster(in: url)
            #expect(try cluster.names() == ["rack-7"])
            let second = try ended(["--listen", "ipc://\(url.path)/other"], in: url)
            #expect(second.status == 75, "\(second.log)")
            let unknown = try cluster.ask("drain", "rack")
            #expect(unknown.status == 64)
            #expect(unknown.log == "godwit: there is no worker rack. Connected workers: rack-7\n")
            let drained = try cluster.ask("drain", "rack-7")
            #expect(drained.status == 0, "\(drained.log)")
            // It ends by itself.
            #expect(try cluster.worker.finish().status == 0)
            #expect(try cluster.end() == 0)
        }
    }
}

extension CoordinateCommandTests {
    /// A fleet with a good store, one that is none, and a log without its database.
    private func makeFleet(in url: URL) throws {
        let data = url.appendingPathComponent("data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
        for (name, version) in [("data/good.sqlite", 1), ("template.sqlite", 2)] {
            let file = url.appendingPathComponent(name)
            try ForgedStore.notes(at: FilePath(file.path), version: version, notes: 10)
        }
        for name in ["bad.sqlite", "ghost.sqlite-wal"] {
            try Data(repeating: 0x41, count: 4096).write(to: data.appendingPathComponent(name))
        }
    }

    @Test func aRunTellsItsFilesAndLeavesItsReport() throws {
        try withTemporaryFolder { url in
            try makeFleet(in: url)
            let cluster = try Cluster(in: url)
            let end = try cluster.ask(
                "submit", "data", "--to", "template.sqlite", "--root", "data=.", "--wait")
            #expect(end.status == 75, "\(end.log)")
            #expect(end.output.contains("\nstore 1: data:data/bad.sqlite: "), "\(end.output)")
            #expect(end.output.contains("skipped 1 file"), "\(end.output)")
            #expect(end.output.contains("ghost.sqlite-wal"))
            // The report is there before the end is announced.
            let report = try String(
                contentsOf: url.appendingPathComponent("state/runs/r1/report.txt"),
                encoding: .utf8)
            #expect(report.hasPrefix("1 of 2 stores migrated, 1 failed"), "\(report)")
            // A client that asks later receives that, too.
            let watched = try cluster.ask("watch", "r1")
            #expect(watched.output.contains("ghost.sqlite-wal"), "\(watched.output)")
            #expect(watched.output.contains("\nstore 1: data:data/bad.sqlite: "))
            // Each of them told the end once.
            for told in [end, watched] {
                let lines = (told.output + told.log).split(separator: "\n")
                #expect(lines.count { $0.hasPrefix("r1: ended") } == 1, "\(lines)")
            }
            #expect(try cluster.end() == 0)
        }
    }
}

/// What is said of a list of keys that is read again and again.
@Suite struct AllowListLogTests {
    @Test func eachChangeIsToldOnce() {
        var news = AllowListLog()
        #expect(news.read(keys: 3, isNew: false) == nil)
        #expect(news.read(keys: 1, isNew: true) == "the key list now has 1 key")
        let first = news.failed("x.pub is no key")
        #expect(first?.contains("x.pub is no key") == true)
        for _ in 0..<5 { #expect(news.failed("x.pub is no key") == nil) }
        #expect(news.failed("y.pub is no key")?.contains("y.pub") == true)
        #expect(
            news.read(keys: 2, isNew: false)
                == "the key list is readable again and now has 2 keys")
        #expect(news.read(keys: 2, isNew: false) == nil)
        #expect(news.failed("y.pub is no key") != nil)
    }
}
