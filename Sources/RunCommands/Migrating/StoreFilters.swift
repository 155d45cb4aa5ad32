import ArgumentParser

/// The options that say which stores of lists and folders are meant.
struct StoreFilters: ParsableArguments {
    @Option(
        name: .customLong("stores"),
        help: "A file that lists stores or folders, one path per line. Repeatable.")
    var lists: [String] = []

    @Option(
        help: "Include only files found in folders whose path matches this pattern. Repeatable.")
    var include: [String] = []

    @Option(help: "Exclude files found in folders whose path matches this pattern. Repeatable.")
    var exclude: [String] = []
}
