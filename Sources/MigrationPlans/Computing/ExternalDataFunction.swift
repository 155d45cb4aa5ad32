import CoreDataStore
package import DurableFiles
package import SafeSQLite

/// An SQL function that reads a file of external data: for attributes that stop to allow
/// external storage.
package enum ExternalDataFunction {
    /// Known to the guard of connections by its first letters (`CSQLite`).
    static let name: StaticString = "godwit_external_data"
    /// The largest value that SQLite takes by default, in bytes.
    static let limit = 1_000_000_000

    /// Makes the function known to a connection.
    ///
    /// The function throws for a reference whose file is not there: the value cannot be made.
    ///
    /// - Throws: `StoreError` with SQLite's reason.
    package static func register(
        _ connection: Connection, folder: FilePath?
    ) throws(StoreError) {
        try SQLFunction.add(
            name.description, to: connection, argumentCount: 1, isPure: true
        ) { values in
            guard values.storageClass(0) == 4 else { return .argument(0) }
            let reference = ExternalReference(values.bytes(0))
            // What only looks like a reference is a value of its own.
            guard case .file(let file) = reference else { return .argument(0) }
            guard let folder else {
                throw DataMissing(description: "a reference to external data cannot be read")
            }
            return .blob(try DurableFileSystem().contents(of: folder.appending(file), limit: limit))
        }
    }

    private struct DataMissing: Error, CustomStringConvertible {
        let description: String
    }
}
