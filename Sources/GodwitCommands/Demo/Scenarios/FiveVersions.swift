import DurableFiles
import StoreForge
import SafeSQLite

/// A fleet of stores through five versions of a model, of which one store fails at a step.
enum FiveVersions {
    /// `godwit demo five-versions`.
    static let scenario = Scenario(
        name: "five-versions", unit: "stores", objects: 500,
        files: ModelSource.bundle("Notes", (1...5).map(notes)),
        prepare: { folder, objects in
            for number in 1...max(3, objects) {
                let version = 1 + number % 3
                try Scenario.forge(
                    folder.appending("backups").appending(storeName(number)),
                    model: folder.appending("Notes.xcdatamodeld/Notes \(version).xcdatamodel"),
                    seed: UInt64(number)
                ) { recipe in
                    recipe.rows = ["Note": 20 + number % 7]
                    // One store has notes without a title, which version 4 does not allow.
                    if number == failing { recipe.nullShare = 0.5 }
                }
            }
        },
        steps: { _ in
            [
                .say("Stores of versions 1 to 3 go through every version up to 5, in place:"),
                .run(migration, status: 75),
                .act(
                    "One store failed at the step to version 4, and is untouched. "
                        + "Its team fills in the missing titles."
                ) { folder in
                    let connection = try Connection(
                        path: folder.appending("backups").appending(storeName(failing)),
                        mode: .readWrite)
                    try connection.execute(
                        "UPDATE ZNOTE SET ZTITLE = 'Untitled' WHERE ZTITLE IS NULL")
                    try connection.close()
                },
                .say("A second try takes what failed, and nothing else:"),
                .run(["replay"]),
            ]
        })

    private static let failing = 2
    private static let migration = [
        "migrate", "backups", "--to", "Notes.xcdatamodeld", "--via", "Notes 2,Notes 3,Notes 4",
    ]

    private static func storeName(_ number: Int) -> FilePath {
        let digits = String(number)
        return FilePath(
            "user-\(String(repeating: "0", count: max(0, 3 - digits.count)))\(digits).sqlite")
    }

    /// Version 2 renames `body`, 3 adds folders, 4 requires titles, 5 renames once more.
    private static func notes(_ version: Int) -> (name: String, entities: [String]) {
        let (text, before): (String, String?) =
            switch version {
            case 1: ("body", nil)
            case 2: ("text", "body")
            case 5: ("content", "text")
            default: ("text", nil)
            }
        var properties = [
            ModelSource.attribute("identifier", "UUID", optional: false),
            ModelSource.attribute("title", "String", optional: version < 4),
            ModelSource.attribute("createdAt", "Date"),
            ModelSource.attribute(text, "String", renamed: before),
        ]
        guard version >= 3 else {
            return ("Notes \(version)", [ModelSource.entity("Note", properties)])
        }
        properties.append(ModelSource.relationship("folder", to: "Folder", inverse: "notes"))
        return (
            "Notes \(version)",
            [
                ModelSource.entity(
                    "Folder",
                    [
                        ModelSource.attribute("name", "String"),
                        ModelSource.relationship(
                            "notes", to: "Note", inverse: "folder", many: true),
                    ]),
                ModelSource.entity("Note", properties),
            ]
        )
    }
}
