internal import CLinux
internal import CZeroMQ

/// Why something about sockets failed.
package enum ZeroMQError: Error, Hashable, Sendable {
    /// What was being done when libzmq refused.
    package enum Action: String, Sendable {
        case makeContext = "create a context"
        case makeSocket = "create a socket"
        case setOption = "set an option of a socket"
        case readOption = "read an option of a socket"
        case bind = "listen on"
        case connect = "connect to"
        case unbind = "stop listening on"
        case disconnect = "disconnect from"
        case send = "send a message"
        case receive = "receive a message"
        case watch = "watch the events of a socket"
        case poll = "wait for messages"
        case makeWakeUp = "create an event descriptor"
        case makeKeys = "generate a key pair"
    }

    /// libzmq or the system refused; the number is its errno.
    case refused(Action, subject: String?, number: Int32)
    /// The process may open fewer descriptors than it needs.
    case tooFewDescriptors(limit: UInt64, needed: UInt64)
    /// A key is not 40 characters of Z85 (ZeroMQ RFC 32).
    case invalidKey
    /// A routing id has 1 to 255 bytes, and the first is not zero.
    case invalidRoutingID
    /// A socket is to ask who may come in, and no access policy would answer.
    case noAccessPolicy

    /// The errno, if one is the cause.
    package var number: Int32? {
        if case .refused(_, _, let number) = self { return number }
        return nil
    }

    static func last(_ action: Action, _ subject: String? = nil) -> ZeroMQError {
        .refused(action, subject: subject, number: czeromq_errno())
    }

    /// Turns a negated errno into an error.
    static func check(
        _ result: Int32, _ action: Action, _ subject: @autoclosure () -> String? = nil
    ) throws(ZeroMQError) {
        if result < 0 { throw .refused(action, subject: subject(), number: -result) }
    }
}

extension ZeroMQError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .refused(let action, let subject, let number):
            let what = subject.map { "\(action.rawValue) \($0)" } ?? action.rawValue
            let text = zmq_strerror(number).map { String(cString: $0) } ?? "errno \(number)"
            return "cannot \(what): \(text)\(Self.remedy(number, action))"
        case .tooFewDescriptors(let limit, let needed):
            return "this process may open \(limit) files, but it needs \(needed); raise the "
                + "limit of open files (ulimit -n), or use fewer slots"
        case .invalidKey:
            return "a key is not 40 characters of Z85; make keys with `godwit keys new`"
        case .noAccessPolicy:
            return "a server needs an access policy before its sockets are made"
        case .invalidRoutingID:
            return "a routing id has 1 to 255 bytes, and the first is not zero"
        }
    }

    private static func remedy(_ number: Int32, _ action: Action) -> String {
        switch String(cString: clinux_error_name(number) ?? zmq_strerror(number)) {
        case "EADDRINUSE": return "; another process listens there: stop it or choose another port"
        case "EADDRNOTAVAIL", "ENODEV": return "; this machine has no such address"
        case "EEXIST": return "; a file exists there and is not a socket: choose another path"
        case "EAGAIN" where action == .bind:
            return "; another program has locked the endpoint's folder: use a folder of its own"
        case "EACCES": return "; choose a port above 1023, or a folder that you can write to"
        case "EMFILE", "ENFILE": return "; raise the limit of open files (ulimit -n)"
        case "EINVAL", "EPROTONOSUPPORT":
            return "; endpoints look like tcp://HOST:PORT or ipc://PATH"
        case "ENOENT", "ENOTDIR":
            return action == .bind ? "; the folder of an ipc endpoint must exist" : ""
        case "ENAMETOOLONG": return "; the path of an ipc endpoint has at most 107 bytes"
        default: return ""
        }
    }
}
