internal import Glibc

/// A place where a durable action may fail or the process may die.
package struct FaultPoint: Hashable, Sendable {
    /// Which side of the action the point lies on.
    package enum Moment: Hashable, Sendable {
        /// Nothing has been done yet.
        case before
        /// The action has been done; its caller has not heard of it.
        case after
    }

    package let moment: Moment
    package let operation: FileOperation
    package let path: FilePath
}

/// What shall go wrong at a fault point.
package enum InjectedFault: Hashable, Sendable {
    /// The call fails with this error number. EINTR is absorbed as the system's own is: the call
    /// is repeated, and announced again.
    case error(Int32)
    /// Before a call that moves bytes: only so many of them, at least one, reach the file.
    /// Anywhere else it does nothing.
    case shortWrite(Int)
}

/// Where tests let durable actions fail: every system call that changes something is announced
/// before and after.
///
/// There is no global switch. The value is handed to `DurableFileSystem`, and the default does
/// nothing. The hook is called on the thread that acts; it may also end the process.
package struct FaultPoints: Sendable {
    /// What shall go wrong, or nil to go on.
    package typealias Hook = @Sendable (FaultPoint) -> InjectedFault?

    private let hook: Hook?

    /// How often in a row a call may be interrupted before it fails with EINTR.
    package static let interruptionLimit = 100

    /// Announces every durable action to the hook.
    package init(_ hook: @escaping Hook) { self.hook = hook }

    private init() { hook = nil }

    /// No faults.
    package static let none = FaultPoints()

    /// Runs one durable action between its two announcements.
    ///
    /// - Throws: what the action throws, or `DurableFileError.system` with the hook's number.
    package func perform<Result: ~Copyable>(
        _ operation: FileOperation, on path: FilePath,
        _ action: () throws(DurableFileError) -> Result
    ) throws(DurableFileError) -> Result {
        _ = try announce(.before, operation, path)
        let result = try action()
        _ = try announce(.after, operation, path)
        return result
    }

    /// Runs one call that moves bytes, of which the hook may let fewer through.
    ///
    /// - Parameters:
    ///   - operation: what the call does.
    ///   - path: of the file that the bytes go to.
    ///   - count: the bytes that are to be moved, at least one.
    ///   - action: moves at most as many bytes as it is given, and says how many it moved.
    /// - Returns: what the action returns; the caller goes on with the rest.
    /// - Throws: what the action throws, or `DurableFileError.system` with the hook's number.
    func transfer(
        _ operation: FileOperation, on path: FilePath, count: Int,
        _ action: (Int) throws(DurableFileError) -> Int
    ) throws(DurableFileError) -> Int {
        let allowed = try announce(.before, operation, path) ?? count
        let moved = try action(max(1, min(allowed, count)))
        _ = try announce(.after, operation, path)
        return moved
    }

    /// The bytes that the hook lets through, nil for all.
    private func announce(
        _ moment: FaultPoint.Moment, _ operation: FileOperation, _ path: FilePath
    ) throws(DurableFileError) -> Int? {
        guard let hook else { return nil }
        let point = FaultPoint(moment: moment, operation: operation, path: path)
        for _ in 0..<FaultPoints.interruptionLimit {
            switch hook(point) {
            case nil: return nil
            case .shortWrite(let bytes): return bytes
            case .error(EINTR): continue
            case .error(let number): throw .system(operation, path, number: number)
            }
        }
        throw .system(operation, path, number: EINTR)
    }
}
