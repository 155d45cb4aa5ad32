package import DurableFiles
package import ManagedObjectModel
package import SafeSQLite

/// Why a store could not be forged.
///
/// What was written until then is left for the caller to remove.
package enum ForgeError: Error, Hashable, Sendable {
    /// The recipe cannot be followed; the text says which number is wrong.
    case recipe(String)
    /// There is something in the place of the store.
    case exists(path: String)
    case store(StoreError)
    case model(ModelError)
    case file(DurableFileError)
    /// The log that SQLite wrote is not as its format says.
    case log(path: String)
}

extension ForgeError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .recipe(let reason): "the recipe cannot be followed: \(reason). Correct it"
        case .exists(let path): "\(path) already exists: remove it or choose another name"
        case .store(let error): "the store could not be forged: \(error)"
        case .model(let error): "the store could not be forged: \(error)"
        case .file(let error): "the store could not be forged: \(error)"
        case .log(let path): "the -wal file of \(path) is not as expected: remove both files"
        }
    }
}
