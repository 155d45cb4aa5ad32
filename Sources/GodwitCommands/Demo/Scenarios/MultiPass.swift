import DurableFiles
import StoreForge

/// One entity that becomes two, by two passes over the same objects.
enum MultiPass {
    /// `godwit demo multi-pass`.
    static let scenario = Scenario(
        name: "multi-pass", unit: "events", objects: 200_000,
        files: ModelSource.bundle("Events", [events(1), events(2)]).merging(
            ["passes.yaml": passes, "ranges.yaml": ranges],
            uniquingKeysWith: { first, _ in first }),
        prepare: { folder, objects in
            try Scenario.forge(
                folder.appending("events.sqlite"),
                model: folder.appending("Events.xcdatamodeld/Events 1.xcdatamodel"), seed: 12
            ) { $0.rows = ["Event": objects] }
        },
        steps: { _ in
            [
                .say("Two passes over all events: seconds as numbers, and a printed date."),
                .run(
                    [
                        "plan", "events.sqlite", "--to", "Events.xcdatamodeld", "--mapping",
                        "passes.yaml",
                    ]),
                .run(migration("passes.yaml", to: "passes")),
                .say("The same in ranges: each pass takes the events of one time."),
                .run(migration("ranges.yaml", to: "ranges")),
                .say("Both results hold the same, value by value:"),
                .run(
                    ["verify", "passes/events.sqlite", "ranges/events.sqlite", "--to", "self"]),
            ]
        })

    private static func migration(_ mapping: String, to output: String) -> [String] {
        [
            "migrate", "events.sqlite", "--to", "Events.xcdatamodeld", "--mapping", mapping,
            "--chunk-bytes", "1MiB", "--output", output,
        ]
    }

    private static func events(_ version: Int) -> (name: String, entities: [String]) {
        guard version == 2 else {
            return (
                "Events 1",
                [
                    ModelSource.entity(
                        "Event",
                        [
                            identifier,
                            ModelSource.attribute("timestamp", "Date", optional: false),
                            ModelSource.attribute("name", "String"),
                        ])
                ]
            )
        }
        return (
            "Events 2",
            [
                ModelSource.entity(
                    "Moment",
                    [
                        identifier,
                        ModelSource.attribute("seconds", "Double", optional: false, value: "0"),
                        ModelSource.attribute("name", "String"),
                    ]),
                ModelSource.entity(
                    "Label",
                    [
                        identifier,
                        ModelSource.attribute("text", "String"),
                        ModelSource.attribute("name", "String"),
                    ]),
            ]
        )
    }

    private static let identifier = ModelSource.attribute("identifier", "UUID", optional: false)

    private static let passes =
        "godwit-mapping: 1\nentities:\n"
        + moment("Seconds", filter: nil) + label("Printed", filter: nil)

    private static let ranges =
        "godwit-mapping: 1\nentities:\n"
        + moment("EarlySeconds", filter: early) + moment("LateSeconds", filter: late)
        + label("EarlyPrinted", filter: early) + label("LatePrinted", filter: late)

    private static let early = "timestamp < CAST(350000000, \"NSDate\")"
    private static let late = "timestamp >= CAST(350000000, \"NSDate\")"

    private static func moment(_ name: String, filter: String?) -> String {
        pass("Moment", name, filter, "seconds: {convert: $source.timestamp}")
    }

    private static func label(_ name: String, filter: String?) -> String {
        pass(
            "Label", name, filter,
            "text: {convert: $source.timestamp, format: \"EEEE, d MMMM yyyy 'at' HH:mm\"}")
    }

    private static func pass(
        _ destination: String, _ name: String, _ filter: String?, _ value: String
    ) -> String {
        """
          - source: Event
            destination: \(destination)
            name: \(name)
        \(filter.map { "    filter: \($0)\n" } ?? "")    attributes:
              \(value)
              identifier: $source.identifier
              name: $source.name

        """
    }
}
