import CZeroMQ
import TestSupport
import Testing
import Threads

@testable import ZeroMQ

/// Everything over real sockets, one test at a time: contexts that end beside those that use
/// CURVE can crash libzmq before 4.3.5.
@Suite(.serialized) enum SocketSuites {}

/// What a test waits for did not happen.
struct Missing: Error {
    let what: String
}

extension Socket {
    /// Waits until the socket can be read from or written to; false after half a minute.
    func waits(for events: Int32, milliseconds: Int = 30_000) -> Bool {
        var item = zmq_pollitem_t(socket: raw, fd: 0, events: Int16(events), revents: 0)
        return zmq_poll(&item, 1, milliseconds) > 0
    }

    /// The next message, waiting for it.
    func next() throws -> Message {
        while true {
            if let message = try receive() { return message }
            guard waits(for: ZMQ_POLLIN) else { throw Missing(what: "a message") }
        }
    }

    /// Sends once there is room.
    func sendWhenPossible(_ frames: [Frame]) throws {
        while try send(frames) == .wouldBlock {
            guard waits(for: ZMQ_POLLOUT) else { throw Missing(what: "room") }
        }
    }
}

extension SocketMonitor {
    /// Waits for the first event that fits; those before it are passed over.
    func next(where isWanted: (MonitorEvent.Kind) -> Bool) throws -> MonitorEvent {
        let found = try awaited {
            for event in try receive(upTo: 1) where isWanted(event.kind) { return event }
            guard pair.waits(for: ZMQ_POLLIN) else { throw Missing(what: "an event") }
            return nil as MonitorEvent?
        }
        guard let found else { throw Missing(what: "an event") }
        return found
    }
}

/// What a handler of the tests was told.
enum Note: Sendable {
    case message(from: String?, user: String?, text: String?)
    case event(MonitorEvent)
    case refused(AccessRefusal)
    case writable
    case woken(Int64)
    case turn
    case ended
}

/// A handler that answers each message with itself and notes what it is told.
final class Echo: PollLoopHandler {
    let sockets: PollSockets
    let socket: Socket
    let notes: BoundedMailbox<Note>
    var notesTurns = false
    var nextWake: Int64?
    var largestBatch = 0

    init(_ sockets: PollSockets, _ socket: Socket, _ notes: BoundedMailbox<Note>) {
        self.sockets = sockets
        self.socket = socket
        self.notes = notes
    }

    func received(_ messages: [Message], on socket: Socket) throws {
        largestBatch = max(largestBatch, messages.count)
        for message in messages {
            notes.send(
                .message(from: message.peer?.text, user: message.userID, text: message.frame.text))
            try socket.send(message.frames, to: message.peer)
        }
    }

    func becameWritable(_ socket: Socket) { notes.send(.writable) }
    func observed(_ event: MonitorEvent, of socket: Socket) { notes.send(.event(event)) }
    func refused(_ refusal: AccessRefusal) { notes.send(.refused(refusal)) }

    func wake(at now: Int64) {
        nextWake = nil
        notes.send(.woken(now))
    }

    func endOfTurn(at now: Int64) { if notesTurns { notes.send(.turn) } }
    func willEnd() { notes.send(.ended) }
}

extension BoundedMailbox where Element == Note {
    /// Waits for the first note that gives a value; those before it are passed over.
    func next<Value>(_ what: String, _ value: (Note) -> Value?) throws -> Value {
        let found = try awaited {
            guard case .element(let note) = receive(within: .seconds(30)) else {
                throw Missing(what: what)
            }
            return value(note)
        }
        guard let found else { throw Missing(what: what) }
        return found
    }

    func nextText() throws -> String? {
        try next("a message") { note in
            if case .message(_, _, let text) = note { return .some(text) }
            return nil
        }
    }
}

/// A clock for loops whose time does not matter.
let stoppedClock: @Sendable () -> Int64 = { 0 }
