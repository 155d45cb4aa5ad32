internal import CZeroMQ

/// What became of a message that was to be sent.
package enum SendResult: Sendable {
    /// Queued for the peer; whether it arrives is for the peer to say.
    case sent
    /// The peer's queue is full, or no peer is connected: try again later.
    case wouldBlock
    /// No connection has this routing id: the peer that had it is gone.
    case peerGone
}

extension Socket {
    /// Sends a message of one frame; a router socket needs to know to whom.
    ///
    /// - Throws: `ZeroMQError.refused` for anything that is none of the results.
    @discardableResult
    package func send(
        _ frame: Frame, to peer: RoutingID? = nil
    ) throws(ZeroMQError) -> SendResult {
        if let peer {
            let result = try begin(peer.frame)
            guard result == .sent else { return result }
            try finish(frame)
            return .sent
        }
        return try first(frame, hasMore: false)
    }

    /// Sends a message of several frames, at least one: all of them or none.
    ///
    /// - Throws: `ZeroMQError.refused` for anything that is none of the results.
    @discardableResult
    package func send(
        _ frames: [Frame], to peer: RoutingID? = nil
    ) throws(ZeroMQError) -> SendResult {
        precondition(!frames.isEmpty, "a message has frames")
        precondition(kind != .router || peer != nil, "a router needs a peer to send to")
        let parts = peer.map { [$0.frame] + frames } ?? frames
        for (index, part) in parts.enumerated() {
            let hasMore = index + 1 < parts.count
            if index == 0 {
                let result = try first(part, hasMore: hasMore)
                guard result == .sent else { return result }
            } else {
                // Once the first part is taken, libzmq takes the others.
                try ZeroMQError.check(part.send(to: raw, hasMore: hasMore), .send)
            }
        }
        return .sent
    }

    private func begin(_ peer: Frame) throws(ZeroMQError) -> SendResult {
        try first(peer, hasMore: true)
    }

    private func finish(_ frame: Frame) throws(ZeroMQError) {
        try ZeroMQError.check(frame.send(to: raw, hasMore: false), .send)
    }

    private func first(_ frame: Frame, hasMore: Bool) throws(ZeroMQError) -> SendResult {
        let result = frame.send(to: raw, hasMore: hasMore)
        if result >= 0 { return .sent }
        switch -result {
        case EAGAIN: return .wouldBlock
        case EHOSTUNREACH: return .peerGone
        default: throw .refused(.send, subject: nil, number: -result)
        }
    }

    /// Receives the oldest message, or nil where none has arrived.
    ///
    /// - Throws: `ZeroMQError.refused`.
    package func receive() throws(ZeroMQError) -> Message? {
        while let head = try receiveFrame() {
            if let message = try complete(head) { return message }
            droppedMessages += 1
        }
        return nil
    }

    /// Receives what has arrived, oldest first, up to a number of messages.
    ///
    /// - Throws: `ZeroMQError.refused`.
    package func receive(upTo limit: Int) throws(ZeroMQError) -> [Message] {
        var messages: [Message] = []
        // Those that are dropped count too, so that no peer holds up the others with them.
        for _ in 0..<limit {
            guard let head = try receiveFrame() else { break }
            if let message = try complete(head) {
                messages.append(message)
            } else {
                droppedMessages += 1
            }
        }
        return messages
    }

    /// The rest of a message whose first frame arrived; nil where it is too long.
    private func complete(_ head: Frame) throws(ZeroMQError) -> Message? {
        var peer: RoutingID?
        var first = head
        if kind == .router {
            peer = RoutingID(received: head)
            first = try head.hasMore ? nextFrame() : Frame([])
        }
        guard first.hasMore else { return Message(peer: peer, frame: first, moreFrames: []) }
        var more: [Frame] = []
        var count = 1
        var last = first
        while last.hasMore {
            last = try nextFrame()
            count += 1
            if count <= Message.largestFrameCount { more.append(last) }
        }
        guard count <= Message.largestFrameCount else { return nil }
        return Message(peer: peer, frame: first, moreFrames: more)
    }

    /// A frame that must be there: libzmq hands out whole messages.
    private func nextFrame() throws(ZeroMQError) -> Frame {
        guard let frame = try receiveFrame() else {
            throw .refused(.receive, subject: nil, number: EAGAIN)
        }
        return frame
    }

    /// One frame, or nil where none has arrived.
    func receiveFrame() throws(ZeroMQError) -> Frame? {
        var message = zmq_msg_t()
        zmq_msg_init(&message)
        let result = czeromq_receive(&message, raw)
        if result >= 0 { return Frame(moving: &message) }
        if result == -EAGAIN { return nil }
        throw .refused(.receive, subject: nil, number: -result)
    }
}
