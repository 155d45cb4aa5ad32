import Glibc
import Synchronization
import Testing

@testable import ZeroMQ

extension SocketSuites {
    @Suite struct FrameTests {
        @Test(arguments: [0, 1, 33, 34, 100, 100_000])
        func bytesStay(count: Int) {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            let frame = Frame(bytes)
            #expect(frame.count == count)
            #expect(frame.bytes == bytes)
            #expect(frame.withBytes { $0.count } == count)
            #expect(!frame.hasMore)
            #expect(frame.userID == nil)
        }

        @Test func bytesAreWrittenInPlace() {
            let frame = Frame(count: 40) { buffer in
                for index in buffer.indices { buffer[index] = UInt8(index) }
            }
            #expect(frame.bytes == Array(0..<40))
        }

        @Test func anErrorWhileWritingPassesThrough() {
            #expect(throws: Missing.self) {
                _ = try Frame(count: 40) { _ throws(Missing) in throw Missing(what: "bytes") }
            }
        }

        @Test func textIsUTF8OrNothing() {
            #expect(Frame("näher").text == "näher")
            #expect(Frame([0xFF, 0xFE]).text == nil)
            #expect(Frame([]).text == "")
        }

        /// The receiver reads the sender's own bytes; the sender learns when no thread reads them
        /// any more.
        @Test func ownedBytesAreReleasedOnceAfterTheLastUse() throws {
            let context = try Context()
            let left = try Socket(.pair, in: context)
            let right = try Socket(.pair, in: context)
            try left.bind("inproc://owned")
            try right.connect("inproc://owned")
            let released = Counter()
            let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 5000, alignment: 8)
            bytes.initializeMemory(as: UInt8.self, repeating: 9)
            nonisolated(unsafe) let memory = bytes
            do {
                let frame = Frame(owning: bytes) {
                    released.value.add(1, ordering: .sequentiallyConsistent)
                    memory.deallocate()
                }
                // Sent twice, and read in between.
                #expect(try left.send(frame) == .sent)
                #expect(frame.count == 5000)
                #expect(try left.send([frame, frame]) == .sent)
            }
            do {
                let first = try right.next()
                #expect(
                    first.frame.withBytes { $0.baseAddress == UnsafeRawPointer(bytes.baseAddress) })
                let second = try right.next()
                #expect(second.frames.map(\.count) == [5000, 5000])
                #expect(second.moreFrames.first?.bytes.allSatisfy { $0 == 9 } == true)
                #expect(released.value.load(ordering: .sequentiallyConsistent) == 0)
            }
            #expect(released.value.load(ordering: .sequentiallyConsistent) == 1)
        }

        @Test func noOwnedBytesAreReleasedAtOnce() {
            let released = Counter()
            let frame = Frame(owning: UnsafeMutableRawBufferPointer(start: nil, count: 0)) {
                released.value.add(1, ordering: .sequentiallyConsistent)
            }
            #expect(frame.count == 0)
            #expect(released.value.load(ordering: .sequentiallyConsistent) == 1)
        }

        @Test(arguments: [10, 10_000])
        func aFrameOutlivesItsSocketAndContext(count: Int) throws {
            let bytes = [UInt8](repeating: 7, count: count)
            let message: Message
            do {
                let context = try Context()
                let left = try Socket(.pair, in: context)
                let right = try Socket(.pair, in: context)
                try left.bind("inproc://outlives")
                try right.connect("inproc://outlives")
                try left.send(Frame(bytes))
                message = try right.next()
            }
            #expect(message.frame.bytes == bytes)
        }

        @Test func routingIDsAreTheirBytes() throws {
            let id = try RoutingID("worker-1")
            #expect(id == RoutingID(received: Frame("worker-1")))
            #expect(id.hashValue == RoutingID(received: Frame("worker-1")).hashValue)
            #expect(try id != RoutingID("worker-2"))
            #expect(id.text == "worker-1")
            #expect("\(RoutingID(received: Frame([0, 0xAB])))" == "00ab")
            for text in ["", "\0a", String(repeating: "a", count: 256)] {
                #expect(throws: ZeroMQError.invalidRoutingID) { try RoutingID(text) }
            }
        }
    }
}

/// A count that closures of other threads raise.
final class Counter: Sendable {
    let value = Atomic(0)
}
