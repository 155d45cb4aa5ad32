/// Room that a store of a run has laid claim to on one file system.
package struct Reservation: Hashable, Sendable, Codable {
    package let run: String
    package let store: Int
    /// The file system, as `FileSystemSpace.device` names it.
    package let device: UInt64
    package let bytes: Int64
    package let inodes: Int64

    package init(run: String, store: Int, device: UInt64, bytes: Int64, inodes: Int64) {
        self.run = run
        self.store = store
        self.device = device
        self.bytes = bytes
        self.inodes = inodes
    }
}
