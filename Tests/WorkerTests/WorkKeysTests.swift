import ClusterProtocol
import DurableFiles
import Foundation
import Glibc
import Jobs
import TestSupport
import Testing
import ZeroMQ

@testable import RunService
@testable import Worker

/// The built program as a worker over CURVE, with keys that the program made.
@Suite(.serialized) struct WorkKeysTests {
    /// A coordinator with the keys of a new cluster, whose list holds the first worker only.
    private struct Cluster {
        let folder: URL
        let chunks: EngineJobTests.ChunkLab
        let coordinator: ScriptedCoordinator

        init(in url: URL) throws {
            folder = url
            let keys = Process()
            keys.executableURL = WorkerProcess.program
            keys.arguments = ["keys", "new", "--output", "\(url.path)/keys", "--workers", "2"]
            keys.standardOutput = FileHandle.nullDevice
            keys.standardError = FileHandle.nullDevice
            try keys.runBounded()
            keys.waitUntilExit()
            try #require(keys.terminationStatus == 0)
            let made = url.appendingPathComponent("data")
            try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
            chunks = try EngineJobTests.ChunkLab(in: made)
            let secret = try Self.line(url, "coordinator/secret.key")
            coordinator = try ScriptedCoordinator(
                "tcp://127.0.0.1:*",
                security: .curveServer(KeyPair(secretKey: SecretKey(secret)), domain: "control"),
                access: AccessPolicy(names: [try Self.key(url, "worker-1"): "worker/worker-1"]))
        }

        private static func line(_ url: URL, _ path: String) throws -> String {
            let text = try String(
                contentsOf: url.appendingPathComponent("keys/\(path)"), encoding: .utf8)
            return String(text.prefix(40))
        }

        static func key(_ url: URL, _ worker: String) throws -> PublicKey {
            try PublicKey(line(url, "workers/\(worker)/public.key"))
        }

        func key(_ worker: String) throws -> PublicKey { try Self.key(folder, worker) }

        /// Starts a worker; it ends with the test's process at the latest.
        func start(_ more: String...) throws -> WorkerProcess {
            try WorkerProcess(
                ["--connect", coordinator.endpoint, "--slots", "1"]
                    + chunks.roots.flatMap { ["--root", "\($0.key)=\($0.value)"] } + more)
        }

        /// Has the worker that said hello last do a job.
        func expectJobDone(_ number: Int) throws {
            let order = chunks.order(chunks.works[0], number: number)
            try coordinator.send(.jobs([order]))
            _ = try coordinator.done(order.attempt.id)
            try coordinator.send(.committed(attempt: order.attempt.id))
        }

        func end(_ workers: WorkerProcess...) throws {
            for worker in workers { worker.kill() }
            try coordinator.vanish()
        }
    }

    private func with(_ body: (Cluster) throws -> Void) throws {
        try withTemporaryFolder { try body(Cluster(in: $0)) }
    }

    @Test func aKeyOnTheListDoesJobs() throws {
        try with { cluster in
            let worker = try cluster.start("--keys", "\(cluster.folder.path)/keys")
            let hello = try cluster.coordinator.welcome()
            #expect(hello.worker == (try cluster.key("worker-1")).text)
            #expect(!hello.host.isEmpty)
            #expect(cluster.coordinator.user == "worker/worker-1")
            try cluster.expectJobDone(1)
            try cluster.end(worker)
        }
    }

    @Test func aKeyThatIsNotOnTheListWaitsUntilItIs() throws {
        try with { cluster in
            let late = try cluster.start("--keys", "\(cluster.folder.path)/keys/workers/worker-2")
            let key = try cluster.key("worker-2")
            for _ in 1...2 {
                let refusal = try cluster.coordinator.keptOut("a refusal") { kept in
                    if case .refused(let refusal) = kept { refusal } else { nil }
                }
                #expect(refusal.reason == .unknownKey(key))
                #expect(refusal.description.contains(key.text))
            }
            try late.expectLog("not on the coordinator's list")
            try late.expectLog("\(key.text), into a file NAME.pub in allowed/workers")
            // Another one is served meanwhile.
            let known = try cluster.start(
                "--keys", "\(cluster.folder.path)/keys", "--name", "worker-1")
            try cluster.coordinator.welcome()
            #expect(cluster.coordinator.user == "worker/worker-1")
            try cluster.expectJobDone(1)

            cluster.coordinator.allow(key, as: "worker/late")
            let hello = try cluster.coordinator.welcome()
            #expect(hello.worker == key.text)
            #expect(cluster.coordinator.user == "worker/late")
            try cluster.expectJobDone(2)
            try late.expectLog("connected to the coordinator")
            try cluster.end(late, known)
        }
    }

