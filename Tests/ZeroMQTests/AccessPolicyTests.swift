import Testing

@testable import ZeroMQ

@Suite struct AccessPolicyTests {
    private func request(
        _ mechanism: String, _ address: String = "10.0.0.7", key: PublicKey? = nil
    ) -> AccessRequest {
        AccessRequest(domain: "control", address: address, mechanism: mechanism, key: key)
    }

    @Test func keysOnTheListHaveNames() throws {
        let key = try PublicKey(SocketSuites.CurveKeyTests.publicText)
        let policy = AccessPolicy(names: [key: "worker-1"])
        #expect(policy.decide(request("CURVE", key: key)) == .allowed(as: "worker-1"))
        #expect(policy.decide(request("CURVE")) == .refused(.noKey))
        #expect(AccessPolicy().decide(request("CURVE", key: key)) == .refused(.unknownKey(key)))
        #expect(policy.decide(request("PLAIN")) == .refused(.mechanism))
        #expect(policy.decide(request("GSSAPI")) == .refused(.mechanism))
    }

    @Test(arguments: ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "localhost:0:0:77"])
    func thisMachineMayBeAllowedInTheClear(address: String) {
        let open = AccessPolicy(plain: .fromThisMachine(as: "local"))
        #expect(open.decide(request("NULL", address)) == .allowed(as: "local"))
        #expect(AccessPolicy().decide(request("NULL", address)) == .refused(.plain))
    }

    @Test(arguments: [
        "10.0.0.7", "128.0.0.1", "::ffff:10.0.0.1", "fe80::1", "", "127.evil.example", "::2",
        "1.127.0.0.1", "localhost",
    ])
    func otherMachinesAreNeverAllowedInTheClear(address: String) {
        let open = AccessPolicy(plain: .fromThisMachine(as: "local"))
        #expect(open.decide(request("NULL", address)) == .refused(.plainFromAfar))
    }

    @Test func refusalsAreExplained() throws {
        let key = try PublicKey(SocketSuites.CurveKeyTests.publicText)
        let refusal = AccessRefusal(reason: .unknownKey(key), request: request("CURVE", key: key))
        let text = "\(refusal)"
        #expect(text.contains("10.0.0.7") && text.contains(key.text) && text.contains("CURVE"))
        for reason: AccessRefusal.Reason in [
            .noKey, .plain, .plainFromAfar, .mechanism, .malformed,
        ] {
            let text = "\(AccessRefusal(reason: reason, request: request("NULL")))"
            #expect(text.hasPrefix("refused a"))
        }
    }

    @Test func requestsOfLibzmqAreRead() throws {
        let key = try PublicKey(SocketSuites.CurveKeyTests.publicText)
        let head = ["1.0", "7", "control", "10.0.0.7", "peer", "CURVE"].map { Frame($0) }
        let curve = ZAPRequest(head + [Frame(key.bytes)])
        #expect(curve.access == request("CURVE", key: key))
        #expect(
            curve.reply(.allowed(as: "w")).map(\.text) == ["1.0", "7", "200", "OK", "w", ""])
        #expect(
            curve.reply(.refused(.noKey)).map(\.text) == ["1.0", "7", "400", "refused", "", ""])
        #expect(ZAPRequest(head).access == request("CURVE"))
        #expect(ZAPRequest(head + [Frame([1, 2])]).access == request("CURVE"))
        #expect(ZAPRequest([]).access == nil)
        #expect(ZAPRequest(Array(head.dropLast())).access == nil)
        #expect(ZAPRequest([Frame("2.0")] + head.dropFirst()).access == nil)
        #expect(ZAPRequest(head.prefix(5) + [Frame([0xFF])]).access == nil)
    }
}
