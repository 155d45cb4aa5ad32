import ArgumentParser
import CoreDataStore
import DurableFiles
import Foundation
import GRDB
import ManagedObjectModel
import StoreForge

/// S3: a fleet of small stores of four versions, against the expert's
/// script under `xargs -P`.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "s3", abstract: "Migrates 500 small stores; peer: the expert's script.")

    @Option(help: "Stores of the fleet.")
    var stores = 500

    @Option(help: "Rounds; each runs both sides.")
    var rounds = 5

    @Option(help: "Slots of godwit, and processes of the expert.")
    var slots = 2

    @Option(help: "A folder with room for three times the fleet, named without special signs.")
    var folder = "godwit-bench-data"

    @Option(help: "The expert's script.")
    var expert = "Sources/godwit-bench/expert/s3.sh"

    @Flag(
        name: .customLong("workers"),
        help: "Peer: godwit migrate --in-process; measured is migrate with worker processes.")
    var comparesWorkers = false

    @Flag(help: "With --workers: the peer is migrate with worker processes that are trusted.")
    var trusted = false

    func run() throws {
        let place = try BenchFolder(folder)
        let fleet = try forge(place)
        let template = try place.template(
            try ForgeModels.fleet(version: ForgeModels.newestFleetVersion),
            as: "s3-template.sqlite")
        if comparesWorkers { return try compareWorkers(place, fleet, template) }
        let sql = try writeSQL(place)
        let results = (expert: place.file("s3-expert"), godwit: place.file("s3-godwit"))
        setenv("JOBS", "\(slots)", 1)
        var sides = (expert: Rounds(), godwit: Rounds())
        for round in 1...max(1, rounds) {
            for folder in [results.expert, results.godwit] { try Self.empty(folder) }
            print("round \(round)")
            // Turns change, so that neither side always finds the caches warmer.
            for isExpert in round % 2 == 1 ? [true, false] : [false, true] {
                if isExpert {
                    sides.expert.add(
                        try MeasuredProcess("sh", [expert, fleet, sql, template, results.expert]))
                } else {
                    sides.godwit.add(
                        try MeasuredProcess(
                            BenchFolder.program,
                            [
                                "run-fleet", fleet, template, results.godwit,
                                place.file("state"), "--slots", "\(slots)",
                            ]))
                }
            }
        }
        let different = try FleetComparison(
            results.expert, results.godwit,
            layout: StoreLayout(
                model: ForgeModels.fleet(version: ForgeModels.newestFleetVersion),
                framework: .newestVerified)
        ).differences()
        report(sides.expert, sides.godwit)
        print("stores that differ between both results: \(different)")
        guard different == 0 else { throw ExitCode(1) }
    }

    private func compareWorkers(
        _ place: BenchFolder, _ fleet: String, _ template: String
    ) throws {
        let sides = try WorkersComparison(
            place: place, source: fleet, template: template, workers: slots, rounds: rounds,
            peer: trusted ? .trusted : .threads
        ).run()
        let peer = trusted ? "trusted" : "threads"
        for (name, side) in [("workers", sides.workers), (peer, sides.threads)] {
            let rate = Double(stores) / Rounds.median(side.seconds)
            print("\(name)  \(Rounds.text(rate)) stores/s")
        }
    }

    private func report(_ expert: Rounds, _ godwit: Rounds) {
        for (name, side) in [("expert", expert), ("godwit", godwit)] {
            print(side.line(name))
            let perSecond = Double(stores) / Rounds.median(side.seconds)
            let processor = 1_000 * Rounds.median(side.all.map(\.processorSeconds))
            print(
                "        \(Rounds.text(perSecond)) stores/s, processor "
                    + "\(Rounds.text(processor / Double(stores))) ms a store")
        }
        for (name, ratios) in [
            ("ratio  ", zip(expert.seconds, godwit.seconds).map { $0 / $1 }),
            (
                "processor",
                zip(expert.all, godwit.all).map { $0.processorSeconds / $1.processorSeconds }
            ),
        ] {
            print(
                "\(name) expert/godwit by round: median \(Rounds.text(Rounds.median(ratios))) "
                    + "(\(Rounds.text(ratios.min() ?? 0)) to \(Rounds.text(ratios.max() ?? 0)))")
        }
    }

    /// Forges the fleet unless it is there: stores of four versions in turn.
    private func forge(_ place: BenchFolder) throws -> String {
        let name = "s3-\(stores)"
        let manager = FileManager.default
        guard !manager.fileExists(atPath: place.file(name)) else { return place.file(name) }
        print("making \(name) …")
        let unfinished = place.file(name + ".unfinished")
        try Self.empty(unfinished)
        var bytes: Int64 = 0
        for number in 0..<stores {
            let version = number % (ForgeModels.newestFleetVersion - 1) + 1
            let path = FilePath("\(unfinished)/\(number)-v\(version).sqlite")
            bytes += try Forge(.fleet(version: version, seed: UInt64(number))).write(to: path).bytes
            try DurableFileSystem(links: .followed).syncFile(path)
        }
        try manager.moveItem(atPath: unfinished, toPath: place.file(name))
        print("  \((bytes / Int64(max(1, stores))) >> 10) KiB each")
        return place.file(name)
    }

    private func writeSQL(_ place: BenchFolder) throws -> String {
        let folder = place.file("s3-sql")
        try Self.empty(folder)
        let newest = try ForgeModels.fleet(version: ForgeModels.newestFleetVersion)
        for version in 1..<ForgeModels.newestFleetVersion {
            let sql = try ExpertSQL(from: ForgeModels.fleet(version: version), to: newest)
            try sql.text.write(
                toFile: "\(folder)/\(version).sql", atomically: false, encoding: .utf8)
        }
        return folder
    }

    private static func empty(_ folder: String) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: folder) { try manager.removeItem(atPath: folder) }
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
}

/// Compares two folders of results, every column of every row of every store.
struct FleetComparison {
    private let expert: String
    private let godwit: String
    private let layout: StoreLayout

    init(_ expert: String, _ godwit: String, layout: StoreLayout) {
        self.expert = expert
        self.godwit = godwit
        self.layout = layout
    }

    /// Stores that differ or that one side has not.
    func differences() throws -> Int {
        let names = try [expert, godwit].map {
            Set(
                try FileManager.default.contentsOfDirectory(atPath: $0).filter {
                    $0.hasSuffix(".sqlite")
                })
        }
        return try names[0].symmetricDifference(names[1]).count
            + names[0].intersection(names[1]).filter { try differs($0) }.count
    }

    private func differs(_ name: String) throws -> Bool {
        var configuration = Configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: "\(godwit)/\(name)", configuration: configuration)
        return try queue.writeWithoutTransaction { database in
            try database.execute(sql: "ATTACH ? AS expert", arguments: ["\(expert)/\(name)"])
            let tables =
                layout.tables.map { ($0.name, $0.columnNames.joined(separator: ", ")) }
                + [("Z_PRIMARYKEY", "*"), ("Z_MODELCACHE", "*"), ("sqlite_master", "name, sql")]
            for (table, columns) in tables {
                for (one, other) in [("main", "expert"), ("expert", "main")] {
                    let found = try Int.fetchOne(
                        database,
                        sql: "SELECT count(*) FROM (SELECT \(columns) FROM \(one).\(table) "
                            + "EXCEPT SELECT \(columns) FROM \(other).\(table))")
                    if found != 0 { return true }
                }
            }
            return false
        }
    }
}
