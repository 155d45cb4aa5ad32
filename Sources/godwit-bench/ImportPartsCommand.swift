import ArgumentParser
import DurableFiles
import Foundation
import SafeSQLite
import StoreForge

/// The import of part files, against a loop that saves after every ten objects.
struct ImportPartsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Imports a million objects; peer: a loop that saves after every ten.")

    @Option(help: "Objects in all parts.")
    var objects = 1_000_000

    @Option(help: "Parts.")
    var parts = 200

    @Option(help: "Rounds; each runs both sides.")
    var rounds = 3

    @Flag(help: "Objects in any order, so that half of the links lead to later objects.")
    var shuffled = false

    @Option(help: "A folder with room for four times the parts.")
    var folder = "godwit-bench-data"

    @Option(help: "The peer's script.")
    var expert = "Sources/godwit-bench/expert/import.py"

    @Option(help: "The program to measure.")
    var godwit = ".build/release/godwit"

    func run() throws {
        let place = try BenchFolder(folder)
        let template = try place.template(
            try ForgeModels.notes(version: 3), as: "import-template.sqlite")
        let parts = try makeParts(place)
        var sides = (peer: Rounds(), godwit: Rounds())
        for round in 1...max(1, rounds) {
            print("round \(round)")
            try place.remove(["import-peer.sqlite", "import-godwit.sqlite"])
            try FileManager.default.copyItem(
                atPath: template, toPath: place.file("import-peer.sqlite"))
            // Turns change, so that neither side always finds the caches warmer.
            for isPeer in round % 2 == 1 ? [true, false] : [false, true] {
                if isPeer {
                    sides.peer.add(
                        try MeasuredProcess(
                            "python3", [expert, place.file("import-peer.sqlite"), parts]))
                } else {
                    sides.godwit.add(
                        try MeasuredProcess(
                            godwit,
                            [
                                "import", parts, "--into", place.file("import-godwit.sqlite"),
                                "--model", template, "--key", "Folder.name",
                            ]))
                }
            }
            try Self.compare(place)
        }
        print(sides.peer.line("peer  "))
        print(sides.godwit.line("godwit"))
        let ratios = zip(sides.peer.seconds, sides.godwit.seconds).map { $0 / $1 }
        print(
            "ratio   peer/godwit by round: median \(Rounds.text(Rounds.median(ratios))), "
                + "godwit \(Int(Double(objects) / Rounds.median(sides.godwit.seconds))) objects/s")
    }

    /// Writes the parts unless they are there.
    private func makeParts(_ place: BenchFolder) throws -> String {
        let path = place.file("import-\(objects)-\(parts)\(shuffled ? "-shuffled" : "")")
        guard !FileManager.default.fileExists(atPath: path) else { return path }
        print("making \(parts) parts …")
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true)
        let lines = NoteLines(objects: objects)
        let size = (objects + parts - 1) / parts
        for part in 0..<parts {
            var text = ""
            for number in (part * size)..<min(objects, (part + 1) * size) {
                text += lines.line(shuffled ? lines.permuted(number) : number)
            }
            try Data(text.utf8).write(
                to: URL(fileURLWithPath: "\(path)/\(part + 1).jsonl"))
        }
        return path
    }

    /// Checks that both sides wrote the same objects and links.
    private static func compare(_ place: BenchFolder) throws {
        let sums = try ["import-peer.sqlite", "import-godwit.sqlite"].map { name in
            let connection = try Connection(
                path: FilePath(place.file(name)), mode: .immutable)
            defer { do { try connection.close() } catch { print("\(error)") } }
            return try connection.texts(
                "SELECT (SELECT count(*) || ' ' || sum(length(ZTEXT)) || ' ' || sum(ZCREATEDAT) "
                    + "FROM ZNOTE WHERE ZFOLDER IS NOT NULL) || ' ' || "
                    + "(SELECT count(*) FROM ZFOLDER) || ' ' || (SELECT count(*) FROM ZTAG) || ' ' "
                    + "|| (SELECT count(*) FROM Z_5TAGS)")
        }
        guard sums[0] == sums[1] else { throw BenchError("the stores differ: \(sums)") }
    }
}

/// Objects of a notes app as lines of parts: folders, tags, then notes; every line follows from its
/// number.
private struct NoteLines {
    let objects: Int
    private let folders: Int
    private let tags: Int

    init(objects: Int) {
        self.objects = objects
        folders = max(1, objects / 20)
        tags = max(1, objects / 50)
    }

    /// Another number for each number.
    func permuted(_ number: Int) -> Int {
        // A prime larger than any number of objects that is measured here.
        Int((UInt64(number) &* 2_147_483_647) % UInt64(objects))
    }

    func line(_ number: Int) -> String {
        if number < folders {
            return #"{"entity": "Folder", "attributes": {"name": "folder \#(number)"}}"# + "\n"
        }
        if number < folders + tags {
            return #"{"entity": "Tag", "attributes": {"name": "tag \#(number)"}}"# + "\n"
        }
        let mixed = UInt64(number) &* 0x9E37_79B9_7F4A_7C15
        let digits = String(mixed | 1 << 63, radix: 16) + String(~mixed | 1 << 63, radix: 16)
        let groups = [(0, 8), (8, 12), (12, 16), (16, 20), (20, 32)].map { start, end in
            String(digits.dropFirst(start).prefix(end - start))
        }
        let links = (0..<(mixed >> 8 & 1) + 1).map { place in
            "\"tag \(folders + Int((mixed >> (16 + 8 * place)) % UInt64(tags)))\""
        }
        return
            #"{"entity": "Note", "attributes": {"identifier": "\#(groups.joined(separator: "-"))","#
            + #" "title": "note \#(number)", "createdAt": "2026-01-\#(10 + mixed % 20)T00:00:00Z","#
            + #" "isPinned": \#(mixed & 1 == 0), "text": "\#(String(repeating: "x", count: 40))"},"#
            + #" "relationships": {"folder": "folder \#(Int((mixed >> 24) % UInt64(folders)))","#
            + #" "tags": [\#(links.joined(separator: ", "))]}}"# + "\n"
    }
}
