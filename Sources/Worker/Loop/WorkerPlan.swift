package import DurableFiles
package import WorkerRules
package import ZeroMQ

/// What a worker is made of.
package struct WorkerPlan: Sendable {
    /// Where the coordinator listens: `tcp://HOST:PORT` or `ipc://PATH`.
    package var endpoint: String
    /// How it shows who it is; `none` for an endpoint in the clear.
    package var security: SocketOptions.Security
    /// What its state machine goes by; scratch and roots are filled in from the rest.
    package var settings: WorkerSettings
    package var slots: SlotPlan
    /// The folder that slots put temporary files into, whose free bytes are told as scratch; nil
    /// where none is told.
    package var scratch: FilePath?
    /// Bytes that the temporary files of all slots may take there.
    ///
    /// Where they take more, the job that takes most is ended. What is left is told as scratch.
    package var scratchLimit = Int64.max
    /// How often that is looked at.
    package var scratchLookMilliseconds: Int64 = 1000
    /// The process with which the worker ends, by the id of that process; nil where it outlives the
    /// process that started it.
    package var parent: Int64?

    /// - Parameters:
    ///   - endpoint: the coordinator's.
    ///   - security: of the connection.
    ///   - settings: the machine's; its number of slots is that of `slots`.
    ///   - slots: the processes and the folders that they and their attempts use.
    package init(
        endpoint: String, security: SocketOptions.Security, settings: WorkerSettings,
        slots: SlotPlan
    ) {
        self.endpoint = endpoint
        self.security = security
        self.settings = settings
        self.slots = slots
    }
}

/// What a worker takes from the world around it.
package struct WorkerDependencies: Sendable {
    /// Milliseconds that never go back.
    package let clock: @Sendable () -> Int64
    /// A fresh random routing id for each connection.
    package let routingID: @Sendable () -> String
    /// Takes what operators should know, on the worker's thread.
    package let note: @Sendable (WorkerNote) -> Void
    /// Is called when the worker has ended, whatever ended it.
    package let ended: (@Sendable () -> Void)?

    package init(
        clock: @escaping @Sendable () -> Int64, routingID: @escaping @Sendable () -> String,
        note: @escaping @Sendable (WorkerNote) -> Void, ended: (@Sendable () -> Void)? = nil
    ) {
        self.clock = clock
        self.routingID = routingID
        self.note = note
        self.ended = ended
    }
}