    @Test func aWrongKeyOfTheCoordinatorIsTold() throws {
        try with { cluster in
            let part = cluster.folder.appendingPathComponent("keys/workers/worker-1")
            let peer = part.appendingPathComponent("coordinator.pub")
            let right = try Data(contentsOf: peer)
            try Data(try KeyPair.generate().publicKey.text.utf8).write(to: peer)
            let wrong = try cluster.start("--keys", part.path)
            _ = try cluster.coordinator.keptOut("a wrong key") { kept -> Bool? in
                kept == .failed(.handshakeFailedProtocol(.cryptographic)) ? true : nil
            }
            try wrong.expectLog("coordinator.pub")
            wrong.kill()
            try right.write(to: peer)
            let repaired = try cluster.start("--keys", part.path)
            try cluster.coordinator.welcome()
            try cluster.expectJobDone(1)
            try cluster.end(repaired)
        }
    }

    @Test func noKeyIsRefused() throws {
        try with { cluster in
            let plain = try cluster.start("--plain")
            // Both sides notice; how it looks here depends on who does first.
            _ = try cluster.coordinator.keptOut("no key") { kept -> Bool? in
                if case .failed = kept { true } else { nil }
            }
            try plain.expectLog("keys")
            let known = try cluster.start("--keys", "\(cluster.folder.path)/keys")
            try cluster.coordinator.welcome()
            try cluster.expectJobDone(1)
            try cluster.end(plain, known)
        }
    }

    @Test func aThousandStrangersDoNotKeepAWorkerFromItsJobs() throws {
        try with { cluster in
            let worker = try cluster.start("--keys", "\(cluster.folder.path)/keys")
            try cluster.coordinator.welcome()
            var generator = SeededGenerator(seed: 11)
            var silent: [RawConnection] = []
            var jobs = 0
            for number in 0..<1000 {
                let stranger = try RawConnection(cluster.coordinator.endpoint)
                if number % 10 == 0 {
                    // It holds its connection and says nothing.
                    silent.append(stranger)
                } else {
                    // The first byte of a true greeting would have the server wait for more.
                    stranger.write(
                        [0x16]
                            + (0..<100).map { _ in UInt8.random(in: 0...255, using: &generator) })
                    stranger.readToEnd()
                }
                if number % 100 == 99 {
                    jobs += 1
                    try cluster.expectJobDone(jobs)
                }
            }
            #expect(jobs == 10)
            #expect(silent.count == 100)
            for _ in 0..<900 {
                _ = try cluster.coordinator.keptOut("a stranger") { kept -> Bool? in
                    kept == .failed(.disconnectedBeforeHandshake) ? true : nil
                }
            }
            try cluster.coordinator.heartbeat(holding: [])
            try cluster.end(worker)
        }
    }
}

/// A worker's process and its log.
private final class WorkerProcess {
    /// The program lies beside the tests.
    static let program = PoolLab.program.deletingLastPathComponent()
        .appendingPathComponent("godwit")

    private let process = Process()
    private let log = Pipe()
    private var text = ""

    init(_ arguments: [String]) throws {
        process.executableURL = Self.program
        process.arguments = ["work"] + arguments
        if !PoolLab.canLimitMemory { process.arguments? += ["--slot-memory", "2000T"] }
        process.standardOutput = FileHandle.nullDevice
        process.standardError = log
        try process.runBounded()
    }

    deinit { kill() }

    /// Reads the log until it has said a text.
    func expectLog(_ wanted: String, _ location: SourceLocation = #_sourceLocation) throws {
        while !text.contains(wanted), text.utf8.count < 20_000 {
            let data = log.fileHandleForReading.availableData
            guard !data.isEmpty else { break }
            text += String(decoding: data, as: UTF8.self)
        }
        #expect(text.contains(wanted), "\(text)", sourceLocation: location)
    }

    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
