import ClusterProtocol
import Testing

/// Sides of different versions understand each other as far as they must.
@Suite struct VersionTests {
    private let older = MessageCodec(protocols: ProtocolRange(lowest: 1, highest: 1))
    private let newer = MessageCodec(protocols: ProtocolRange(lowest: 1, highest: 2))
    private let newest = MessageCodec(protocols: ProtocolRange(lowest: 3, highest: 4))

    @Test func theHighestCommonVersionIsTaken() {
        func common(_ a: (Int, Int), _ b: (Int, Int)) -> Int? {
            let first = ProtocolRange(lowest: a.0, highest: a.1)
            let second = ProtocolRange(lowest: b.0, highest: b.1)
            #expect(first.common(with: second) == second.common(with: first))
            return first.common(with: second)
        }
        #expect(common((1, 1), (1, 1)) == 1)
        #expect(common((1, 3), (2, 5)) == 3)
        #expect(common((1, 2), (2, 5)) == 2)
        #expect(common((1, 9), (3, 4)) == 4)
        #expect(common((1, 2), (3, 4)) == nil)
    }

    @Test func twoVersionsLiveSideBySide() throws {
        let message = WorkerMessage.ready(freeSlots: 2)
        let old = try newer.encode(message, version: 1)
        let new = try newer.encode(message)
        #expect(old.first == 1 && new.first == 2)
        #expect(try newer.decode(old) == message)
        #expect(try newer.decode(new) == message)
        #expect(try older.decode(old) == message)
        #expect(throws: ProtocolError.unknownVersion(found: 2, known: older.protocols)) {
            try older.decode(new, as: WorkerMessage.self)
        }
        #expect(throws: ProtocolError.unknownVersion(found: 2, known: older.protocols)) {
            try older.encode(message, version: 2)
        }
    }

    @Test(arguments: UInt64(0)..<20) func everyVersionReadsAHello(seed: UInt64) throws {
        var random = RandomMessages(seed: seed)
        let hello = WorkerMessage.hello(random.hello())
        let frame = try newest.encode(hello)
        #expect(frame.first == 0)
        #expect(try older.decode(frame) == hello)
        // A later version may have added fields.
        #expect(try older.decode(frame + [0xF8, 0x07, 5]) == hello)
    }

    @Test func everyVersionReadsARefusal() throws {
        let theirs = newest.protocols
        let refusal = Refusal.protocolVersion(theirs: theirs, ours: older.protocols)
        #expect(refusal.text.contains("3 to 4") && refusal.text.contains("uses 1"))
        #expect(refusal.protocols == older.protocols)
        let toWorker = try older.encode(CoordinatorMessage.refused(refusal))
        #expect(try newest.decode(toWorker) == CoordinatorMessage.refused(refusal))
        let toClient = try older.encode(ClientReply.refused(refusal))
        #expect(try newest.decode(toClient) == ClientReply.refused(refusal))
    }

    @Test func onlyHellosAndRefusalsComeWithoutAVersion() throws {
        #expect(throws: ProtocolError.unknownVersion(found: 0, known: older.protocols)) {
            try older.decode([0, 2, 0x08, 1], as: WorkerMessage.self)
        }
        var random = RandomMessages(seed: 1)
        var frame = try older.encode(WorkerMessage.hello(random.hello()))
        frame[0] = 1
        #expect(throws: ProtocolError.unknownType(1)) {
            try older.decode(frame, as: WorkerMessage.self)
        }
    }

    @Test func errorsBecomeRefusals() {
        let version = ProtocolError.unknownVersion(found: 7, known: .current).refusal()
        #expect(version.code == .protocolVersion && version.text.contains("7"))
        #expect(version.text.contains(ProtocolRange.current.description))
        let other = ProtocolError.missing(field: "job.plan").refusal()
        #expect(other.code == .badMessage && other.text == "job.plan is missing")
    }
}
