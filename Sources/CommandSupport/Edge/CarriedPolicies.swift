package import MigrationEngine
import Synchronization

/// The migration policies that the executable carries: known before the first command runs.
package enum CarriedPolicies {
    private static let carried = Mutex(PolicyLibrary())

    /// The policies of the process; none in `godwit` itself.
    package static var all: PolicyLibrary { carried.withLock { $0 } }

    /// Makes policies known; to be called once, before any command.
    package static func carry(_ library: PolicyLibrary) { carried.withLock { $0 = library } }
}
