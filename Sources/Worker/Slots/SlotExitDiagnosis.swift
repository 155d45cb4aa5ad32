import Jobs
import Threads

/// What the end of a slot's process says of the attempt that was with it.
///
/// Told apart are: what the pool itself killed; a crash after a refused allocation, which the
/// process tells by its exit code; any other signal. SIGKILL from outside may be a person's or the
/// kernel's, which kills where the machine has no memory left: the two look alike.
enum SlotExitDiagnosis {
    static func failure(
        _ exit: ProcessExit, cause: SlotStopCause?, _ limits: SlotLimits
    ) -> (code: FailureCause, text: String) {
        switch cause {
        case .cancelled: return (.stopped, "the attempt was stopped on request")
        case .silent(let text):
            return (.timedOut, "the slot was killed: \(text)")
        // Another worker may have more of it; a job that no worker can do is given up.
        case .excess(let text): return (.inputOutput, "the slot was killed: \(text)")
        case .nonsense(let text):
            return (.crashed, "the slot was killed: \(text)")
        case .closed, nil: break
        }
        switch exit {
        case .code(SlotExitCode.outOfMemory):
            let limit = limits.addressSpaceBytes.map { " of \($0 >> 20) MiB" } ?? ""
            return (
                .outOfMemory, "the slot reached its limit\(limit) of address space and ended"
            )
        case .code(let code):
            return (.crashed, "the slot's process exited with code \(code)")
        case .signal(let number):
            return (
                .crashed,
                "the slot's process was killed by \(SlotSignal.words(number))\(bound(limits))"
            )
        }
    }

    /// What a crash may come of where no refused allocation was seen; a stack, too, grows in the
    /// address space.
    private static func bound(_ limits: SlotLimits) -> String {
        limits.addressSpaceBytes.map {
            "; the memory limit of slots is \($0 >> 20) MiB of address space"
        } ?? ""
    }
}
