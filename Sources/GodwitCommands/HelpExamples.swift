/// Examples at the end of the help of some commands, where the parser has no place for them.
enum HelpExamples {
    /// By the name of the command, each line a command or, indented less, what it does.
    static let texts: [String: [String]] = [
        "migrate": [
            "Migrate all stores of a folder to the model of the new app version, in place:",
            "  godwit migrate backups --to Notes.momd",
            "Keep the originals where they are and write results to another folder:",
            "  godwit migrate backups --to Notes.momd --output migrated",
            "Build and validate everything now, and swap later:",
            "  godwit migrate backups --to Notes.momd --defer-swap",
            "  godwit swap --state .godwit",
        ],
        "coordinate": [
            "Make keys, then serve a network:",
            "  godwit keys new --output keys --workers 3",
            "  godwit coordinate --listen tcp://0.0.0.0:7411 --state state \\",
            "      --root users=/srv/users --keys keys",
        ],
        "work": [
            "Run jobs on another machine that has the shared folder elsewhere:",
            "  godwit work --connect tcp://coordinator:7411 \\",
            "      --root users=/mnt/users --keys keys",
        ],
        "submit": [
            "Migrate all stores of a shared folder and wait for the end:",
            "  godwit submit /srv/users --to Notes.momd --connect tcp://coordinator:7411 \\",
            "      --root users=/srv/users --keys keys --wait",
        ],
    ]

    /// The examples of the command whose help was asked for.
    ///
    /// - Parameter arguments: those of the process, without its own name.
    /// - Returns: nil where no help was asked for, or the command has no examples.
    static func after(_ arguments: some Sequence<String>) -> String? {
        let words = Array(arguments)
        let command: String?
        if words.first == "help" {
            command = words.dropFirst().first { !$0.hasPrefix("-") }
        } else {
            guard words.contains(where: { ["-h", "--help"].contains($0) }) else { return nil }
            command = words.first { !$0.hasPrefix("-") }
        }
        guard let command, let lines = texts[command] else { return nil }
        return (["EXAMPLES:"] + lines.map { "  " + $0 }).joined(separator: "\n")
    }
}
