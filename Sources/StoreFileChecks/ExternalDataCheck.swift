package import CoreDataStore
import DurableFiles
package import SafeSQLite

/// Holds the files of external data that a destination refers to against the source's.
package struct ExternalDataCheck {
    private let files: ValidationFiles
    private let allowsMissing: Bool

    /// - Parameters:
    ///   - files: of both sides.
    ///   - allowsMissing: whether a file that the source has not may be missing.
    package init(files: ValidationFiles, allowsMissing: Bool) {
        self.files = files
        self.allowsMissing = allowsMissing
    }

    /// Checks the references of a table's rows.
    ///
    /// - Parameters:
    ///   - table: of the destination.
    ///   - keys: of the rows.
    ///   - connection: to the destination.
    /// - Returns: references to files that are missing or differ.
    /// - Throws: `StoreError` where a file cannot be read.
    package func run(
        _ table: TableLayout, keys: KeyRange, connection: Connection
    ) throws(StoreError) -> [Fault: FaultCount] {
        var faults: [Fault: FaultCount] = [:]
        // Many objects may refer to one file.
        var equalNames: Set<String> = []
        for column in table.columns where column.isExternal {
            var list = SelectList(["Z_PK"])
            let place = list.place(of: column.name)
            let statement = try connection.prepare(
                list.sql(table: table.name, key: "Z_PK", range: keys))
            let label = column.role.key.description
            while try statement.step() {
                guard statement.storageClass(place) == 4,
                    case .file(let name) = ExternalReference(statement.bytes(place))
                else { continue }
                if equalNames.contains(name) { continue }
                if try compare(name, label: label, faults: &faults) { equalNames.insert(name) }
            }
        }
        return faults
    }

    /// - Returns: whether both files are there and equal.
    private func compare(
        _ name: String, label: String, faults: inout [Fault: FaultCount]
    ) throws(StoreError) -> Bool {
        let source = files.sourceExternalData.appending(name)
        let destination = files.destinationExternalData.appending(name)
        do {
            let before = try FileStatus.ifPresent(source)
            let after = try FileStatus.ifPresentLink(destination)
            guard let after else {
                // What is no file counts as missing, as it does where the source is read.
                let isInherited = before?.isRegularFile != true && allowsMissing
                faults.add(
                    Fault(label, .missingFile), source: isInherited ? 1 : 0, destination: 1)
                return false
            }
            guard let before else { return false }
            guard after.isRegularFile else {
                // A link leads to what others may change, and a result holds its own data.
                faults.add(Fault(label, .changedFile), destination: 1)
                return false
            }
            if before.identity.isFile(after.identity) { return true }
            let isEqual = try before.size == after.size && equal(source, destination)
            if !isEqual { faults.add(Fault(label, .changedFile), destination: 1) }
            return isEqual
        } catch {
            throw .inputOutput(path: destination.description, reason: "\(error)")
        }
    }

    private func equal(_ left: FilePath, _ right: FilePath) throws -> Bool {
        let system = DurableFileSystem()
        let first = try system.openForReading(left)
        return try first.hasSameContents(as: system.openForReading(right))
    }
}
