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

/// Where tests let durable actions fail: every one is announced before and after.
///
/// There is no global switch. The value is handed to `DurableFileSystem`, and the default does
/// nothing. The hook is called on the thread that acts; it may also end the process.
package struct FaultPoints: Sendable {
    /// The error number that the action shall fail with, or nil to go on.
    package typealias Hook = @Sendable (FaultPoint) -> Int32?

    private let hook: Hook?

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
        try announce(.before, operation, path)
        let result = try action()
        try announce(.after, operation, path)
        return result
    }

    private func announce(
        _ moment: FaultPoint.Moment, _ operation: FileOperation, _ path: FilePath
    ) throws(DurableFileError) {
        guard let hook else { return }
        let point = FaultPoint(moment: moment, operation: operation, path: path)
        if let number = hook(point) { throw .system(operation, path, number: number) }
    }
}
