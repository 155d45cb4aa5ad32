import CLinux
import Testing
import Threads

@testable import ZeroMQ

extension SocketSuites {
    /// Descriptors that are no sockets of libzmq's.
    @Suite struct DescriptorTests {
        /// Passes on which of its descriptors could be read, and forgets those it drains.
        final class Watcher: PollLoopHandler {
            let sockets: PollSockets
            let seen: BoundedMailbox<Int32>
            var drains: Set<Int32> = []

            init(_ sockets: PollSockets, _ seen: BoundedMailbox<Int32>) {
                self.sockets = sockets
                self.seen = seen
            }

            func received(_ messages: [Message], on socket: Socket) {}

            func becameReadable(_ descriptor: Int32) {
                if drains.contains(descriptor) {
                    _ = clinux_event_drain(descriptor)
                } else {
                    sockets.unwatch(descriptor)
                }
                // Last, because the thread that receives it may signal again.
                seen.send(descriptor)
            }
        }

        @Test func aDescriptorIsToldWhileItCanBeRead() throws {
            let seen = BoundedMailbox<Int32>(capacity: 100)
            let (first, second) = (clinux_event_create(), clinux_event_create())
            defer { for descriptor in [first, second] { _ = clinux_close(descriptor) } }
            try #require(first >= 0 && second >= 0)
            let loop = try PollLoop(
                name: "watcher", context: try Context(), clock: stoppedClock
            ) { sockets in
                // A socket beside them, so that places are not mixed up.
                try sockets.open(.router).bind("tcp://127.0.0.1:*")
                let watcher = Watcher(sockets, seen)
                watcher.drains = [first]
                for descriptor in [first, second, first] { sockets.watch(descriptor) }
                return watcher
            }
            for _ in 0..<3 {
                _ = clinux_event_signal(first)
                #expect(seen.receive() == first)
            }
            // This one stays readable, and is told once, for it is forgotten then.
            _ = clinux_event_signal(second)
            #expect(seen.receive() == second)
            _ = clinux_event_signal(first)
            #expect(seen.receive() == first)
            loop.submit { $0.sockets.watch(second) }
            #expect(seen.receive() == second)
            loop.end()
            try loop.join()
            #expect(seen.receiveNow(upTo: 9).isEmpty)
        }
    }
}
