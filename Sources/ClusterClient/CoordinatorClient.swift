package import ClusterProtocol
import Threads
package import ZeroMQ

/// A client's connection to a coordinator: one request at a time, or a stream of events.
///
/// Used by one thread, which waits here; the sockets live on a thread of their own.
package final class CoordinatorClient {
    package let connection: CoordinatorConnection
    private let loop: PollLoop<ClientTransport>
    private let news = BoundedMailbox<NumberedNews>(capacity: 1024)
    private var number = 0

    /// How long a request may take.
    package struct Patience: Sendable {
        /// For a connection.
        package var connecting: Duration
        /// For the answer, once there is a connection.
        package var answer: Duration
        /// Called once where the answer takes longer than a few seconds.
        package var whenSlow: (@Sendable () -> Void)?

        package init(
            connecting: Duration = .seconds(10), answer: Duration = .seconds(30),
            whenSlow: (@Sendable () -> Void)? = nil
        ) {
            self.connecting = connecting
            self.answer = answer
            self.whenSlow = whenSlow
        }
    }

    /// Starts the thread; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - connection: where to, and with which keys.
    ///   - context: that of the process.
    ///   - clock: seconds of a clock that never goes back.
    ///   - routingID: random ones, a new one for each call.
    /// - Throws: `ClientError` where there is no thread or socket to be had.
    package init(
        _ connection: CoordinatorConnection, context: Context,
        clock: @escaping @Sendable () -> Double, routingID: @escaping @Sendable () -> String
    ) throws(ClientError) {
        self.connection = connection
        let news = news
        loop = try ClientError.translating(connection) {
            try PollLoop(name: "client", context: context, clock: { Int64(clock() * 1000) }) {
                ClientTransport($0, connection, routingID: routingID, news: news)
            }
        }
    }

    deinit { close() }

    /// Ends the connection; a second call does nothing.
    package func close() {
        // A thread that waits for room in the mailbox continues.
        news.close()
        loop.end()
    }

    /// Has the next wait end with `.interrupted`; fit for any thread.
    package func interrupter() -> @Sendable () -> Void {
        let news = news
        return { _ = news.sendIfRoom(NumberedNews(connection: .max, news: .interrupted)) }
    }

    /// Makes a new connection and sends a request as soon as that is done.
    ///
    /// - Throws: `ClientError` for a request beyond the bounds of messages.
    package func open(sending request: ClientRequest) throws(ClientError) {
        let frame = try frame(of: request)
        number += 1
        let number = number
        loop.submit { $0.open(number, sending: frame) }
    }

    /// Hears nothing more of the connection that there was.
    package func forget() { number += 1 }

    /// What is heard next of the connection that was opened last; nil where nothing is in time.
    ///
    /// - Throws: `ClientError` where the thread has ended.
    package func next(within limit: Duration) throws(ClientError) -> ClientEvent? {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            switch news.receive(within: max(rest, .zero)) {
            case .element(let heard):
                if heard.connection >= number { return heard.news }
            case .nothingYet:
                // An error that ended the loop has closed nothing here.
                guard loop.submit({ _ in }) else { throw ended() }
                return nil
            case .closed: throw ended()
            }
        }
    }

    private func ended() -> ClientError {
        do throws(ClientError) {
            try ClientError.translating(connection) { try loop.join() }
            return ClientError(.thread("the client's thread has ended"), connection)
        } catch {
            return error
        }
    }

    /// Asks, and returns the answer; a refusal is an error.
    ///
    /// A connection that is lost on the way is made again where asking twice does no harm.
    ///
    /// - Throws: `ClientError` where no coordinator answers, where it refuses, and where the
    ///   answer makes no sense.
    package func ask(
        _ request: ClientRequest, patience: Patience = Patience()
    ) throws(ClientError) -> ClientReply {
        var isConnected = false
        var unfinished: String?
        try open(sending: request)
        var deadline = ContinuousClock.now.advanced(by: patience.connecting)
        var whenSlow = patience.whenSlow
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else {
                throw error(
                    isConnected
                        ? .noAnswer(within: patience.answer)
                        : .noCoordinator(within: patience.connecting, unfinished: unfinished))
            }
            let waitsToTell = isConnected && whenSlow != nil
            guard let heard = try next(within: waitsToTell ? min(rest, .seconds(3)) : rest) else {
                if waitsToTell { whenSlow.take()?() }
                continue
            }
            switch heard {
            case .connected:
                isConnected = true
                deadline = ContinuousClock.now.advanced(by: patience.answer)
            case .reply(.refused(let refusal)): throw error(.refused(refusal, request))
            case .reply(let reply): return reply
            case .unreadable(let fault): throw error(.unreadable(fault))
            case .unfinished(let reason): unfinished = reason
            case .keptOut(let refusal): throw error(.handshakeRefused(refusal))
            case .interrupted: throw error(.interrupted)
            case .lost:
                guard request.isRepeatable else { throw error(.lost) }
                isConnected = false
                try open(sending: request)
                deadline = ContinuousClock.now.advanced(by: patience.connecting)
            }
        }
    }

    private func error(_ cause: ClientError.Cause) -> ClientError {
        ClientError(cause, connection)
    }

    private func frame(of request: ClientRequest) throws(ClientError) -> [UInt8] {
        do throws(ProtocolError) {
            return try MessageCodec().encode(request)
        } catch {
            throw self.error(.notSendable(error))
        }
    }
}

extension ClientRequest {
    /// The run that has to be there; nil where none is named.
    package var run: String? {
        switch self {
        case .status(let run), .watch(let run): run
        case .pause(let run), .resume(let run), .cancel(let run): run
        case .replay(let run, _), .swap(let run, _): run
        case .throttle(let settings): settings.run
        case .submit, .workers, .drain: nil
        }
    }

    /// Whether asking a second time has the effect of asking once.
    var isRepeatable: Bool {
        switch self {
        case .submit, .status, .watch, .workers, .pause, .resume, .drain, .throttle: true
        case .cancel, .replay, .swap: false
        }
    }
}
