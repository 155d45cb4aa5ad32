import ArgumentParser

/// The options that say which stores of lists and folders are meant.
struct StoreFilters: ParsableArguments {
    @Option(
        name: .customLong("stores"),
        help: "A file that names stores or folders, one path a line; may be repeated.")
    var lists: [String] = []

    @Option(help: "Take only files of folders whose path fits this pattern; may be repeated.")
    var include: [String] = []

    @Option(help: "Leave out files of folders whose path fits this pattern; may be repeated.")
    var exclude: [String] = []
}
