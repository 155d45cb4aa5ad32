import Foundation
import TestSupport
import Testing
import Threads

@testable import ZeroMQ

extension SocketSuites {
    /// Who comes in over CURVE and who does not; a true client is served throughout.
    @Suite struct AuthenticationTests {
        private struct Server {
            let context: Context
            let keys: KeyPair
            let client: KeyPair
            let notes = BoundedMailbox<Note>(capacity: 20_000)
            let loop: PollLoop<Echo>
            let endpoint: String

            init(plain: AccessPolicy.PlainAccess? = nil, at place: String = "tcp://127.0.0.1:*")
                throws
            {
                context = try Context()
                keys = try KeyPair.generate()
                client = try KeyPair.generate()
                let policy = AccessPolicy(
                    names: [client.publicKey: "worker-1"], plain: plain ?? .refused)
                var options = SocketOptions()
                options.security =
                    plain == nil
                    ? .curveServer(keys, domain: "control") : .plainServer(domain: "control")
                let (security, notes) = (options, notes)
                let bound = BoundedMailbox<String>(capacity: 1)
                loop = try PollLoop(
                    name: "server", context: context, access: policy, clock: stoppedClock
                ) {
                    let router = try $0.open(.router, options: security, isMonitored: true)
                    bound.send(try router.bind(place))
                    return Echo($0, router, notes)
                }
                endpoint = bound.receive() ?? ""
            }

            func dealer(_ security: SocketOptions.Security) throws -> Socket {
                var options = SocketOptions()
                options.security = security
                let dealer = try Socket(.dealer, in: context, options: options)
                try dealer.connect(endpoint)
                return dealer
            }

            /// A client that is on the list gets its answer, and its name is known.
            func servesTheTrueClient() throws {
                let dealer = try dealer(.curveClient(client, server: keys.publicKey))
                try dealer.sendWhenPossible([Frame("true")])
                #expect(try dealer.next().frame.text == "true")
                let user = try notes.next("the message") { note -> String?? in
                    if case .message(_, let user, "true") = note { return .some(user) }
                    return nil
                }
                #expect(user == "worker-1")
            }

            func nextRefusal() throws -> AccessRefusal {
                try notes.next("a refusal") { if case .refused(let why) = $0 { why } else { nil } }
            }

            /// The kind of the next event that tells of a peer kept out.
            func nextRefusedEvent() throws -> MonitorEvent {
                try notes.next("an event") { note in
                    if case .event(let event) = note, event.refusal != nil { event } else { nil }
                }
            }

            func end() throws {
                loop.end()
                try loop.join()
            }
        }

        @Test func aKeyOnTheListComesIn() throws {
            let server = try Server()
            try server.servesTheTrueClient()
            try server.end()
        }

        @Test func aKeyThatIsNotOnTheListIsRefused() throws {
            let server = try Server()
            let stranger = try KeyPair.generate()
            let dealer = try server.dealer(
                .curveClient(stranger, server: server.keys.publicKey))
            let refusal = try server.nextRefusal()
            #expect(refusal.reason == .unknownKey(stranger.publicKey))
            #expect(refusal.request.address == "127.0.0.1")
            #expect(refusal.request.domain == "control")
            #expect(
                try server.nextRefusedEvent().kind == .handshakeFailedAuthentication(status: 400))
            #expect(try dealer.send(Frame("x")) == .wouldBlock)
            try server.servesTheTrueClient()
            try server.end()
        }

        @Test func theListChangesWhileItRuns() throws {
            let server = try Server()
            let late = try KeyPair.generate()
            let security = SocketOptions.Security.curveClient(late, server: server.keys.publicKey)
            let early = try server.dealer(security)
            _ = try server.nextRefusal()
            early.close()
            server.loop.submit { $0.sockets.access?.names[late.publicKey] = "late" }
            let dealer = try server.dealer(security)
            try dealer.sendWhenPossible([Frame("in")])
            #expect(try dealer.next().frame.text == "in")
            try server.end()
        }

