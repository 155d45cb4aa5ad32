import CZeroMQ
import Foundation
import TestSupport
import Testing

@testable import ZeroMQ

extension SocketSuites {
    @Suite struct SocketTests {
        /// A router and a dealer that are connected.
        private func connected(
            _ endpoint: String, in context: Context, server: SocketOptions = SocketOptions(),
            client: SocketOptions = SocketOptions()
        ) throws -> (router: Socket, dealer: Socket) {
            let router = try Socket(.router, in: context, options: server)
            let bound = try router.bind(endpoint)
            var client = client
            client.routingID = try RoutingID("dealer")
            let dealer = try Socket(.dealer, in: context, options: client)
            try dealer.connect(bound)
            try dealer.sendWhenPossible([Frame("hello")])
            let hello = try router.next()
            #expect(hello.peer?.text == "dealer")
            #expect(hello.frame.text == "hello")
            return (router, dealer)
        }

        @Test(arguments: ["inproc://round", "tcp://127.0.0.1:*", "tcp://[::1]:*", "ipc"])
        func messagesGoRound(endpoint: String) throws {
            try withTemporaryFolder { folder in
                let context = try Context()
                let place = endpoint == "ipc" ? "ipc://\(folder.path)/s" : endpoint
                let (router, dealer) = try connected(place, in: context)
                let peer = try RoutingID("dealer")
                #expect(try router.send(Frame("one"), to: peer) == .sent)
                #expect(try router.send([Frame("two"), Frame([]), Frame("x")], to: peer) == .sent)
                let one = try dealer.next()
                #expect(one.peer == nil && one.moreFrames.isEmpty && one.frame.text == "one")
                #expect(one.userID == nil)
                #expect(try dealer.next().frames.map(\.text) == ["two", "", "x"])
                #expect(try dealer.receive() == nil)
                let large = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                try dealer.sendWhenPossible([Frame(large), Frame("end")])
                let back = try router.next()
                #expect(back.frame.bytes == large && back.frames.last?.text == "end")
                dealer.close()
                dealer.close()
                router.close()
                #expect(context.openSockets == 0)
                context.end()
                context.end()
            }
        }

        @Test func theFileOfASocketIsItsUsersOwn() throws {
            try withTemporaryFolder { folder in
                let context = try Context()
                let before = umask(0)
                defer { umask(before) }
                let path = folder.path + "/s"
                let router = try Socket(.router, in: context)
                try router.bind("ipc://\(path)")
                var status = stat()
                #expect(lstat(path, &status) == 0)
                #expect(status.st_mode & 0o7777 == 0o600)
                // What the process makes afterwards has the mode that it had before.
                #expect(umask(0) == 0)
                router.close()
                context.end()
            }
        }

        /// libzmq would take the endpoint from the program that listens there.
        @Test func anEndpointInUseIsRefused() throws {
            try withTemporaryFolder { folder in
                let context = try Context()
                let endpoint = "ipc://\(folder.path)/s"
                let (router, dealer) = try connected(endpoint, in: context)
                let second = try Socket(.router, in: context)
                let error = #expect(throws: ZeroMQError.self) { try second.bind(endpoint) }
                #expect(error?.description.contains("use") == true, "\(String(describing: error))")
                #expect(try router.send(Frame("still"), to: RoutingID("dealer")) == .sent)
                #expect(try dealer.next().frame.text == "still")
                // What a killed program leaves is taken.
                #expect(unlink(folder.path + "/s") == 0)
                let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
                var address = sockaddr_un()
                address.sun_family = sa_family_t(AF_UNIX)
                withUnsafeMutableBytes(of: &address.sun_path) {
                    $0.copyBytes(from: (folder.path + "/s").utf8)
                }
                let size = socklen_t(MemoryLayout<sockaddr_un>.size)
                let bound = withUnsafePointer(to: &address) {
                    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(left, $0, size) }
                }
                #expect(bound == 0)
                close(left)
                try second.bind(endpoint)
                for socket in [router, dealer, second] { socket.close() }
                context.end()
            }
        }

