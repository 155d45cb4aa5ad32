import CoreDataStore
import Foundation
import SafeSQLite
import TestSupport
import Testing

@testable import MigrationValidation

@Suite struct FixtureValidationTests {
    /// Whether a file begins as a database does.
    private static func isDatabase(_ url: URL) -> Bool {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder),
            !isFolder.boolValue, let file = FileHandle(forReadingAtPath: url.path)
        else { return false }
        return file.readData(ofLength: 15) == Data("SQLite format 3".utf8)
    }

    /// Every store of the fixtures against a byte copy of itself.
    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func everyStoreEqualsItsCopy() throws {
        var stores = 0
        var rows: Int64 = 0
        var values: Int64 = 0
        var links: Int64 = 0
        var joins: Int64 = 0
        for url in try Fixtures.files(where: Self.isDatabase) {
            try withTemporaryFolder { folder in
                let store: SourceStore
                do {
                    store = try StoreCopies.open(url, in: folder)
                } catch let error as StoreError {
                    // Stores without a model and databases that are no stores.
                    switch error {
                    case .modelMissing, .notAStore, .layoutDiffers, .unsupported: return
                    default: throw error
                    }
                }
                let report = try StoreCopies(of: store, in: folder).validator.run()
                #expect(report.isEqual, "\(url.lastPathComponent): \(report.lines)")
                #expect(report.rows == report.sourceRows)
                stores += 1
                rows += report.rows
                values += report.values
                links += report.links
                joins += report.joinRows
                if ProcessInfo.processInfo.environment["GODWIT_SHOW"] != nil {
                    FileHandle.standardError.write(
                        Data(
                            "\(url.lastPathComponent)\n\(report.lines.joined(separator: "\n"))\n\n"
                                .utf8))
                }
            }
        }
        #expect(stores > 50)
        #expect(rows > 10_000 && values > 100_000 && links > 1000 && joins > 1000)
        if ProcessInfo.processInfo.environment["GODWIT_SHOW"] != nil {
            FileHandle.standardError.write(
                Data("TOTAL \(stores) \(rows) \(values) \(links) \(joins)\n".utf8))
        }
    }
}
