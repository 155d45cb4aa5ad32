import DurableFiles
import Foundation
import TestSupport
import Testing

/// Random stores migrated to random next versions of their models, compared object by object
/// and link by link with a reference that reads and maps row by row.
///
/// `GODWIT_LONG_TESTS` makes it more cases; `GODWIT_CASES=FROM-TO` runs those seeds alone.
@Suite("Links: random models against a row-by-row reference")
struct LinksPropertyTests {
    /// How often another model is drawn where one cannot be migrated.
    private static let attempts: UInt64 = 20

    private static var seeds: ClosedRange<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        let bounds = (environment["GODWIT_CASES"] ?? "").split(separator: "-").compactMap {
            UInt64($0)
        }
        if bounds.count == 2, bounds[0] <= bounds[1] { return bounds[0]...bounds[1] }
        return environment["GODWIT_LONG_TESTS"] == nil ? 1...250 : 1...2_400
    }

    /// Whether models are shown where something differs.
    private static let showsModels = ProcessInfo.processInfo.environment["GODWIT_CASES"] != nil

    /// What all seeds together found.
    private struct Findings: Sendable {
        var figures = CaseFigures()
        var differences: [String] = []

        mutating func add(_ other: Findings) {
            figures.add(other.figures)
            differences += other.differences
        }
    }

    @Test func everyObjectAndLinkArrives() async throws {
        let found = try await withThrowingTaskGroup(of: Findings.self) { group in
            for share in UInt64(0)..<2 {
                group.addTask {
                    var findings = Findings()
                    for seed in Self.seeds where seed & 1 == share {
                        findings.add(try Self.findings(ofSeed: seed))
                    }
                    return findings
                }
            }
            return try await group.reduce(into: Findings()) { $0.add($1) }
        }
        print(found.figures.lines)
        #expect(found.differences.isEmpty, "\n\(found.differences.joined(separator: "\n"))")
        #expect(found.figures["cases"] == Self.seeds.count)
        // A test of link plans and look-ups must meet some.
        if Self.seeds.count >= 200 {
            for name in [
                "with link plans", "with joins looked up", "with moved keys", "with split tables",
                "with cut tables", "link plans: owner's place", "link plans: target's place",
            ] {
                #expect(found.figures[name] > 0, "no case \(name)")
            }
        }
    }

    /// Draws models for a seed until one can be migrated.
    private static func findings(ofSeed seed: UInt64) throws -> Findings {
        var findings = Findings()
        for attempt in 0..<attempts {
            let one: RandomCase
            do { one = try RandomCase(seed: seed, attempt: attempt) } catch { continue }
            let verdict = try withTemporaryFolder { folder in
                try one.run(in: FilePath(folder.path))
            }
            switch verdict {
            case .refused(let reason):
                findings.figures.count("refused")
                findings.figures.count("refused: \(reason)")
                continue
            case .different(let texts):
                findings.differences.append(
                    "seed \(seed), attempt \(attempt), \(one.mode), "
                        + "\(one.changes.map(\.rawValue).sorted())")
                findings.differences += texts.prefix(8).map { "    \($0)" }
                if showsModels { findings.differences += one.lines.map { "    \($0)" } }
            case .equal(let figures):
                findings.figures.add(figures)
            }
            return findings
        }
        findings.differences.append("seed \(seed): no model could be migrated")
        return findings
    }
}