        /// libzmq would remove the file.
        @Test func aFileThatIsNoSocketStays() throws {
            try withTemporaryFolder { folder in
                let context = try Context()
                let file = folder.appendingPathComponent("precious.sqlite")
                try Data("precious".utf8).write(to: file)
                let router = try Socket(.router, in: context)
                let error = #expect(throws: ZeroMQError.self) {
                    try router.bind("ipc://\(file.path)")
                }
                #expect(error?.number == EEXIST)
                #expect(try Data(contentsOf: file) == Data("precious".utf8))
                router.close()
                context.end()
            }
        }

        /// The owner of a folder can put anything in a new socket's place.
        @Test(arguments: ["link", "file", "nothing"])
        func theModeOfNoOtherFileIsChanged(place: String) throws {
            try withTemporaryFolder { folder in
                let victim = folder.appendingPathComponent("victim")
                try Data("public".utf8).write(to: victim)
                #expect(chmod(victim.path, 0o644) == 0)
                let path = folder.path + "/s"
                #expect(throws: ZeroMQError.self) {
                    try SocketFile.making(path) {
                        if place == "link" { symlink(victim.path, path) }
                        if place == "file" { link(victim.path, path) }
                    }
                }
                var status = stat()
                #expect(lstat(victim.path, &status) == 0)
                #expect(status.st_mode & 0o7777 == 0o644)
            }
        }

        /// Another user can hold the lock of a shared folder as long as it likes.
        @Test func aLockedFolderIsNotWaitedForWithoutEnd() throws {
            try withTemporaryFolder { folder in
                let context = try Context()
                let holder = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                #expect(flock(holder, LOCK_EX) == 0)
                let router = try Socket(.router, in: context)
                let error = #expect(throws: ZeroMQError.self) {
                    try router.bind("ipc://\(folder.path)/s")
                }
                #expect(error?.number == EAGAIN)
                close(holder)
                try router.bind("ipc://\(folder.path)/s")
                router.close()
                context.end()
            }
        }

        @Test func aRealPortIsToldBack() throws {
            let context = try Context()
            let router = try Socket(.router, in: context)
            let endpoint = try router.bind("tcp://127.0.0.1:*")
            let port = endpoint.split(separator: ":").last.flatMap { Int($0) } ?? 0
            #expect(endpoint.hasPrefix("tcp://127.0.0.1:") && port > 0)
            try router.unbind(endpoint)
            // The endpoint is free again for another of this context.
            #expect(throws: ZeroMQError.self) { try router.unbind(endpoint) }
            #expect(Socket.unmapped("tcp://[::ffff:10.0.0.1]:7") == "tcp://10.0.0.1:7")
            #expect(Socket.unmapped("tcp://[::1]:7") == "tcp://[::1]:7")
            #expect(Socket.unmapped("ipc://[::ffff:") == "ipc://[::ffff:")
        }

        @Test func aPeerThatIsGoneIsTold() throws {
            let context = try Context()
            let (router, dealer) = try connected("tcp://127.0.0.1:*", in: context)
            #expect(try router.send(Frame("?"), to: RoutingID("unknown")) == .peerGone)
            #expect(try router.send([Frame("?")], to: RoutingID("unknown")) == .peerGone)
            let peer = try RoutingID("dealer")
            #expect(try router.send(Frame("!"), to: peer) == .sent)
            dealer.close()
            var result = SendResult.sent
            for _ in 0..<3000 where result == .sent {
                // Waits up to 10 ms for a message that no peer sends: libzmq notices meanwhile.
                _ = router.waits(for: ZMQ_POLLIN, milliseconds: 10)
                result = try router.send(Frame("?"), to: peer)
            }
            #expect(result == .peerGone)
        }

        @Test func aFullPeerBlocksAndLosesNothing() throws {
            let context = try Context()
            var options = SocketOptions()
            options.sendHighWaterMark = 2
            options.receiveHighWaterMark = 3
            let (router, dealer) = try connected(
                "inproc://full", in: context, server: options, client: options)
            // Both ends' marks add up within a process; the hello may still count.
            var taken = 0
            while taken < 100, try dealer.send(Frame("\(taken)")) == .sent { taken += 1 }
            #expect((4...5).contains(taken))
            let peer = try RoutingID("dealer")
            var given = 0
            while given < 100, try router.send(Frame("\(given)"), to: peer) == .sent { given += 1 }
            #expect((4...5).contains(given))
            #expect(try router.send([Frame("a"), Frame("b")], to: peer) == .wouldBlock)
            for number in 0..<taken { #expect(try router.next().frame.text == "\(number)") }
            for number in 0..<given { #expect(try dealer.next().frame.text == "\(number)") }
            #expect(dealer.waits(for: ZMQ_POLLOUT))
            #expect(try dealer.send(Frame("again")) == .sent)
            #expect(try router.next().frame.text == "again")
        }

        @Test func withoutAConnectionNothingIsQueued() throws {
            let context = try Context()
            let dealer = try Socket(.dealer, in: context)
            #expect(try dealer.send(Frame("x")) == .wouldBlock)
            // Nothing listens on the discard port of this machine.
            try dealer.connect("tcp://127.0.0.1:9")
            #expect(try dealer.send(Frame("x")) == .wouldBlock)
            try dealer.disconnect("tcp://127.0.0.1:9")
        }

        @Test func aFrameThatIsTooLongIsDroppedWithItsConnection() throws {
            let context = try Context()
            var options = SocketOptions()
            options.largestFrame = 1000
            let router = try Socket(.router, in: context, options: options)
            let monitor = try SocketMonitor(router)
            let dealer = try Socket(.dealer, in: context)
            try dealer.connect(router.bind("tcp://127.0.0.1:*"))
            try dealer.sendWhenPossible([Frame([UInt8](repeating: 1, count: 1000))])
            #expect(try router.next().frame.count == 1000)
            let peer = try monitor.next { $0 == .accepted }.peer
            #expect(peer?.hasPrefix("127.0.0.1:") == true)
            try dealer.sendWhenPossible([Frame([UInt8](repeating: 2, count: 1001))])
            let event = try monitor.next { $0 == .disconnected }
            #expect(event.peer == peer)
            // It connects again, and what fits arrives.
            _ = try monitor.next { $0 == .handshakeSucceeded }
            try dealer.sendWhenPossible([Frame([UInt8](repeating: 3, count: 10))])
            #expect(try router.next().frame.bytes == [UInt8](repeating: 3, count: 10))
            monitor.close()
        }

        @Test func aMessageOfTooManyFramesIsDropped() throws {
            let context = try Context()
            let (router, dealer) = try connected("inproc://frames", in: context)
            let limit = Message.largestFrameCount
            try dealer.send((0...limit).map { Frame("\($0)") })
            try dealer.send((0..<limit).map { Frame("\($0)") })
            #expect(try router.next().frames.map(\.text) == (0..<limit).map { "\($0)" })
            #expect(router.droppedMessages == 1)
        }

        @Test func refusalsSayWhatToDo() throws {
            let context = try Context()
            let first = try Socket(.router, in: context)
            let endpoint = try first.bind("tcp://127.0.0.1:*")
            let second = try Socket(.router, in: context)
            let refused = #expect(throws: ZeroMQError.self) { try second.bind(endpoint) }
            #expect(refused?.number == EADDRINUSE)
            #expect("\(refused as (any Error)?)".contains("another process listens there"))
            let nonsense = #expect(throws: ZeroMQError.self) { try second.connect("nonsense") }
            #expect(nonsense?.number == EINVAL)
            #expect(nonsense.map { "\($0)" }?.contains("tcp://HOST:PORT") == true)
        }

        @Test func socketsAreLimited() throws {
            let context = try Context(maxSockets: 3)
            var sockets: [Socket] = []
            let error = #expect(throws: ZeroMQError.self) {
                for _ in 0..<10 { sockets.append(try Socket(.dealer, in: context)) }
            }
            #expect(error?.number == EMFILE)
            #expect(context.openSockets == sockets.count)
        }

        /// Too few descriptors would abort the process later.
        @Test func aLimitThatIsTooLowIsRefused() throws {
            var limits = rlimit()
            #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
            let hard = UInt64(limits.rlim_max)
            try #require(hard < .max)
            let error = #expect(throws: ZeroMQError.self) { _ = try Context(needed: hard + 1) }
            #expect(error?.description.contains("it needs \(hard + 1)") == true)
        }

        /// Messages that no peer takes hold up the end for the lingering time only.
        @Test func unsentMessagesDoNotHoldUpTheEnd() throws {
            let context = try Context()
            var options = SocketOptions()
            options.isImmediate = false
            options.lingerMilliseconds = 50
            let dealer = try Socket(.dealer, in: context, options: options)
            try dealer.connect("tcp://127.0.0.1:9")
            for _ in 0..<10 { #expect(try dealer.send(Frame("x")) == .sent) }
            dealer.close()
            context.end()
        }
    }
}
