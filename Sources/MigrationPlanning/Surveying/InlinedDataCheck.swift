package import CoreDataStore
import DurableFiles
package import MigrationPlans
import SafeSQLite

/// Looks whether every value that a plan brings back into its row can be read: attributes that
/// stop to allow external storage.
package enum InlinedDataCheck {
    /// Checks the files behind such values.
    ///
    /// - Throws: `EngineError.dataRefused` with the number of files that are not there.
    package static func check(_ plan: MigrationPlan, store: SourceStore) throws(EngineError) {
        var columns: Set<String> = []
        for feed in plan.feeds {
            for column in feed.columns {
                for cell in column.cells {
                    guard case .removingPrefix(let name) = cell.cell else { continue }
                    columns.insert("\(feed.sourceTable).\(name)")
                }
            }
        }
        guard !columns.isEmpty else { return }
        let missing = try EngineError.translating {
            var missing = 0
            let connection = try store.connect()
            try ExternalDataSurvey.references(
                in: store.layout, connection, only: columns
            ) { name in
                let file = store.externalData.appending(name)
                if try FileStatus.ifPresent(file)?.isRegularFile != true { missing += 1 }
            }
            try connection.close()
            return missing
        }
        guard missing == 0 else {
            throw .dataRefused(
                "\(store.path): \(columns.sorted().joined(separator: ", ")) no longer allow "
                    + "external storage, and \(missing) of the external files "
                    + "\(missing == 1 ? "is" : "are") missing, so their data cannot be stored "
                    + "inline. Restore the support folder, or keep \"allows external storage\". "
                    + "Nothing was written")
        }
    }
}
