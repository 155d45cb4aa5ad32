import ClusterProtocol
import RunReports
import Threads
import ZeroMQ

/// A command's connection to a coordinator: one request at a time, or a stream of events.
///
/// Used by one thread, which waits here; the sockets live on a thread of their own.
final class CoordinatorClient {
    let connection: CoordinatorConnection
    private let loop: PollLoop<ClientTransport>
    private let news = BoundedMailbox<NumberedNews>(capacity: 1024)
    private var number = 0

    /// What a command waits for at most.
    struct Patience: Sendable {
        /// For a connection.
        var connecting = Duration.seconds(10)
        /// For the answer, once there is a connection.
        var answer = Duration.seconds(30)
        /// What is said on standard error where the answer takes longer than a few seconds.
        var note: String?
    }

    /// Starts the thread; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - connection: where to, and with which keys.
    ///   - context: that of the process.
    ///   - clock: seconds of a clock that never goes back.
    ///   - routingID: random ones, a new one for each call.
    /// - Throws: `CommandFailure` where there is no thread or socket to be had.
    init(
        _ connection: CoordinatorConnection, context: Context,
        clock: @escaping @Sendable () -> Double,
        routingID: @escaping @Sendable () -> String = { RandomText.hexadecimal(bytes: 16) }
    ) throws(CommandFailure) {
        self.connection = connection
        let news = news
        loop = try CommandFailure.translating {
            try PollLoop(name: "client", context: context, clock: { Int64(clock() * 1000) }) {
                ClientTransport($0, connection, routingID: routingID, news: news)
            }
        }
    }

    deinit { close() }

    /// Ends the connection; a second call does nothing.
    func close() {
        // A thread that waits for room in the mailbox continues.
        news.close()
        loop.end()
    }

    /// Has the next wait end with `.interrupted`; fit for any thread.
    func interrupter() -> @Sendable () -> Void {
        let news = news
        return { _ = news.sendIfRoom(NumberedNews(connection: .max, news: .interrupted)) }
    }

    /// Makes a new connection and sends a request as soon as that is done.
    ///
    /// - Throws: `CommandFailure` for a request beyond the bounds of messages.
    func open(sending request: ClientRequest) throws(CommandFailure) {
        let frame = try Self.frame(of: request)
        number += 1
        let number = number
        loop.submit { $0.open(number, sending: frame) }
    }

    /// Hears nothing more of the connection that there was.
    func forget() { number += 1 }

    /// What is heard next of the connection that was opened last; nil where nothing is in time.
    ///
    /// - Throws: `CommandFailure` where the thread has ended.
    func next(within limit: Duration) throws(CommandFailure) -> ClientEvent? {
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

    private func ended() -> CommandFailure {
        do throws(CommandFailure) {
            try CommandFailure.translating { try loop.join() }
            return CommandFailure(.bug, "a bug of godwit: the client's thread has ended")
        } catch {
            return error
        }
    }

    /// Asks, and returns the answer; a refusal is an error.
    ///
    /// A connection that is lost on the way is made again where asking twice does no harm.
    ///
    /// - Throws: `CommandFailure` with what to check where no coordinator answers, where it
    ///   refuses, or where the answer makes no sense.
    func ask(
        _ request: ClientRequest, patience: Patience = Patience()
    ) throws(CommandFailure) -> ClientReply {
        var trouble = ClientErrors(connection)
        try open(sending: request)
        var deadline = ContinuousClock.now.advanced(by: patience.connecting)
        var note = patience.note
        while true {
            let rest = ContinuousClock.now.duration(to: deadline)
            guard rest > .zero else { throw trouble.silence(patience) }
            let isToBeSaid = trouble.isConnected && note != nil
            guard let heard = try next(within: isToBeSaid ? min(rest, .seconds(3)) : rest) else {
                if isToBeSaid, let text = note.take() { Console.log(text) }
                continue
            }
            switch heard {
            case .connected:
                trouble.isConnected = true
                deadline = ContinuousClock.now.advanced(by: patience.answer)
            case .reply(.refused(let refusal)): throw trouble.refused(refusal, of: request)
            case .reply(let reply): return reply
            case .unreadable(let error): throw trouble.unreadable(error)
            case .unfinished(let reason): trouble.unfinished = reason
            case .keptOut(let refusal): throw trouble.keptOut(refusal)
            case .interrupted:
                throw CommandFailure(.canBeRepeated, "asked to end before there was an answer")
            case .lost:
                guard request.isRepeatable else { throw trouble.lost() }
                trouble.isConnected = false
                try open(sending: request)
                deadline = ContinuousClock.now.advanced(by: patience.connecting)
            }
        }
    }

    private static func frame(of request: ClientRequest) throws(CommandFailure) -> [UInt8] {
        do throws(ProtocolError) {
            return try MessageCodec().encode(request)
        } catch {
            switch error {
            case .tooLong, .tooMany:
                throw .usage(
                    "\(error): name folders or patterns instead of single stores, or submit them "
                        + "in several runs")
            default: throw .usage("\(error)")
            }
        }
    }
}

extension ClientRequest {
    /// The run that has to be there; nil where none is named.
    var run: String? {
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
