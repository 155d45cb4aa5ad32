import ClusterProtocol
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationEngine
import MigrationPlans
import RunSupport
import TestSupport
import Testing
import ZeroMQ

@testable import RunService
@testable import Worker

/// The built program as a worker.
@Suite(.serialized) struct WorkCommandTests {
    private func start(
        _ url: URL, _ roots: [String: FilePath], _ more: [String] = []
    ) throws -> Process {
        let process = Process()
        process.executableURL = PoolLab.program.deletingLastPathComponent()
            .appendingPathComponent("godwit")
        process.arguments =
            ["work", "--connect", "ipc://\(url.path)/c", "--slots", "2", "--name", "w1"]
            + roots.flatMap { ["--root", "\($0.key)=\($0.value)"] } + more
        if !PoolLab.canLimitMemory { process.arguments? += ["--slot-memory", "2000T"] }
        let log = url.appendingPathComponent("log.txt")
        try Data().write(to: log)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = try FileHandle(forWritingTo: log)
        try process.runBounded()
        return process
    }

    @Test func itRunsJobsAndEndsWhenAsked() throws {
        try withTemporaryFolder { url in
            let chunks = try EngineJobTests.ChunkLab(in: url)
            let first = try ScriptedCoordinator("ipc://\(url.path)/c")
            let process = try start(url, chunks.roots, ["--scratch", url.path])
            let hello = try first.welcome()
            #expect(hello.worker == "w1")
            #expect(hello.engine == MigrationPlan.engineVersion)
            #expect(hello.sqlite.hasPrefix("3."))
            #expect(!hello.host.isEmpty)
            #expect(hello.scratchBytes > 0)
            #expect(first.peer?.text?.utf8.count == 32)
            let order = chunks.order(chunks.works[0], number: 2)
            try first.send(.jobs([order]))
            let receipt = try first.done(order.attempt.id)
            #expect(
                try chunks.jobs.run(chunks.works[0]).files.map(\.digest)
                    == receipt.files.map(\.digest))
            try first.send(.committed(attempt: order.attempt.id))
            try first.heartbeat(holding: [])

            // Back after the coordinator was gone, under another routing id.
            try first.vanish()
            let second = try ScriptedCoordinator("ipc://\(url.path)/c")
            #expect(try second.welcome().held.isEmpty)
            #expect(second.peer?.text != first.peer?.text)
            let next = chunks.order(chunks.works[1], number: 2)
            try second.send(.jobs([next]))
            _ = try second.done(next.attempt.id)
            try second.send(.committed(attempt: next.attempt.id))
            #expect(kill(process.processIdentifier, SIGTERM) == 0)
            try second.next("a farewell") { message -> Bool? in
                if case .bye = message { true } else { nil }
            }
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
            #expect(process.terminationReason == .exit)
        }
    }

    @Test func aSecondSignalEndsItAtOnce() throws {
        try withTemporaryFolder { url in
            let chunks = try EngineJobTests.ChunkLab(in: url)
            let coordinator = try ScriptedCoordinator("ipc://\(url.path)/c")
            let process = try start(url, chunks.roots)
            try coordinator.welcome()
            let order = chunks.order(chunks.works[0], number: 1)
            try coordinator.send(.jobs([order]))
            _ = try coordinator.done(order.attempt.id)
            // The coordinator never decides on the result: the first signal leaves it its grace.
            #expect(kill(process.processIdentifier, SIGINT) == 0)
            // It takes orders until the signal has come.
            for number in 1...10_000 {
                let late = chunks.order(chunks.works[1], number: number)
                try coordinator.send(.jobs([late]))
                let isReturned = try coordinator.next("an answer") { message in
                    switch message {
                    case .returned(late.attempt.id): true
                    case .done(let receipt) where receipt.attempt == late.attempt.id: false
                    default: nil
                    }
                }
                if isReturned { break }
                try coordinator.send(.committed(attempt: late.attempt.id))
            }
            #expect(kill(process.processIdentifier, SIGTERM) == 0)
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(process.terminationStatus == SIGTERM)
        }
    }

    @Test(
        arguments: [
            (["--connect", "tcp://192.0.2.1:7000", "--root", "a=/tmp", "--plain"], "--keys"),
            (["--connect", "tcp://127.0.0.1:7000", "--root", "a=/tmp"], "--plain"),
            (["--connect", "nowhere", "--root", "a=/tmp"], "--connect"),
            (["--connect", "ipc:///tmp/none"], "--root"),
            (["--connect", "ipc:///tmp/none", "--root", "a=/tmp", "--root", "a=/"], "twice"),
            (["--connect", "ipc:///tmp/none", "--root", "a=/does/not/exist"], "exist"),
            (["--connect", "ipc:///tmp/none", "--root", "a=/tmp", "--keys", "/none"], "/none"),
            (["--connect", "ipc:///tmp/none", "--root", "a=/tmp", "--slot-memory", "1K"], "512.0"),
            (
                ["--connect", "ipc:///tmp/none", "--root", "a=/tmp", "--slot-memory", "511MiB"],
                "512.0"
            ),
        ])
    func whatCannotBeIsRefused(arguments: [String], word: String) throws {
        let process = Process()
        process.executableURL = PoolLab.program.deletingLastPathComponent()
            .appendingPathComponent("godwit")
        process.arguments = ["work"] + arguments
        let log = Pipe()
        process.standardOutput = FileHandle.nullDevice
        process.standardError = log
        try process.runBounded()
        let text = String(
            decoding: log.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect([64, 74].contains(process.terminationStatus))
        #expect(text.contains(word), "\(text)")
    }
}
