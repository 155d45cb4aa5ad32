import CoreDataStore
import DurableFiles
import Foundation
import MigrationPlans
import StoreRuns
import TestSupport
import Testing

/// Random models, mapping files and data against a reference that holds everything in memory.
@Suite("Mapped migrations: random cases") struct MappedPropertyTests {
    /// Cases; `GODWIT_MAPPED_CASES` asks for more.
    private static let cases: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_MAPPED_CASES"].flatMap { UInt64($0) } ?? 60

    /// The first seed; `GODWIT_MAPPED_SEED` asks for another.
    private static let first: UInt64 =
        ProcessInfo.processInfo.environment["GODWIT_MAPPED_SEED"].flatMap { UInt64($0) } ?? 1

    @Test func resultsEqualTheReference() throws {
        var differences: [String] = []
        var equal = 0
        var computed = 0
        var converted = 0
        var linked = 0
        for seed in Self.first..<Self.first + Self.cases {
            for attempt in UInt64(0)..<12 {
                var one: RandomCase
                do { one = try RandomCase(seed: seed, attempt: attempt) } catch { continue }
                one.isMapped = true
                let verdict = try withTemporaryFolder { folder in
                    try one.run(in: FilePath(folder.path))
                }
                switch verdict {
                case .refused: continue
                case .different(let texts):
                    differences.append("seed \(seed), attempt \(attempt), \(one.mode)")
                    differences += (texts.prefix(5) + texts.suffix(1)).map { "    \($0)" }
                case .equal(let figures):
                    equal += 1
                    if figures["with computed values"] > 0 { computed += 1 }
                    converted += figures["losing conversion"]
                    if figures["paths"] > 0 { linked += 1 }
                }
                break
            }
        }
        print(
            "mapped cases: \(equal) equal, \(computed) with computed values, "
                + "\(converted) losing values, \(linked) with links by paths")
        #expect(differences.isEmpty, "\n\(differences.joined(separator: "\n"))")
        #expect(equal > Int(Self.cases) * 9 / 10)
        #expect(computed > Int(Self.cases) / 3)
        #expect(converted > Int(Self.cases) / 10)
        #expect(linked > Int(Self.cases) / 10)
    }
}
