internal import CZeroMQ
internal import Synchronization
internal import Threads

/// The turns of a poll loop, on its thread.
struct PollTurns<Handler: PollLoopHandler> {
    private let handler: Handler
    private let sockets: PollSockets
    private let inbox: Inbox<Handler>
    /// What is polled: the event descriptor, then other descriptors and the entries as they were.
    private var items: [zmq_pollitem_t] = []
    private var entries: [PollEntry] = []
    private var descriptors: [Int32] = []
    private var version = -1
    /// Closures are left from the last turn.
    private var hasSubmissions = false

    /// The longest wait; after it the handler is asked for its time again.
    private static var longestWait: Int64 { 3_600_000 }
    private static var submissionsOfATurn: Int { 256 }

    init(_ handler: Handler, _ sockets: PollSockets, _ inbox: Inbox<Handler>) {
        self.handler = handler
        self.sockets = sockets
        self.inbox = inbox
    }

    /// Takes turns until the end.
    ///
    /// - Throws: what the handler throws, or `ZeroMQError`.
    mutating func run() throws {
        while !sockets.isEnding, !inbox.isEnding.load(ordering: .sequentiallyConsistent) {
            try turn()
        }
        let rest = inbox.mailbox.closeAndDrain()
        for submission in rest { try submission(handler) }
        if !rest.isEmpty { try handler.endOfTurn(at: sockets.now) }
        try handler.willEnd()
    }

    private mutating func turn() throws {
        prepare()
        try ZeroMQError.check(
            czeromq_poll(&items, Int32(items.count), Int(milliseconds())), .poll)
        var isEventful = false
        if items[0].revents != 0 || hasSubmissions { isEventful = try submissions() }
        for (index, descriptor) in descriptors.enumerated() where items[index + 1].revents != 0 {
            // One of the others may have been the reason to forget it.
            guard sockets.descriptors.contains(descriptor) else { continue }
            try handler.becameReadable(descriptor)
            isEventful = true
        }
        for (index, entry) in entries.enumerated() {
            let ready = Int32(items[descriptors.count + index + 1].revents)
            if ready != 0, !entry.socket.isClosed, try serve(entry, ready) { isEventful = true }
        }
        let now = sockets.now
        if let due = handler.nextWake, due <= now {
            try handler.wake(at: now)
            isEventful = true
        }
        if isEventful { try handler.endOfTurn(at: sockets.now) }
    }

    /// How long to wait; negative without limit.
    private func milliseconds() -> Int64 {
        if hasSubmissions { return 0 }
        guard let due = handler.nextWake else { return -1 }
        let (left, isOverflow) = due.subtractingReportingOverflow(sockets.now)
        if isOverflow { return due > 0 ? Self.longestWait : 0 }
        return min(max(left, 0), Self.longestWait)
    }

    private mutating func prepare() {
        sockets.forgetClosed()
        guard version != sockets.version else { return }
        version = sockets.version
        entries = sockets.entries
        descriptors = sockets.descriptors
        items = ([inbox.wakeUp.descriptor] + descriptors).map { descriptor in
            zmq_pollitem_t(socket: nil, fd: descriptor, events: Int16(ZMQ_POLLIN), revents: 0)
        }
        for entry in entries {
            items.append(
                zmq_pollitem_t(socket: entry.socket.raw, fd: 0, events: entry.events, revents: 0))
        }
    }

    private mutating func submissions() throws -> Bool {
        inbox.wakeUp.reset()
        let limit = Self.submissionsOfATurn
        let batch = inbox.mailbox.receiveNow(upTo: limit)
        hasSubmissions = batch.count == limit
        for submission in batch { try submission(handler) }
        return !batch.isEmpty
    }

    /// Tells the handler what a socket has; whether it had anything.
    private func serve(_ entry: PollEntry, _ ready: Int32) throws -> Bool {
        let limit = PollLoop<Handler>.messagesOfATurn
        var isEventful = false
        switch entry.role {
        case .authentication(let zap):
            let (count, refusals) = try zap.answer(upTo: limit)
            for refusal in refusals { try handler.refused(refusal) }
            isEventful = count > 0
        case .monitor(let monitor):
            let events = try monitor.receive(upTo: limit)
            for event in events where !monitor.socket.isClosed {
                try handler.observed(event, of: monitor.socket)
            }
            isEventful = !events.isEmpty
        case .messages:
            if ready & ZMQ_POLLIN != 0, entry.isReceiving {
                let messages = try entry.socket.receive(upTo: limit)
                if !messages.isEmpty { try handler.received(messages, on: entry.socket) }
                isEventful = !messages.isEmpty
            }
            if ready & ZMQ_POLLOUT != 0, entry.awaitsRoom, !entry.socket.isClosed {
                sockets.roomWasFound(by: entry)
                try handler.becameWritable(entry.socket)
                isEventful = true
            }
        }
        return isEventful
    }
}
