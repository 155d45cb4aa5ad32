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
        case SIGSEGV: "SIGSEGV, a wrong address or an overflow of the stack"
        case SIGBUS: "SIGBUS, a file that became shorter or a disk that failed"
        case SIGILL: "SIGILL, a check of the program that failed"
        case SIGTRAP: "SIGTRAP, a check of the program that failed"
        case SIGABRT: "SIGABRT, aborted by a library"
        case SIGFPE: "SIGFPE, a wrong calculation"
        case SIGKILL: "SIGKILL, from outside: a user, or the kernel (out of memory)"
        case SIGTERM: "SIGTERM, from outside"
        case SIGSYS: "SIGSYS, a system call that a sandbox forbids"
        default: "signal \(number)"
        }
    }
}
