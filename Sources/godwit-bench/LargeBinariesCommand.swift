import ArgumentParser
import StoreForge

/// S2: large binaries move into another table, because their entity
/// leaves its hierarchy.
///
/// There is no peer: what is shown is memory.
struct LargeBinariesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "s2", abstract: "Moves 3,000 binaries of 300 KB into another table.")

    @Option(help: "Binaries of the store.")
    var count = 3_000

    @Option(help: "Bytes of each.")
    var bytes = 307_200

    @Option(help: "Rounds.")
    var rounds = 3

    @Option(help: "A folder with room for five times the store.")
    var folder = "godwit-bench-data"

    func run() throws {
        let place = try BenchFolder(folder)
        let store = try place.forge(
            .largeBinaries(count, bytes: bytes), as: "s2-\(count)-\(bytes).sqlite")
        let template = try place.template(
            try ForgeModels.largeBinaries(version: 2), as: "s2-template.sqlite")
        var side = Rounds()
        for _ in 0..<max(1, rounds) {
            try place.remove(["s2-godwit.sqlite"])
            side.add(
                try MeasuredProcess(
                    BenchFolder.program,
                    ["run", store, template, place.file("s2-godwit.sqlite"), place.file("state")]))
        }
        print(side.line("godwit"))
    }
}
