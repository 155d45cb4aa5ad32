/// Bounds of what a message may hold, the same for sending and receiving.
package enum MessageLimits {
    /// The longest control message, header included (`MAXMSGSIZE` of the control sockets).
    package static let frameBytes = 1 << 20
    /// The longest name of a worker, policy, engine, count and the like, in bytes.
    package static let nameBytes = 1024
    /// The longest id of a run or an attempt, in bytes; such ids become names of folders.
    package static let identifierBytes = 128
    /// The longest name of a root, in bytes.
    package static let rootBytes = 64
    /// The longest path below a root as text, in bytes.
    package static let pathBytes = 4096
    /// The longest text for people, in bytes; longer ones are cut when they are sent.
    package static let textBytes = 8192
    /// The longest request of a run, in bytes of JSON: what a frame has room for, less the paths.
    package static let requestBytes = 1_000_000

    /// Jobs in one batch.
    package static let jobs = 256
    /// Attempts in a list: held, running, to keep, to drop.
    package static let attempts = 1024
    package static let policies = 1024
    package static let roots = 64
    /// Slots of a worker.
    package static let slots = 1024
    /// Files of one receipt.
    package static let files = 4096
    /// Sums, and counts, of one receipt.
    package static let sums = 16_384
    /// Paths of a submitted request.
    package static let paths = 16_384
    /// Runs in a report.
    package static let runs = 1024
    /// Workers in a report.
    package static let workers = 4096
    /// States in the counts of a run.
    package static let states = 64

    /// The greatest number of a store or a chunk.
    package static let index = Int(Int32.max)
    /// The greatest count of rows or bytes: 2⁶⁰, which sums of many do not bring to overflow.
    package static let amount: Int64 = 1 << 60
    /// The greatest epoch.
    package static let epoch = 1 << 53
    /// The longest lease or heartbeat: a day, in milliseconds.
    package static let milliseconds = 86_400_000
    /// Heartbeats that may be missed.
    package static let beats = 1000
    /// The largest page cache of a job: 4 GiB, in KiB.
    package static let cacheKibibytes = 4 << 20
}
