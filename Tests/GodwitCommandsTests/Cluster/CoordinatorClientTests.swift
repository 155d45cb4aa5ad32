import ClusterClient
import ClusterProtocol
import DurableFiles
import Foundation
import Glibc
import Jobs
import RunReports
import TestSupport
import Testing
import ZeroMQ

@testable import CommandSupport

/// A client that meets coordinators of all kinds.
@Suite(.serialized) struct CoordinatorClientTests {
    private let soon = CoordinatorClient.Patience(
        connecting: .milliseconds(300), answer: .milliseconds(300))

    private func client(
        _ connection: CoordinatorConnection, in context: Context? = nil
    ) throws -> CoordinatorClient {
        try CoordinatorClient(
            connection, context: try context ?? ClientScript.context.get(),
            clock: ClientScript.clock, routingID: CoordinatorClient.randomID)
    }

    private func clear(_ endpoint: String) -> CoordinatorConnection {
        CoordinatorConnection(endpoint: endpoint)
    }

    /// Asks on a thread of its own while the test plays the coordinator.
    private func asking(
        _ request: ClientRequest, at endpoint: String,
        _ script: () throws -> Void
    ) throws -> Result<ClientReply, any Error> {
        let client = try client(clear(endpoint))
        return try Meanwhile.run(
            { try CommandFailure.translating { try client.ask(request) } }, script)
    }