        @Test func aWrongServerKeyIsRefused() throws {
            let server = try Server()
            let wrong = try server.dealer(
                .curveClient(server.client, server: KeyPair.generate().publicKey))
            #expect(
                try server.nextRefusedEvent().kind == .handshakeFailedProtocol(.cryptographic))
            #expect(try wrong.send(Frame("x")) == .wouldBlock)
            try server.servesTheTrueClient()
            try server.end()
        }

        @Test func noKeyIsRefused() throws {
            let server = try Server()
            let plain = try server.dealer(.none)
            #expect(try server.nextRefusedEvent().kind == .handshakeFailedProtocol(.mechanism))
            #expect(try plain.send(Frame("x")) == .wouldBlock)
            try server.servesTheTrueClient()
            try server.end()
        }

        @Test func inTheClearOnlyThisMachineMayBeAllowed() throws {
            let open = try Server(plain: .fromThisMachine(as: "local"))
            let dealer = try open.dealer(.none)
            try dealer.sendWhenPossible([Frame("plain")])
            #expect(try dealer.next().frame.text == "plain")
            let user = try open.notes.next("the message") { note -> String?? in
                if case .message(_, let user, _) = note { return .some(user) }
                return nil
            }
            #expect(user == "local")
            try open.end()

            let closed = try Server(plain: .refused)
            let refused = try closed.dealer(.none)
            let refusal = try closed.nextRefusal()
            #expect(refusal.reason == .plain && refusal.request.mechanism == "NULL")
            #expect(try refused.send(Frame("x")) == .wouldBlock)
            try closed.end()
        }

        @Test func unixSocketsAreOfThisMachine() throws {
            try withTemporaryFolder { folder in
                let server = try Server(
                    plain: .fromThisMachine(as: "local"), at: "ipc://\(folder.path)/s")
                let dealer = try server.dealer(.none)
                try dealer.sendWhenPossible([Frame("by ipc")])
                #expect(try dealer.next().frame.text == "by ipc")
                try server.end()
            }
        }

        @Test(arguments: [
            Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8) + [UInt8](repeating: 0, count: 200),
            [UInt8](repeating: 0xFF, count: 100), [UInt8](repeating: 0, count: 100),
            // A greeting of ZMTP 3 with a mechanism that no peer has.
            [0xFF, 0, 0, 0, 0, 0, 0, 0, 0, 0x7F, 3, 0] + [UInt8](repeating: 0x41, count: 52),
        ])
        func garbageIsRefused(bytes: [UInt8]) throws {
            let server = try Server()
            let garbage = try RawConnection(server.endpoint)
            garbage.write(bytes)
            garbage.readToEnd()
            _ = try server.nextRefusedEvent()
            try server.servesTheTrueClient()
            try server.end()
        }

        @Test func aThousandGarbageConnectionsAreReported() throws {
            let server = try Server()
            let dealer = try server.dealer(
                .curveClient(server.client, server: server.keys.publicKey))
            try dealer.sendWhenPossible([Frame("before")])
            #expect(try dealer.next().frame.text == "before")
            var generator = SeededGenerator(seed: 7)
            for number in 0..<1000 {
                if number % 100 == 0 {
                    try dealer.sendWhenPossible([Frame("\(number)")])
                    #expect(try dealer.next().frame.text == "\(number)")
                }
                let garbage = try RawConnection(server.endpoint)
                // The first byte of a true greeting would have the server wait for more.
                garbage.write(
                    [0x16]
                        + (0..<100).map { _ in UInt8.random(in: 0...255, using: &generator) })
                garbage.readToEnd()
            }
            for _ in 0..<1000 {
                let event = try server.nextRefusedEvent()
                #expect(event.kind == .disconnectedBeforeHandshake)
                #expect(event.endpoint == server.endpoint)
            }
            try server.servesTheTrueClient()
            try server.end()
        }

        @Test func aServerNeedsAPolicy() throws {
            let context = try Context()
            var options = SocketOptions()
            options.security = .curveServer(try KeyPair.generate(), domain: "control")
            #expect(throws: ZeroMQError.noAccessPolicy) {
                _ = try Socket(.router, in: context, options: options)
            }
            options.security = .plainServer(domain: "control")
            #expect(throws: ZeroMQError.noAccessPolicy) {
                _ = try Socket(.router, in: context, options: options)
            }
            #expect(context.openSockets == 0)
        }

        @Test func oneLoopOfAContextAnswers() throws {
            let server = try Server()
            let notes = server.notes
            #expect(throws: ZeroMQError.self) {
                _ = try PollLoop(
                    name: "second", context: server.context, access: AccessPolicy(),
                    clock: stoppedClock
                ) { Echo($0, try $0.open(.router), notes) }
            }
            try server.end()
        }
    }
}
