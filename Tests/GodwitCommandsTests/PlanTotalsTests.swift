import DurableFiles
import Jobs
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import RunService
import Testing

@testable import CoreDataStore
@testable import MigrationEngine
@testable import MigrationPlanning
@testable import RunCommands

@Suite struct PlanTotalsTests {
    private func report(_ store: String, megabytes: Int64, changed: Int64 = 0) throws -> PlanReport
    {
        let (source, destination) = (try Samples.garage(), try Samples.newGarage())
        var facts = StoreFacts(databaseBytes: megabytes << 20)
        facts.tables = [
            "ZCAR": .init(rows: [1: 2000, 2: 1], highestKey: 2001, lowestKey: 1),
            "ZPERSON": .init(rows: [3: 2], highestKey: 2, lowestKey: 1),
        ]
        let plan = try Planner.plan(
            source: try StoreLayout(model: source, framework: FrameworkVersion(1132)),
            destination: try StoreLayout(model: destination, framework: .newestVerified),
            inference: try Inference(from: source, to: destination), facts: facts,
            options: PlanOptions(strategy: .whole))
        var report = PlanReport(plan, store: store, oddities: [])
        report.changedURIs = changed == 0 ? [:] : ["Car": changed]
        return report
    }

    @Test func aFleetIsAddedUp() throws {
        var totals = PlanTotals()
        for number in 1...12 {
            totals.add(
                try report(
                    "/s/\(number).sqlite", megabytes: Int64(number), changed: number == 3 ? 5 : 0))
        }
        totals.refuse("/s/x.sqlite", .damaged, "/s/x.sqlite cannot be read: it is truncated")
        totals.refuse("/s/y.sqlite", .damaged, "page 3")
        totals.refuse("/s/z.sqlite", .modelMissing, "/s/z.sqlite holds no model")
        let text = totals.text
        #expect(
            text.hasPrefix(
                """
                12 of 15 stores can be migrated, 3 cannot
                source     78.0 MiB, 24,036 rows
                strategy   12 whole
                URIs       of 5 objects in 1 store change
                refused    2 stores: damaged, or not a Core Data store. Restore the file from
                           another backup.
                refused    1 store: holds no model. Give the model that wrote the store with
                           --from.

                refused stores
                  /s/x.sqlite
                      cannot be read: it is truncated
                  /s/y.sqlite
                      page 3
                  /s/z.sqlite
                      holds no model

                the largest stores
                    size   rows  strategy  store
                12.0 MiB  2,003  whole     /s/12.sqlite
                """), "\(text)")
        #expect(!text.contains("/s/2.sqlite") && text.contains("/s/3.sqlite"))
        #expect(text.hasSuffix("--all prints the plan of each store"))
        #expect(totals.short.split(separator: "\n").count == 8)
    }

    @Test func storesOfTheDestinationsVersionAreCounted() throws {
        var totals = PlanTotals()
        totals.add(try report("/s/1.sqlite", megabytes: 1), isUnchanged: true)
        totals.add(try report("/s/2.sqlite", megabytes: 1))
        #expect(
            totals.short.contains("\nunchanged  1 store already at the destination's version"),
            "\(totals.short)")
    }

    @Test func listsAreCut() throws {
        var totals = PlanTotals()
        for number in 0..<70 { totals.refuse(FilePath("/s/\(number)"), .damaged, "r") }
        #expect(totals.text.hasPrefix("0 of 70 stores can be migrated, 70 cannot\nrefused "))
        #expect(totals.text.contains("\n  and 20 more\n"))
    }
}
