internal import CLinux
import ClusterProtocol

internal import Glibc

/// Why a slot's process could not be started or spoken to.
package enum SlotError: Error, Hashable, Sendable {
    /// A system call failed; the number is its errno.
    case system(action: String, number: Int32)
    /// The other side said what cannot be understood.
    case nonsense(String)
    /// The slot does not wait for a job.
    case notFree(slot: Int)
    /// The other side has closed its end.
    case closed
}

extension SlotError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .system(let action, let number):
            "\(action) failed: \(Self.name(of: number)); \(Self.remedy(number))"
        case .nonsense(let text): "cannot read the data from the socket: \(text)"
        case .notFree(let slot): "slot \(slot) is not waiting for a job"
        case .closed: "the other end of the socket is closed"
        }
    }

    /// The result of a call of the C shim.
    ///
    /// - Throws: `SlotError.system` for a negated errno.
    @discardableResult
    static func check<Number: BinaryInteger>(
        _ result: Number, _ action: String
    ) throws(SlotError) -> Number {
        guard result >= 0 else {
            throw .system(action: action, number: Int32(clamping: 0 - Int64(result)))
        }
        return result
    }

    /// What a call of the codec returns, its error as one of this module.
    ///
    /// - Throws: `SlotError.nonsense` for what the protocol does not allow.
    static func coding<Value>(
        _ body: () throws(ProtocolError) -> Value
    ) throws(SlotError) -> Value {
        do throws(ProtocolError) { return try body() } catch { throw .nonsense("\(error)") }
    }

    private static func remedy(_ number: Int32) -> String {
        switch number {
        case EACCES, EPERM: "give this user permission for it"
        case ENOENT, ENOTDIR: "check that it exists"
        case ENOEXEC: "check that it is an executable for this architecture"
        default: "raise the limits of processes, descriptors and memory, or use fewer slots"
        }
    }

    private static func name(of number: Int32) -> String {
        clinux_error_name(number).map { String(cString: $0) } ?? "errno \(number)"
    }
}
