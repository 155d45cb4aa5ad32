import Foundation
import ManagedObjectModel
import RunReports

extension VersionHashes {
    /// One entity a line, then digest and checksum; hashes in base64, as the JSON has them.
    var text: String {
        var table = TextTable([("entity", .left), ("version hash", .left)])
        for (name, hash) in entities.sorted(by: { Model.precedes($0.key, $1.key) }) {
            table.add([name, Data(hash).base64EncodedString()])
        }
        return (table.lines + ["", "digest    \(digest)", "checksum  \(checksum)"])
            .joined(separator: "\n")
    }
}
