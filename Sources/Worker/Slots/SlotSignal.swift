import Glibc

/// Numbers of Linux that slots need.
enum SlotSignal {
    static let kill: Int32 = SIGKILL
    static let again = Int64(EAGAIN)
    static let noProcess = ESRCH
    static let brokenPipe = Int64(EPIPE)

    /// A signal's name and what it mostly means, for people.
    static func words(_ number: Int32) -> String {
        switch number {
        case SIGSEGV: "SIGSEGV, an invalid memory access or a stack overflow"
        case SIGBUS: "SIGBUS, a truncated file or a disk error"
        case SIGILL: "SIGILL, a failed check in the program"
        case SIGTRAP: "SIGTRAP, a failed check in the program"
        case SIGABRT: "SIGABRT, aborted by a library"
        case SIGFPE: "SIGFPE, an arithmetic error"
        case SIGKILL: "SIGKILL, from outside: a user, or the kernel (out of memory)"
        case SIGTERM: "SIGTERM, from outside"
        case SIGSYS: "SIGSYS, a system call that a sandbox forbids"
        default: "signal \(number)"
        }
    }
}
