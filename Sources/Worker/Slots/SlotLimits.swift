package import DurableFiles

/// The executable of a slot.
package struct SlotProgram: Hashable, Sendable {
    package let path: FilePath
    /// What follows the program's name.
    package let arguments: [String]

    package init(path: FilePath, arguments: [String]) {
        self.path = path
        self.arguments = arguments
    }

    /// This process's own executable, asked to be a slot.
    ///
    /// The link of proc(5) leads to the file that was started, even where another build has taken
    /// its name since: a worker and its slots are of one version.
    package static let own = SlotProgram(path: "/proc/self/exe", arguments: ["slot"])
}

/// What a slot may use before it is killed.
package struct SlotLimits: Hashable, Sendable {
    /// Bytes of address space; nil for no limit.
    package var addressSpaceBytes: UInt64?
    /// The longest silence of a running job: no row written, no byte read or written.
    package var silenceMilliseconds: Int64
    /// The longest time of one job, however busy it is; nil for any.
    package var jobMilliseconds: Int64?
    /// The longest time until a process that was started waits for its first job.
    package var startMilliseconds: Int64

    package init(
        addressSpaceBytes: UInt64?, silenceMilliseconds: Int64, jobMilliseconds: Int64? = nil,
        startMilliseconds: Int64 = 30_000
    ) {
        self.addressSpaceBytes = addressSpaceBytes
        self.silenceMilliseconds = silenceMilliseconds
        self.jobMilliseconds = jobMilliseconds
        self.startMilliseconds = startMilliseconds
    }

    /// The least address space with room for jobs.
    ///
    /// The program and its libraries reserve 200 to 330 MiB before a job comes, and a whole store
    /// of 200 MB had 540 MiB at its peak where nothing bounded it; what is refused then costs
    /// the attempt.
    package static let leastAddressSpaceBytes: Int64 = 512 << 20

    /// 4 GiB, of which the program and its libraries reserve about 300 MiB; two minutes, for a
    /// sync on a busy disk may take many seconds.
    package static let standard = SlotLimits(
        addressSpaceBytes: 4 << 30, silenceMilliseconds: 120_000)
}

/// What the slots of a worker are made of.
package struct SlotPlan: Sendable {
    /// What a slot is.
    package enum Body: Sendable {
        /// A process of its own, of this executable.
        case process(SlotProgram)
        /// A thread of this process.
        case thread(SlotWork)
    }

    package var count: Int
    package var body: Body
    package var limits: SlotLimits
    /// What every slot is told when it starts.
    package var setup: SlotSetup
    /// Whether the first slot starts with the worker, and not with its first job: where a job is
    /// sure to come, the process gets ready meanwhile.
    package var startsFirst = false

    package init(count: Int, body: Body, limits: SlotLimits, setup: SlotSetup) {
        self.count = count
        self.body = body
        self.limits = limits
        self.setup = setup
    }

    package init(count: Int, program: SlotProgram, limits: SlotLimits, setup: SlotSetup) {
        self.init(count: count, body: .process(program), limits: limits, setup: setup)
    }

    /// Makes the slots; none of them has begun anything.
    ///
    /// - Throws: `SlotError.system` where no descriptor or thread is to be had.
    package func slots() throws(SlotError) -> any Slots {
        switch body {
        case .process(let program): try ProcessSlots(self, program: program)
        case .thread(let work):
            try ThreadSlots(
                count: count, work: work, limits: limits,
                reportMilliseconds: setup.reportMilliseconds)
        }
    }
}

/// The exit codes by which a slot's process tells its parent why it ended.
enum SlotExitCode {
    /// The parent has closed the socket, or asked for the end.
    static let ended: Int32 = 0
    /// An order could not be understood.
    static let nonsense: Int32 = 65
    /// A crash that came of a refused allocation.
    static let outOfMemory: Int32 = 113
    /// The process has no threads or no socket to work with.
    static let unable: Int32 = 71
}
