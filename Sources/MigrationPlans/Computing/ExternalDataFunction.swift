import CoreDataStore
package import DurableFiles
import Foundation
import GRDB
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
    package static func register(_ connection: Connection, folder: FilePath?) {
        let function = DatabaseFunction(name.description, argumentCount: 1, pure: true) { values in
            guard let data = Data.fromDatabaseValue(values[0]) else { return nil }
            let reference = data.withUnsafeBytes { ExternalReference($0) }
            // What only looks like a reference is a value of its own.
            guard case .file(let file) = reference else { return data }
            guard let folder else {
                throw DatabaseError(message: "a reference to external data cannot be read")
            }
            return Data(
                try DurableFileSystem().contents(of: folder.appending(file), limit: limit))
        }
        connection.queue.inDatabase { $0.add(function: function) }
    }
}
