import ManagedObjectModel
package import ModelFiles
import Synchronization

/// The versions of a bundle, each read once.
package final class VersionReader: Sendable {
    package let bundle: BundleVersions
    private let known = Mutex<[String: Result<BundleVersions.Version, ModelError>]>([:])

    init(_ bundle: BundleVersions) { self.bundle = bundle }

    /// Reads a version, or says again why it cannot be read.
    func result(_ name: String) -> Result<BundleVersions.Version, ModelError> {
        if let known = known.withLock({ $0[name] }) { return known }
        let result = Result { () throws(ModelError) in try bundle.read(name) }
        known.withLock { $0[name] = result }
        return result
    }

    /// The version; nil for one that cannot be read, which has no stores.
    func version(_ name: String) -> BundleVersions.Version? {
        guard case .success(let version) = result(name) else { return nil }
        return version
    }
}
