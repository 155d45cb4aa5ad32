import ClusterProtocol
import Jobs
import Testing

/// Messages between worker and slot survive any way of arriving.
@Suite struct SlotCodecTests {
    @Test(arguments: UInt64(0)..<30) func messagesAreFoundInAStream(seed: UInt64) throws {
        var random = RandomMessages(seed: seed)
        let sent = random.slotReports() + random.slotReports()
        let stream = try sent.flatMap { try SlotCodec.encode($0) }
        var reader = SlotCodec.Reader<SlotReport>()
        var arrived: [SlotReport] = []
        var position = 0
        while position < stream.count {
            // Mostly a few bytes, now and then several messages at once.
            let step = seed % 3 == 0 ? random.number(1...5000) : random.number(1...60)
            let end = min(stream.count, position + step)
            reader.append(stream[position..<end])
            position = end
            while let message = try reader.next() { arrived.append(message) }
        }
        #expect(arrived == sent)
        #expect(reader.isBetweenMessages)
    }

    @Test func ordersTravelToo() throws {
        var random = RandomMessages(seed: 3)
        let sent = random.slotOrders()
        var reader = SlotCodec.Reader<SlotOrder>()
        for order in sent { reader.append(try SlotCodec.encode(order)) }
        #expect(try sent.map { _ in try reader.next() } == sent)
        #expect(try reader.next() == nil)
    }

    @Test func anUnfinishedMessageIsNoEnd() throws {
        var reader = SlotCodec.Reader<SlotOrder>()
        #expect(reader.isBetweenMessages)
        reader.append(try SlotCodec.encode(SlotOrder.end).dropLast())
        #expect(try reader.next() == nil)
        #expect(!reader.isBetweenMessages)
    }

    @Test func lengthsAreNotTrusted() {
        var reader = SlotCodec.Reader<SlotOrder>()
        reader.append([0xFF, 0xFF, 0xFF, 0xFF])
        #expect(throws: ProtocolError.tooLong(bytes: 0xFFFF_FFFF, limit: 1 << 20)) {
            try reader.next()
        }
        var empty = SlotCodec.Reader<SlotOrder>()
        empty.append([0, 0, 0, 0])
        #expect(throws: ProtocolError.tooShort(bytes: 0)) { try empty.next() }
    }
}
