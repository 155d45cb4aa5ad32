import Testing
@testable import Worker

@Suite struct FrameBufferTests {
    @Test func messagesComeOutAsTheyWentIn() throws {
        let messages: [[UInt8]] = [[], [1], Array(repeating: 7, count: 70_000), [2, 3]]
        let stream = try messages.flatMap { try FrameBuffer.framed($0) }
        for step in [1, 3, 4096, stream.count] {
            var buffer = FrameBuffer()
            var found: [[UInt8]] = []
            var place = 0
            while place < stream.count {
                let end = min(place + step, stream.count)
                buffer.append(stream[place..<end])
                while let message = try buffer.next() { found.append(message) }
                place = end
            }
            #expect(found == messages)
            #expect(try buffer.next() == nil)
        }
    }

    @Test func lengthsOverTheLimitAreRefused() throws {
        var buffer = FrameBuffer()
        buffer.append([0, 16, 0, 1, 9])
        #expect(throws: SlotError.self) { try buffer.next() }
        #expect(throws: SlotError.self) {
            try FrameBuffer.framed(Array(repeating: 0, count: FrameBuffer.limit + 1))
        }
    }
}
