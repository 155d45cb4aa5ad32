internal import Synchronization
internal import Threads

/// One thread that owns all sockets of a process and the handler that they serve.
///
/// It waits in `zmq_poll` for messages, for other threads' closures, and for the handler's next
/// time; see `PollLoopHandler` for the order of a turn. Nothing on it may block for long, for
/// heartbeats wait meanwhile: long work goes to other threads, which `submit` their outcome.
///
///     let loop = try PollLoop(name: "coordinator", context: context, clock: clock) { sockets in
///         try Coordinator(sockets)
///     }
///     loop.submit { coordinator in try coordinator.taskEnded(outcome) }
///     try loop.join()
package final class PollLoop<Handler: PollLoopHandler>: Sendable {
    /// Something that another thread has the loop do with the handler.
    package typealias Submission = @Sendable (Handler) throws -> Void

    /// Messages that are received from one socket in one turn at most, so that no socket and no
    /// thread waits for long.
    package static var messagesOfATurn: Int { 256 }

    private let inbox: Inbox<Handler>
    private let thread: OwnedThread

    /// Starts the thread and waits until the handler is made.
    ///
    /// - Parameters:
    ///   - name: of the thread.
    ///   - context: that of the process.
    ///   - access: who may come in, asked for every socket with a domain; to be given if this
    ///     process serves any. One loop of a context may have it, before any socket is there.
    ///   - inboxCapacity: closures that wait at most.
    ///   - clock: a monotonic one, in milliseconds.
    ///   - makeHandler: called on the thread; opens the sockets.
    /// - Throws: `ThreadError`, `ZeroMQError`, and what `makeHandler` throws.
    package init(
        name: String, context: Context, access: AccessPolicy? = nil, inboxCapacity: Int = 1024,
        clock: @escaping @Sendable () -> Int64,
        makeHandler: @escaping @Sendable (PollSockets) throws -> Handler
    ) throws {
        let inbox = try Inbox<Handler>(capacity: inboxCapacity)
        let started = BoundedMailbox<Bool>(capacity: 1)
        self.inbox = inbox
        thread = try OwnedThread(name: name) {
            do {
                let sockets = try PollSockets(context: context, access: access, clock: clock)
                defer { sockets.closeAll() }
                var turns = PollTurns(try makeHandler(sockets), sockets, inbox)
                started.send(true)
                try turns.run()
            } catch {
                inbox.failure.withLock { $0 = error }
            }
            inbox.mailbox.close()
            started.close()
        }
        if started.receive() == nil { try join() }
    }

    /// A loop that is let go without `join()`, on the way out of an error, is ended.
    deinit {
        end()
        thread.join()
    }

    /// Has the loop call a closure with the handler, waiting for room; false, and it is dropped,
    /// once the loop has ended.
    ///
    /// What was taken is called unless an error ends the loop. Not to be called on the loop's own
    /// thread, which alone makes room.
    @discardableResult
    package func submit(_ submission: @escaping Submission) -> Bool {
        let isTaken = inbox.mailbox.send(submission)
        inbox.wakeUp.signal()
        return isTaken
    }

    /// As `submit(_:)`, but false at once where there is no room.
    ///
    /// Fit for any thread, the loop's own too.
    package func submitIfRoom(_ submission: @escaping Submission) -> Bool {
        let isTaken = inbox.mailbox.sendIfRoom(submission)
        inbox.wakeUp.signal()
        return isTaken
    }

    /// Asks the loop to end after the turn under way; it returns at once.
    package func end() {
        inbox.isEnding.store(true, ordering: .sequentiallyConsistent)
        inbox.wakeUp.signal()
    }

    /// Waits until the loop has ended, by `end()`, by its handler or by an error.
    ///
    /// Its sockets are closed then; `Context.end()` waits for what they still send.
    ///
    /// - Throws: what ended the loop.
    package func join() throws {
        thread.join()
        if let error = inbox.failure.withLock({ $0 }) { throw error }
    }
}

/// What the loop's thread shares with others.
final class Inbox<Handler: PollLoopHandler>: Sendable {
    let mailbox: BoundedMailbox<PollLoop<Handler>.Submission>
    let wakeUp: WakeUp
    let isEnding = Atomic(false)
    let failure = Mutex<(any Error)?>(nil)

    init(capacity: Int) throws(ZeroMQError) {
        mailbox = BoundedMailbox(capacity: capacity)
        wakeUp = try WakeUp()
    }
}
