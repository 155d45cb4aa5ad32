/// Files that a lock holds open, and through whose descriptors others open them.
///
/// While a lease is held on a file, open(2) on it waits or fails, for this process as well.
package protocol HeldDescriptors: Sendable {
    /// The held file that a path leads to, opened through the descriptor that holds it; nil where
    /// the path leads to another file.
    ///
    /// - Throws: `DurableFileError` where the path cannot be followed or no descriptor is free.
    func open(
        _ path: FilePath, writable: Bool, _ faults: FaultPoints
    ) throws(DurableFileError) -> OpenFile?

    /// A held file, opened through the descriptor that holds it; nil for another file.
    ///
    /// - Throws: `DurableFileError` where no descriptor is free.
    func open(
        _ identity: FileIdentity, _ path: FilePath, writable: Bool, _ faults: FaultPoints
    ) throws(DurableFileError) -> OpenFile?
}
