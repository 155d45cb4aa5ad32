import Testing

@testable import ZeroMQ

extension SocketSuites {
    @Suite struct CurveKeyTests {
        /// The pair of libzmq's manual (zmq_curve).
        static let publicText = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
        static let secretText = "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"

        @Test func thePublicHalfFollowsFromTheSecretOne() throws {
            let pair = try KeyPair(secretKey: SecretKey(Self.secretText))
            #expect(pair.publicKey.text == Self.publicText)
            #expect(Array(pair.publicKey.bytes.prefix(4)) == [0xBB, 0x88, 0x47, 0x1D])
            #expect(try PublicKey(bytes: pair.publicKey.bytes) == pair.publicKey)
        }

        @Test func newPairsDiffer() throws {
            let pairs = try (0..<20).map { _ in try KeyPair.generate() }
            #expect(Set(pairs).count == 20)
            for pair in pairs {
                #expect(try KeyPair(secretKey: pair.secretKey) == pair)
                #expect(pair.publicKey.text != pair.secretKey.text)
            }
        }

        @Test(arguments: [
            "", "short", String(publicText.dropLast()), publicText + "a",
            String(repeating: "#", count: 40), String(repeating: "\"", count: 40),
            String(repeating: "\0", count: 40), String(repeating: "é", count: 20),
            String(repeating: "~", count: 40), publicText.dropLast() + " ",
        ])
        func whatIsNoKeyIsRefused(text: String) {
            #expect(throws: ZeroMQError.invalidKey) { try PublicKey(text) }
            #expect(throws: ZeroMQError.invalidKey) { try SecretKey(text) }
        }

        @Test func aKeyHas32Bytes() {
            for count in [0, 31, 33, 36] {
                #expect(throws: ZeroMQError.invalidKey) {
                    try PublicKey(bytes: [UInt8](repeating: 1, count: count))
                }
            }
        }

        @Test func secretsAreNotDescribed() throws {
            let pair = try KeyPair(secretKey: SecretKey(Self.secretText))
            var dumped = ""
            dump(pair, to: &dumped)
            for text in ["\(pair.secretKey)", "\(pair)", String(reflecting: pair), dumped] {
                #expect(!text.contains(Self.secretText))
            }
        }
    }
}
