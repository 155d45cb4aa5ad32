import ArgumentParser
import Foundation
import GRDB
import StoreForge

/// S1: a store of small rows is rewritten for a model with one new
/// attribute and one renamed, against the expert's script.
struct SmallRowsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "s1", abstract: "Rewrites 5 million small rows; peer: the expert's script.")

    @Option(help: "Rows of the store.")
    var rows = 5_000_000

    @Option(help: "Rounds; each runs both sides.")
    var rounds = 5

    @Option(help: "Slots of godwit.")
    var slots = 2

    @Option(help: "A folder with room for five times the store.")
    var folder = "godwit-bench-data"

    @Option(help: "The expert's script.")
    var expert = "Sources/godwit-bench/expert/s1.sh"

    @Flag(
        name: .customLong("workers"),
        help: "Peer: godwit migrate --in-process; measured is migrate with worker processes.")
    var comparesWorkers = false

    func run() throws {
        let place = try BenchFolder(folder)
        let store = try place.forge(.smallRows(rows), as: "s1-\(rows).sqlite")
        let template = try place.template(
            try ForgeModels.smallRows(version: 2), as: "s1-template.sqlite")
        if comparesWorkers {
            _ = try WorkersComparison(
                place: place, source: store, template: template, workers: slots, rounds: rounds
            ).run()
            return
        }
        let results = (
            expert: place.file("s1-expert.sqlite"), godwit: place.file("s1-godwit.sqlite")
        )
        var sides = (expert: Rounds(), godwit: Rounds())
        for round in 1...max(1, rounds) {
            try place.remove(["s1-expert.sqlite", "s1-expert.sqlite.new", "s1-godwit.sqlite"])
            print("round \(round)")
            // Turns change, so that neither side always finds the caches warmer.
            let order = round % 2 == 1 ? [true, false] : [false, true]
            for isExpert in order {
                if isExpert {
                    sides.expert.add(
                        try MeasuredProcess("sh", [expert, store, results.expert, template]))
                } else {
                    sides.godwit.add(
                        try MeasuredProcess(
                            BenchFolder.program,
                            [
                                "run", store, template, results.godwit, place.file("state"),
                                "--slots", "\(slots)",
                            ]))
                }
            }
        }
        let different = try Self.differences(results.expert, results.godwit)
        print(sides.expert.line("expert"))
        print(sides.godwit.line("godwit"))
        let ratios = zip(sides.expert.seconds, sides.godwit.seconds).map { $0 / $1 }
        print(
            "ratio   expert/godwit by round: median \(Rounds.text(Rounds.median(ratios))) "
                + "(\(Rounds.text(ratios.min() ?? 0)) to \(Rounds.text(ratios.max() ?? 0)))")
        print("rows that differ between both results: \(different)")
        guard different == 0 else { throw ExitCode(1) }
    }

    /// Rows of either result that the other has not, every column compared.
    private static func differences(_ expert: String, _ godwit: String) throws -> Int {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: godwit, configuration: configuration)
        return try queue.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS expert", arguments: [expert])
            let columns = try database.columns(in: "ZREADING").map(\.name).filter { $0 != "Z_PK" }
            let same = columns.map { "a.\($0) IS b.\($0)" }.joined(separator: " AND ")
            let counts = try ["main", "expert"].map {
                try Int.fetchOne(database, sql: "SELECT count(*) FROM \($0).ZREADING") ?? -1
            }
            let equal =
                try Int.fetchOne(
                    database,
                    sql: "SELECT count(*) FROM main.ZREADING a NOT INDEXED CROSS JOIN "
                        + "expert.ZREADING b ON b.Z_PK = a.Z_PK WHERE \(same)") ?? -1
            return counts[0] + counts[1] - 2 * equal
        }
    }
}
