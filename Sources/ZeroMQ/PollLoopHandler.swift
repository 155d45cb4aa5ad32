/// What lives on the thread of a `PollLoop`: the owner of the sockets and of the state that
/// messages change.
///
/// Everything is called on that thread, one after the other. What is thrown ends the loop, and
/// `PollLoop.join()` throws it again. A turn calls, as there is cause: closures submitted, then
/// `becameReadable` for each descriptor, then `refused`, `observed`, `received` and
/// `becameWritable` for each socket, then `wake`, and at last `endOfTurn`.
package protocol PollLoopHandler: AnyObject, SendableMetatype {
    /// Takes messages of one socket: at least one, at most `PollLoop.messagesOfATurn`, in the
    /// order of each peer's sending.
    func received(_ messages: [Message], on socket: Socket) throws

    /// A socket for which `PollSockets.awaitRoom(on:)` was called can send again.
    func becameWritable(_ socket: Socket) throws

    /// A descriptor that was given to `PollSockets.watch(_:)` can be read, or has failed.
    func becameReadable(_ descriptor: Int32) throws

    /// Something happened to the connections of a socket that was opened with a monitor.
    func observed(_ event: MonitorEvent, of socket: Socket) throws

    /// A connection was not let in.
    func refused(_ refusal: AccessRefusal) throws

    /// When `wake` is to be called, in milliseconds of the loop's clock; nil for not at all.
    /// Asked before each wait.
    var nextWake: Int64? { get }

    /// The time of `nextWake` has come.
    func wake(at now: Int64) throws

    /// Something happened in this turn and all of it was told: the place to make records durable
    /// with one commit, and to send what had to wait for that.
    func endOfTurn(at now: Int64) throws

    /// The loop ends in order; what is sent now still leaves.
    func willEnd() throws
}

extension PollLoopHandler {
    /// Does nothing.
    package func becameReadable(_ descriptor: Int32) throws {}
    /// Does nothing.
    package func becameWritable(_ socket: Socket) throws {}
    /// Does nothing.
    package func observed(_ event: MonitorEvent, of socket: Socket) throws {}
    /// Does nothing.
    package func refused(_ refusal: AccessRefusal) throws {}
    /// Never.
    package var nextWake: Int64? { nil }
    /// Does nothing.
    package func wake(at now: Int64) throws {}
    /// Does nothing.
    package func endOfTurn(at now: Int64) throws {}
    /// Does nothing.
    package func willEnd() throws {}
}
