import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MappingExpressions
import MappingModel
import MigrationPlans
import SafeSQLite
import StoreForge
import TestSupport
import Testing

@testable import MigrationPlanning

/// Filters are counted before a store is cut into chunks: nothing bounds what is read by a chunk.
@Suite struct SplitSurveyTests {
    @Test("counting objects with a value does not read the values")
    func largeValuesStayUnread() throws {
        try withTemporaryFolder { folder in
            let photo = Attribute(name: "photo", type: .binary, isOptional: true)
            let model = try Model(entities: [Entity(name: "Item", attributes: [photo])])
            var recipe = ForgeRecipe(model: model)
            recipe.rows = ["Item": 40]
            recipe.nullShare = 0
            recipe.contents = [
                PropertyKey("Item", "photo"): { number in
                    number < 30 ? [UInt8](repeating: 1, count: 256 << 10) : nil
                }
            ]
            let path = FilePath(folder.path).appending("items.sqlite")
            let bytes = try Forge(recipe).write(to: path).bytes
            let connection = try Connection(path: path, mode: .immutable)
            defer { do { try connection.close() } catch { Issue.record(error) } }
            let mapped = EntityMapping(
                name: "Images", kind: .transform, source: "Item", destination: "Image",
                filter: try ExpressionParser.predicate("photo != nil"))
            let survey = SplitSurvey(
                layout: try StoreLayout(model: model, framework: .newestVerified),
                mapping: Mapping(entityMappings: [mapped]), connection: connection, now: 0)
            let before = try bytesRead()
            let splits = try survey.splits(ValueFailures())
            let read = try bytesRead() - before
            #expect(splits.flatMap { $0.rows.values.sorted() } == [10, 30])
            #expect(read < bytes / 4, "\(read) bytes read of \(bytes)")
        }
    }

    /// What this thread has read by system calls, from caches as well.
    private func bytesRead() throws -> Int64 {
        let text = try String(contentsOfFile: "/proc/thread-self/io", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("rchar: ") })
        return try #require(Int64(line.dropFirst("rchar: ".count)))
    }
}
