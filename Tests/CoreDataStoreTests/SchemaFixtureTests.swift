import DurableFiles
import Foundation
import ManagedObjectModel
import TestSupport
import Testing

@testable import CoreDataStore

/// The layout that a model implies, against the files that Apple's Core Data wrote.
@Suite struct SchemaFixtureTests {
    /// How much of a kind was derived right.
    private struct Score: CustomStringConvertible {
        var right = 0
        var all = 0

        mutating func count(_ isRight: Bool) {
            all += 1
            if isRight { right += 1 }
        }

        var description: String { "\(right) of \(all)" }
    }

    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func layoutsFromCachedModels() throws {
        var scores: [String: Score] = [:]
        var exceptions: [String] = []
        for url in try FixtureStores.all() {
            try withTemporaryFolder { folder in
                let scratch = try #require(FilePath(folder))
                let path = try #require(FilePath(url))
                let store: SourceStore
                do throws(StoreError) {
                    store = try StoreOpener().open(path, scratch: scratch)
                } catch {
                    guard case .modelMissing = error else { throw error }
                    return
                }
                scores["stores", default: Score()].count(true)
                compare(store, name: url.lastPathComponent, &scores, &exceptions)
            }
        }
        for (kind, score) in scores.sorted(by: { $0.key < $1.key }) { print(kind, score) }
        for line in exceptions { print(line) }
        for kind in ["tables", "column types", "join tables", "Z_PRIMARYKEY", "indexes"] {
            let score = try #require(scores[kind])
            #expect(score.right >= score.all - exceptions.filter { $0.hasPrefix(kind) }.count)
        }
        #expect(scores["stores"]?.all == 74)
        #expect(scores["join tables"]?.right == scores["join tables"]?.all)
        #expect(exceptions.filter { !Self.isKnown($0) }.isEmpty)
    }

    // The format page's own exceptions: a stale name after a rename in place, and R-trees that
    // the cached model of Photos does not mention.
    private static func isKnown(_ line: String) -> Bool {
        line.hasPrefix("Z_PRIMARYKEY SampleModel_V2.sqlite")
    }

    private func compare(
        _ store: SourceStore, name: String, _ scores: inout [String: Score],
        _ exceptions: inout [String]
    ) {
        let layout = store.layout
        for table in layout.tables {
            let found = store.schema.columns[table.name] ?? []
            scores["tables", default: Score()].count(!found.isEmpty)
            let wanted = Set(table.columns.map { "\($0.name) \($0.type.rawValue)" })
                .union(["Z_PK INTEGER", "Z_ENT INTEGER", "Z_OPT INTEGER"])
            let isEqual = wanted == Set(found.map { "\($0.name) \($0.type)" })
            scores["column types", default: Score()].count(isEqual)
            if !isEqual { exceptions.append("column types \(name) \(table.name)") }
            let sql = store.schema.object(.table, table.name)?.sql ?? ""
            let isOriginal = !sql.contains("\"") && !sql.hasSuffix(" BLOB)")
            if isOriginal {
                scores["DDL text", default: Score()].count(sql == table.sql)
            }
        }
        for join in layout.joinTables {
            let found = store.schema.columns[join.name] ?? []
            let isEqual = Set(found.map(\.name)) == Set(join.columnNames)
            scores["join tables", default: Score()].count(isEqual)
            if !isEqual { exceptions.append("join tables \(name) \(join.name)") }
        }
        for (number, entity) in zip(Int64(1)..., layout.entityOrder) {
            let row = store.primaryKeys.row(number: number)
            let isEqual =
                row?.name == entity
                && row?.parent == Int64(layout.parentNumber(of: entity))
            scores["Z_PRIMARYKEY", default: Score()].count(isEqual)
            if !isEqual { exceptions.append("Z_PRIMARYKEY \(name) \(entity)") }
        }
        for index in layout.indexes {
            let found = store.schema.object(.index, index.name)?.sql.map(Self.normal)
            let isEqual = found == Self.normal(index.sql)
            scores["indexes", default: Score()].count(isEqual)
            if !isEqual {
                exceptions.append("indexes \(name) \(index.sql) | \(found ?? "missing")")
            }
        }
        for trigger in layout.triggers {
            let isEqual = store.schema.object(.trigger, trigger.name)?.sql == trigger.sql
            scores["triggers", default: Score()].count(isEqual)
            if !isEqual { exceptions.append("triggers \(name) \(trigger.name)") }
        }
        for text in layout.unsupported { exceptions.append("unsupported \(name) \(text)") }
    }

    private static func normal(_ sql: String) -> String {
        sql.replacing("\"", with: "").split(separator: " ").joined(separator: " ")
    }
}
