import DurableFiles
import StoreForge

/// Two entities with a relationship in both directions, split by the first characters of a
/// UUID.
enum UUIDGroups {
    /// `godwit demo uuid-groups`.
    static let scenario = Scenario(
        name: "uuid-groups", unit: "messages", objects: 200_000,
        files: ModelSource.bundle("Chat", [chat(1), chat(2)]),
        prepare: { folder, objects in
            try Scenario.forge(
                folder.appending("chat.sqlite"),
                model: folder.appending("Chat.xcdatamodeld/Chat 1.xcdatamodel"), seed: 13
            ) { recipe in
                recipe.rows = ["Author": objects / 50 + 1, "Message": objects]
            }
        },
        steps: { objects in
            // About 60 bytes a message: some 16 groups, and some 256.
            [
                .say("The plan: copy groups of messages, merge, link, validate."),
                .run(
                    ["plan", "chat.sqlite"] + options(bytes: objects * 60 / 16)),
                .say("In about 16 groups:"),
                .run(
                    ["migrate", "chat.sqlite"] + options(bytes: objects * 60 / 16)
                        + ["--output", "groups-16"]),
                .say("In about 256 groups:"),
                .run(
                    ["migrate", "chat.sqlite"] + options(bytes: objects * 60 / 256)
                        + ["--output", "groups-256"]),
                .say("Both results are equal:"),
                .run(
                    ["verify", "groups-16/chat.sqlite", "groups-256/chat.sqlite", "--to", "self"]),
            ]
        })

    private static func options(bytes: Int) -> [String] {
        [
            "--to", "Chat.xcdatamodeld", "--partition", "uuid:Message.identifier", "--partition",
            "uuid:Author.identifier", "--chunk-bytes", "\(max(4096, bytes))",
        ]
    }

    private static func chat(_ version: Int) -> (name: String, entities: [String]) {
        let isNew = version == 2
        return (
            "Chat \(version)",
            [
                ModelSource.entity(
                    "Author",
                    [
                        ModelSource.attribute("identifier", "UUID", optional: false),
                        ModelSource.attribute("name", "String"),
                        ModelSource.relationship(
                            "messages", to: "Message", inverse: "author", many: true),
                    ]),
                ModelSource.entity(
                    "Message",
                    [
                        ModelSource.attribute("identifier", "UUID", optional: false),
                        ModelSource.attribute("sentAt", "Date"),
                        ModelSource.attribute(
                            isNew ? "body" : "text", "String", renamed: isNew ? "text" : nil),
                        ModelSource.relationship("author", to: "Author", inverse: "messages"),
                    ] + (isNew ? [ModelSource.attribute("isRead", "Boolean", value: "NO")] : [])),
            ]
        )
    }
}
