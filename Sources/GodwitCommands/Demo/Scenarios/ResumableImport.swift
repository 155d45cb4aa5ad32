import DurableFiles

/// A store that is filled from numbered part files, killed in the middle, and then migrated.
enum ResumableImport {
    /// `godwit demo resumable-import`.
    static let scenario = Scenario(
        name: "resumable-import", unit: "articles", objects: 100_000,
        files: ModelSource.bundle("Reader", [reader(1), reader(2)]),
        prepare: { folder, objects in
            let parts = folder.appending("parts")
            let files = DurableFileSystem()
            try files.makeScratchFolders(parts)
            let size = (objects + partCount - 1) / partCount
            for part in 0..<partCount {
                var text = ""
                for number in min(objects, part * size)..<min(objects, (part + 1) * size) {
                    text += article(number)
                }
                // Feeds come last, so that articles name feeds of later parts.
                if part == partCount - 1 {
                    for number in 0..<feedCount { text += feed(number) }
                }
                try files.publish(
                    Array(text.utf8), to: parts.appending("part-\(part + 1).jsonl"),
                    permissions: 0o644)
            }
        },
        steps: { _ in
            [
                .say("Import \(partCount) parts; the process is killed in the middle:"),
                .kill(command, folder: "parts", left: partCount / 2),
                .say("The same command resumes behind the last batch:"),
                .run(command),
                .run(["inspect", "reader.sqlite"]),
                .say("The store is like one that Core Data made, and is migrated like any other:"),
                .run(["migrate", "reader.sqlite", "--to", "Reader.xcdatamodeld"]),
            ]
        })

    private static let partCount = 200
    private static let feedCount = 50
    private static let command = [
        "import", "parts", "--into", "reader.sqlite", "--model", "Reader.xcdatamodeld:Reader 1",
        "--batch", "500", "--remove-parts",
    ]

    private static func article(_ number: Int) -> String {
        #"{"entity": "Article", "attributes": {"address": "https://example.org/\#(number)", "#
            + #""identifier": "\#(identifier(number))", "title": "Article \#(number)", "#
            + #""publishedAt": "2026-01-\#(10 + number % 20)"}, "#
            + #""relationships": {"feed": "feed-\#(number % feedCount)"}}"# + "\n"
    }

    /// A UUID whose first characters are spread evenly; an odd factor gives each number its own.
    private static func identifier(_ number: Int) -> String {
        let mixed = String(UInt32(truncatingIfNeeded: number) &* 2_654_435_761, radix: 16)
        return String(repeating: "0", count: 8 - mixed.count) + mixed.uppercased()
            + "-0000-4000-8000-000000000000"
    }

    private static func feed(_ number: Int) -> String {
        #"{"entity": "Feed", "attributes": {"name": "feed-\#(number)"}}"# + "\n"
    }

    private static func reader(_ version: Int) -> (name: String, entities: [String]) {
        let isNew = version == 2
        return (
            "Reader \(version)",
            [
                ModelSource.entity(
                    "Article", unique: "address",
                    [
                        ModelSource.attribute("address", "String", optional: false),
                        ModelSource.attribute("identifier", "UUID", optional: false),
                        ModelSource.attribute(
                            isNew ? "headline" : "title", "String",
                            renamed: isNew ? "title" : nil),
                        ModelSource.attribute("publishedAt", "Date"),
                        ModelSource.relationship("feed", to: "Feed", inverse: "articles"),
                    ] + (isNew ? [ModelSource.attribute("isRead", "Boolean", value: "NO")] : [])),
                ModelSource.entity(
                    "Feed", unique: "name",
                    [
                        ModelSource.attribute("name", "String", optional: false),
                        ModelSource.relationship(
                            "articles", to: "Article", inverse: "feed", many: true),
                    ]),
            ]
        )
    }
}
