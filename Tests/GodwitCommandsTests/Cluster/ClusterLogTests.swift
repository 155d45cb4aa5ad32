import DurableFiles
import Foundation
import Glibc
import TestSupport
import Testing

@testable import GodwitCommands

/// What the logs of a coordinator and its workers say of who is kept out, and who drains.
@Suite(.serialized) struct ClusterLogTests {
    private typealias Cluster = CoordinateCommandTests.Cluster

    /// Asks the coordinator again and again until a log holds a text.
    private func expect(
        _ text: String, in process: ClientProcess, _ cluster: Cluster,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        for _ in 0..<200 {
            if try process.logSoFar().contains(text) { return }
            _ = try cluster.ask("workers")
        }
        Issue.record("no \(text): \(try process.logSoFar())", sourceLocation: location)
    }

    private func worker(_ keys: String, in url: URL) throws -> ClientProcess {
        try ClientProcess(
            ["work", "--root", "data=.", "--slots", "1", "--keys", keys], in: url)
    }

    private func end(_ process: ClientProcess, _ signal: Int32 = SIGKILL) throws {
        kill(process.identifier, signal)
        _ = try process.finish()
    }

    @Test func aSecondWorkerWithTheSameKeyIsKeptOut() throws {
        try withTemporaryFolder { url in
            let cluster = try Cluster(in: url)
            #expect(try cluster.names() == ["rack-7"])
            let copy = url.appendingPathComponent("copy")
            try FileManager.default.copyItem(
                at: url.appendingPathComponent("keys/workers/rack-7"), to: copy)
            let twin = try worker(copy.path, in: url)
            try expect("another worker runs with the same key", in: twin, cluster)
            try expect("worker-refused: rack-7 was refused", in: cluster.coordinator, cluster)
            #expect(try cluster.names() == ["rack-7"])
            #expect(try !cluster.worker.logSoFar().contains("is lost"))
            // When the first is gone the second comes in.
            try end(cluster.worker)
            try expect("connected to the coordinator", in: twin, cluster)
            try end(twin)
            #expect(try cluster.end() == 0)
        }
    }

    @Test func logReportsConnectionsWithMissingOrUnknownKeys() throws {
        try withTemporaryFolder { url in
            let cluster = try Cluster(in: url)
            _ = try KeyGenerator(FilePath(url.appendingPathComponent("other").path))
                .makeCluster(workers: ["w"], clients: [])
            let plain = try ClientProcess(
                ["work", "--root", "data=.", "--slots", "1", "--name", "p"], in: url)
            try expect(": it uses no key", in: cluster.coordinator, cluster)
            let other = try worker("other/workers/w", in: url)
            try expect(": it uses the wrong server key", in: cluster.coordinator, cluster)
            try end(plain)
            try end(other)
            #expect(try cluster.end() == 0)
        }
    }

    @Test func linesBeginWithTheirTimeAndTellOfDraining() throws {
        try withTemporaryFolder { url in
            let cluster = try Cluster(in: url)
            #expect(try cluster.names() == ["rack-7"])
            #expect(try cluster.ask("drain", "rack-7").status == 0)
            let worker = try cluster.worker.finish()
            #expect(worker.status == 0)
            #expect(worker.log.contains("godwit: draining: the worker finishes its running jobs"))
            #expect(try cluster.end() == 0)
            let log = worker.log + (try cluster.coordinator.logSoFar())
            for line in log.split(separator: "\n") {
                let isTimed = line.contains(
                    #/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z [a-z]+ godwit: /#)
                #expect(isTimed, "\(line)")
            }
        }
    }

    @Test func aWorkersKeyInAClientsHandIsTold() throws {
        try withTemporaryFolder { url in
            let cluster = try Cluster(in: url)
            #expect(try cluster.names() == ["rack-7"])
            _ = try ClientProcess(
                ["workers", "--keys", "keys/workers/rack-7"], in: url
            ).finish()
            try expect(
                "used the key of the worker rack-7", in: cluster.coordinator, cluster)
            #expect(try cluster.end() == 0)
        }
    }
}
