/// Answers libzmq's question, before each handshake completes, whether a peer may come in
/// (ZAP, ZeroMQ RFC 27).
///
/// To be made before any other socket of the context: libzmq asks where it is bound, and lets in
/// without asking where it is not.
final class ZAPHandler {
    static let endpoint = "inproc://zeromq.zap.01"

    let socket: Socket
    var policy: AccessPolicy

    /// - Throws: `ZeroMQError.refused` where the context has a handler already.
    init(_ policy: AccessPolicy, in context: Context) throws(ZeroMQError) {
        self.policy = policy
        socket = try Socket(.reply, in: context)
        try socket.bind(Self.endpoint)
        context.isGuarded = true
    }

    deinit { socket.context.isGuarded = false }

    /// Answers the questions that have arrived, up to a number.
    ///
    /// - Returns: the connections refused.
    func answer(upTo limit: Int) throws(ZeroMQError) -> (count: Int, refusals: [AccessRefusal]) {
        var refusals: [AccessRefusal] = []
        var count = 0
        while count < limit, let message = try socket.receive() {
            count += 1
            let request = ZAPRequest(message.frames)
            let decision = request.access.map { policy.decide($0) } ?? .refused(.malformed)
            try socket.send(request.reply(decision))
            if case .refused(let reason) = decision {
                let asked =
                    request.access
                    ?? AccessRequest(domain: "", address: "", mechanism: "", key: nil)
                refusals.append(AccessRefusal(reason: reason, request: asked))
            }
        }
        return (count, refusals)
    }
}

/// The frames of a ZAP request: version, request id, domain, address, routing id, mechanism, and
/// the mechanism's credentials.
struct ZAPRequest {
    static let version = "1.0"

    let id: Frame
    /// Nil where the frames are not those of a request.
    let access: AccessRequest?

    init(_ frames: [Frame]) {
        id = frames.count > 1 ? frames[1] : Frame([])
        guard frames.count >= 6, frames[0].text == Self.version,
            let domain = frames[2].text, let address = frames[3].text,
            let mechanism = frames[5].text
        else {
            access = nil
            return
        }
        var key: PublicKey?
        if mechanism == "CURVE", frames.count == 7 {
            do throws(ZeroMQError) {
                key = try PublicKey(bytes: frames[6].bytes)
            } catch {
                key = nil  // The policy refuses it.
            }
        }
        access = AccessRequest(
            domain: domain, address: address, mechanism: mechanism, key: key)
    }

    /// Version, request id, status code, status text, user id, metadata.
    func reply(_ decision: AccessDecision) -> [Frame] {
        let (status, text, name) =
            switch decision {
            case .allowed(let name): ("200", "OK", name)
            // The peer is told no reason.
            case .refused: ("400", "refused", "")
            }
        return [
            Frame(Self.version), id, Frame(status), Frame(text), Frame(name), Frame([]),
        ]
    }
}
