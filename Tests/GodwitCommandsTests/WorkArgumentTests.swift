import DurableFiles
import Foundation
import Glibc
@testable import GodwitCommands
import TestSupport
import Testing
import ZeroMQ

/// What the command line of a worker says.
@Suite struct WorkArgumentTests {
    @Test(
        arguments: [
            ("ipc:///run/godwit/control", CoordinatorEndpoint.Reach.file),
            ("tcp://127.0.0.1:7000", .loopback), ("tcp://127.255.0.9:1", .loopback),
            ("tcp://localhost:7000", .loopback), ("tcp://[::1]:7000", .loopback),
            ("tcp://127.example.org:7000", .network), ("tcp://127.0.0.1.evil:7000", .network),
            ("tcp://127.0.0:7000", .network), ("tcp://[::2]:7000", .network),
            ("tcp://10.0.0.1:65535", .network), ("tcp://coordinator:7000", .network),
        ])
    func endpointsAreJudged(text: String, reach: CoordinatorEndpoint.Reach) {
        #expect(CoordinatorEndpoint(text)?.reach == reach)
    }

    @Test(
        arguments: [
            "", "ipc://", "ipc://relative", "tcp://", "tcp://host", "tcp://:7000",
            "tcp://host:0", "tcp://host:65536", "tcp://host:*", "inproc://a", "host:7000",
        ])
    func whatIsNoEndpointIsRefused(text: String) {
        #expect(CoordinatorEndpoint(text) == nil)
    }

    @Test func keysAreReadFromAFolder() throws {
        try withTemporaryFolder { url in
            let (own, coordinator) = (try KeyPair.generate(), try KeyPair.generate())
            let folder = FilePath(url.path)
            let secret = url.appendingPathComponent(KeyFolder.secretName)
            let peer = url.appendingPathComponent(KeyFolder.coordinatorName)
            #expect(throws: CommandFailure.self) { try KeyFolder(folder) }
            try Data((own.secretKey.text + "\n").utf8).write(to: secret)
            try Data(coordinator.publicKey.text.utf8).write(to: peer)
            #expect(chmod(secret.path, 0o600) == 0)
            let read = try KeyFolder(folder)
            #expect(read.keys == own)
            #expect(read.coordinator == coordinator.publicKey)

            #expect(chmod(secret.path, 0o640) == 0)
            #expect(throws: CommandFailure.self) { try KeyFolder(folder) }
            #expect(chmod(secret.path, 0o600) == 0)
            try Data("short".utf8).write(to: peer)
            let failure = #expect(throws: CommandFailure.self) { try KeyFolder(folder) }
            #expect(failure?.description.contains(KeyFolder.coordinatorName) == true)
            #expect(failure?.status == .usage)
        }
    }
}
