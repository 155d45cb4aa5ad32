import ClusterProtocol
import Jobs
import Testing

/// Whatever arrives is a message within the bounds or an error; nothing traps.
@Suite struct HostileBytesTests {
    private let codec = MessageCodec()

    /// Decodes; what is read can be sent again and means the same.
    private func tryAll<Value: ControlMessage>(_ frame: [UInt8], _ type: Value.Type) {
        do throws(ProtocolError) {
            let message = try codec.decode(frame, as: type)
            let again = try codec.encode(message)
            #expect(try codec.decode(again, as: type) == message)
        } catch {
            #expect(!error.description.isEmpty)
        }
    }

    private func expectErrorsWhenCut<Value: ControlMessage>(_ messages: [Value]) throws {
        for message in messages {
            let frame = try codec.encode(message)
            for length in 0..<frame.count {
                let cut = Array(frame[..<length])
                // A body may end between two fields: then a field is missing, unless it was one
                // that may be absent.
                do throws(ProtocolError) {
                    let other = try codec.decode(cut, as: Value.self)
                    #expect(other != message)
                } catch {
                    #expect(!error.description.isEmpty)
                }
            }
        }
    }

    private func expectNoTrapWhenFlipped<Value: ControlMessage>(_ messages: [Value]) throws {
        for message in messages {
            let frame = try codec.encode(message)
            for index in frame.indices {
                for change in [UInt8(1), 2, 4, 8, 16, 32, 64, 128, 255] {
                    var changed = frame
                    changed[index] ^= change
                    tryAll(changed, Value.self)
                }
            }
        }
    }

    @Test(arguments: UInt64(1)...4) func cutMessagesAreErrors(seed: UInt64) throws {
        var random = RandomMessages(seed: seed)
        try expectErrorsWhenCut(random.worker())
        try expectErrorsWhenCut(random.coordinator())
        try expectErrorsWhenCut(random.requests())
        try expectErrorsWhenCut(random.replies())
        try expectErrorsWhenCut(random.slotOrders())
        try expectErrorsWhenCut(random.slotReports())
    }

    @Test func flippedBytesDoNoHarm() throws {
        var random = RandomMessages(seed: 5)
        try expectNoTrapWhenFlipped(random.worker())
        try expectNoTrapWhenFlipped(random.coordinator())
        try expectNoTrapWhenFlipped(random.requests())
        try expectNoTrapWhenFlipped(random.replies())
        try expectNoTrapWhenFlipped(random.slotOrders())
        try expectNoTrapWhenFlipped(random.slotReports())
    }

    @Test func randomBytesDoNoHarm() {
        var random = RandomMessages(seed: 7)
        for _ in 0..<3000 {
            let type = UInt8(truncatingIfNeeded: random.next())
            let body = (0..<random.number(0...64)).map { _ in
                UInt8(truncatingIfNeeded: random.next())
            }
            let frame = [UInt8(random.number(0...ProtocolRange.current.highest)), type] + body
            tryAll(frame, WorkerMessage.self)
            tryAll(frame, CoordinatorMessage.self)
            tryAll(frame, ClientRequest.self)
            tryAll(frame, ClientReply.self)
            tryAll(frame, SlotOrder.self)
            tryAll(frame, SlotReport.self)
        }
    }

    @Test func messagesOfTheOtherDirectionAreUnknown() throws {
        let frame = try codec.encode(CoordinatorMessage.drain)
        #expect(throws: ProtocolError.unknownType(39)) {
            try codec.decode(frame, as: WorkerMessage.self)
        }
        for type in [UInt8(0), 9, 32, 64, 96, 200, 255] {
            #expect(throws: ProtocolError.unknownType(Int(type))) {
                try codec.decode([6, type], as: WorkerMessage.self)
            }
        }
    }

    @Test func nothingIsTakenForADefault() {
        let known: [(bytes: [UInt8], ProtocolError)] = [
            ([6, 2], .missing(field: "ready.freeSlots")),
            ([6, 3, 0x0A, 1, 0x61, 0x10, 1], .missing(field: "progress.bytes")),
            ([6, 6], .missing(field: "workerReturned")),
            (
                [6, 5, 0x0A, 1, 0x61, 0x10, 99, 0x1A, 0, 0x20, 0],
                .unknownValue(field: "failed.code", 99)
            ),
            ([6, 2, 0x08, 1, 0x78, 1], .unknownFields("ready")),
            ([6, 2, 0x08], .malformed("workerReady")),
            ([6, 2, 0x0B, 0x0C], .malformed("workerReady")),
            ([6, 2, 0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], .malformed("workerReady")),
            ([6, 6, 0x0A, 2, 0xC3, 0x28], .malformed("workerReturned")),
        ]
        for (bytes, error) in known {
            #expect(throws: error) { try codec.decode(bytes, as: WorkerMessage.self) }
        }
        #expect(throws: ProtocolError.missing(field: "jobs.orders")) {
            try codec.decode([6, 35], as: CoordinatorMessage.self)
        }
        #expect(throws: ProtocolError.unknownValue(field: "denied.reason", 0)) {
            try codec.decode([6, 37, 0x0A, 1, 0x61, 0x10, 0], as: CoordinatorMessage.self)
        }
    }

    @Test func aFewBytesCannotBecomeMuchMemory() {
        let empties = [UInt8]((0..<400_000).flatMap { _ in [UInt8(0x0A), 0] })
        #expect(throws: ProtocolError.tooMany(field: "jobs", count: 257, limit: 256)) {
            try codec.decode([6, 35] + empties, as: CoordinatorMessage.self)
        }
        #expect(throws: ProtocolError.tooMany(field: "workerHeartbeat", count: 1041, limit: 1040)) {
            try codec.decode([6, 7] + empties, as: WorkerMessage.self)
        }
    }
}
