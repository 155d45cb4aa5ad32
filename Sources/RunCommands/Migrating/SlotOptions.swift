import ArgumentParser
import CommandSupport
import DurableFiles
import LocalCluster
import RunReports
import Worker

/// What the slots of a command are: its worker processes, or threads.
struct SlotOptions: ParsableArguments {
    @Flag(
        help: """
            Run jobs on threads of this process instead of in worker processes: for debuggers, \
            sanitizers and environments that cannot start processes. A store that crashes \
            SQLite then ends the command.
            """)
    var inProcess = false

    @Option(
        help: """
            The executable to run as worker processes, such as one with your migration \
            policies. Default: godwit.
            """)
    var workerCommand: String?

    @Option(
        help: """
            Maximum address space of each worker process, such as 2GiB. Default: 4GiB.
            """)
    var workerMemory: ByteSize?

    @Option(
        help: """
            Kill a worker process after this many seconds without progress and retry its job. \
            Default: 120.
            """)
    var workerTimeout: Int?

    func validate() throws {
        if inProcess, workerCommand != nil || workerMemory != nil {
            throw ValidationError(
                "--in-process starts no worker processes: leave out --worker-command and "
                    + "--worker-memory")
        }
        if let workerMemory, workerMemory.bytes < SlotLimits.leastAddressSpaceBytes {
            let least = ByteSize(bytes: SlotLimits.leastAddressSpaceBytes).words
            throw ValidationError("--worker-memory must be at least \(least)")
        }
        if let workerTimeout, !(1...86_400).contains(workerTimeout) {
            throw ValidationError("--worker-timeout takes seconds from 1 to 86400")
        }
    }

    /// The slots.
    ///
    /// - Parameter count: jobs at a time.
    /// - Returns: what the options ask for.
    func slots(count: Int) -> LocalSlots {
        let kind: LocalSlots.Kind =
            if inProcess {
                .threads
            } else if let workerCommand {
                .command(FilePath(workerCommand))
            } else {
                .processes
            }
        var slots = LocalSlots(kind, count: count)
        slots.policies = CarriedPolicies.all
        if let workerMemory { slots.limits.addressSpaceBytes = UInt64(workerMemory.bytes) }
        if let workerTimeout { slots.limits.silenceMilliseconds = Int64(workerTimeout) * 1000 }
        return slots
    }
}