    @Test func connectionErrorNamesEndpoint() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            let client = try client(clear(endpoint))
            let failure = #expect(throws: CommandFailure.self) {
                try CommandFailure.translating { try client.ask(.workers, patience: soon) }
            }
            #expect(failure?.status == .inputOutput)
            #expect(failure?.description.contains(endpoint) == true)
            #expect(failure?.description.contains("godwit coordinate") == true)
        }
    }

    @Test func errorDistinguishesSilentFromMissingCoordinator() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            let script = try ClientScript(endpoint)
            let client = try client(clear(endpoint))
            let failure = #expect(throws: CommandFailure.self) {
                try CommandFailure.translating { try client.ask(.workers, patience: soon) }
            }
            #expect(failure?.description.contains("did not answer") == true)
            #expect(try script.next() == .workers)
        }
    }

    @Test func anEndpointThatCannotBeRightIsTold() throws {
        let client = try client(clear("nonsense"))
        #expect(throws: CommandFailure.self) {
            try CommandFailure.translating { try client.ask(.workers) }
        }
    }

    @Test func anAnswerAndARefusalArrive() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            let script = try ClientScript(endpoint)
            let reply = try asking(.status(run: nil), at: endpoint) {
                try script.expect(.status(run: nil), .status(ClusterSamples.report()))
            }
            #expect(try reply.get() == .status(ClusterSamples.report()))
            for (code, status) in [
                (Refusal.Code.notFound, CommandStatus.usage), (.notPossible, .usage),
                (.protocolVersion, .usage), (.nameTaken, .canBeRepeated),
            ] {
                let refused = try asking(.pause(run: "r9"), at: endpoint) {
                    try script.expect(
                        .pause(run: "r9"), .refused(Refusal(code: code, text: "because")))
                }
                let failure = #expect(throws: CommandFailure.self) { try refused.get() }
                #expect(failure?.status == status)
                #expect(failure?.description.contains("because") == true)
            }
        }
    }

    @Test func anotherProtocolVersionIsTold() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            let script = try ClientScript(endpoint)
            for frame: [UInt8] in [[9, 100], [1], [1, 255, 0]] {
                let answer = try asking(.workers, at: endpoint) {
                    _ = try script.next()
                    try script.send(frame)
                }
                let failure = #expect(throws: CommandFailure.self) { try answer.get() }
                #expect(failure?.status == .usage)
            }
        }
    }

    @Test func whatCanBeAskedTwiceIsAskedOfTheNextCoordinator() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            // Both live until the answer has arrived.
            var scripts: [ClientScript] = []
            let answer = try asking(.workers, at: endpoint) {
                scripts.append(try ClientScript(endpoint))
                _ = try scripts[0].next()
                try scripts[0].vanish()
                scripts.append(try ClientScript(endpoint))
                try scripts[1].expect(.workers, .status(ClusterSamples.report([])))
            }
            #expect(try answer.get() == .status(ClusterSamples.report([])))
            #expect(scripts[0].peer != scripts[1].peer)
        }
    }

    @Test func whatMustNotBeAskedTwiceIsNot() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            let answer = try asking(.replay(run: "r1", store: nil), at: endpoint) {
                let first = try ClientScript(endpoint)
                _ = try first.next()
                try first.vanish()
            }
            let failure = #expect(throws: CommandFailure.self) { try answer.get() }
            #expect(failure?.status == .canBeRepeated)
            #expect(failure?.description.contains("godwit status") == true)
        }
    }

    @Test func moreThanAMessageHoldsIsRefusedAtOnce() throws {
        let client = try client(clear("ipc:///nowhere/c"))
        let large = SubmitRequest(request: String(repeating: "x", count: 999_999), paths: [])
        let paths = (0..<16_384).map { number in
            FileReference(root: "data", path: "folder/store-\(number).sqlite")
        }
        let failure = #expect(throws: CommandFailure.self) {
            try CommandFailure.translating {
                try client.ask(.submit(SubmitRequest(request: large.request, paths: paths)))
            }
        }
        #expect(failure?.status == .usage)
        #expect(failure?.description.contains("folders or patterns") == true)
    }

    // MARK: - Keys

    private struct Guarded {
        let server: KeyPair
        let client: KeyPair
        let script: ClientScript
        let context: Context
        let endpoint: String

        init(in url: URL) throws {
            server = try KeyPair.generate()
            client = try KeyPair.generate()
            context = try ClientScript.guardedContext()
            endpoint = ClientProcess.endpoint(in: url)
            script = try ClientScript(
                endpoint, in: context,
                access: AccessPolicy(names: [client.publicKey: "client"]),
                security: .curveServer(server, domain: "control"))
        }

        func connection(_ keys: KeyPair, server: PublicKey, in url: URL) throws
            -> CoordinatorConnection
        {
            let folder = url.appendingPathComponent(UUID().uuidString)
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: false)
            _ = chmod(folder.path, 0o700)
            let secret = folder.appendingPathComponent(KeyFiles.secretName)
            try Data(keys.secretKey.text.utf8).write(to: secret)
            _ = chmod(secret.path, 0o600)
            try Data(server.text.utf8).write(
                to: folder.appendingPathComponent(KeyFiles.coordinatorName))
            return try CoordinatorConnection(endpoint: endpoint, keysIn: folder.path)
        }
    }

    @Test func theKeysThatKeysNewMakesOpenTheDoor() throws {
        try withTemporaryFolder { url in
            let made = try ClientProcess(
                ["keys", "new", "--output", "k"], in: url, isConnected: false
            ).finish()
            #expect(made.status == 0, "\(made.log)")
            let keys = try KeyFolder(FilePath(url.path).appending("k")).coordinator()
            let script = try ClientScript(
                ClientProcess.endpoint(in: url), in: ClientScript.guardedContext(),
                access: keys.allowList().accessPolicy,
                security: .curveServer(keys.keys, domain: "control"))
            let process = try ClientProcess(["workers", "--keys", "k"], in: url)
            try script.expect(.workers, .status(ClusterSamples.report()))
            let shown = try withExtendedLifetime(script) { try process.finish() }
            #expect(shown.status == 0, "\(shown.log)")
            #expect(shown.output.contains("w1"))
        }
    }

    @Test func keysOpenTheDoorAndOthersAreTold() throws {
        try withTemporaryFolder { url in
            let guarded = try Guarded(in: url)
            let right = try guarded.connection(
                guarded.client, server: guarded.server.publicKey, in: url)
            let asking = try client(right, in: guarded.context)
            let answer = try Meanwhile.run({ try asking.ask(.workers) }) {
                try guarded.script.expect(.workers, .done)
            }
            #expect(try answer.get() == .done)

            let stranger = try KeyPair.generate()
            let unknown = try client(
                guarded.connection(stranger, server: guarded.server.publicKey, in: url),
                in: guarded.context)
            let first = #expect(throws: CommandFailure.self) {
                try CommandFailure.translating { try unknown.ask(.workers) }
            }
            #expect(first?.status == .usage)
            #expect(first?.description.contains(stranger.publicKey.text) == true)
            #expect(first?.description.contains(stranger.secretKey.text) == false)

            let wrong = try client(
                guarded.connection(guarded.client, server: stranger.publicKey, in: url),
                in: guarded.context)
            let second = #expect(throws: CommandFailure.self) {
                try CommandFailure.translating { try wrong.ask(.workers, patience: soon) }
            }
            #expect(second?.description.contains("key") == true, "\(String(describing: second))")

            let plain = try client(clear(guarded.endpoint), in: guarded.context)
            let third = #expect(throws: CommandFailure.self) {
                try CommandFailure.translating { try plain.ask(.workers, patience: soon) }
            }
            #expect(third?.description.contains("--keys") == true, "\(String(describing: third))")
            withExtendedLifetime(guarded.script) {}
        }
    }
}
