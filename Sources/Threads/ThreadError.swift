internal import CLinux

/// Why a thread could not be started.
package enum ThreadError: Error, Hashable, Sendable {
    /// The system refused the thread; the number is its errno.
    case cannotStart(name: String, number: Int32)

    /// The system's errno.
    package var number: Int32 {
        switch self {
        case .cannotStart(_, let number): number
        }
    }
}

extension ThreadError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotStart(let name, let number):
            let symbol = clinux_error_name(number).map { String(cString: $0) }
            return "cannot start the thread \(name): \(symbol ?? "errno \(number)"); "
                + "raise the limits of threads and memory, or use fewer workers"
        }
    }
}
