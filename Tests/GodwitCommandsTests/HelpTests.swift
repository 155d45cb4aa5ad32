import ArgumentParser
import Testing

@testable import GodwitCommands
@testable import RunCommands

/// What the help of the command line says.
@Suite struct HelpTests {
    /// The commands of an example, continued lines joined.
    static func commands(of lines: [String]) -> [[String]] {
        lines.joined(separator: "\n").replacingOccurrences("\\\n", with: "")
            .split(separator: "\n").filter { $0.hasPrefix("  ") }
            .map { $0.split(separator: " ").map(String.init) }
    }

    @Test(arguments: HelpExamples.texts.keys.sorted())
    func examplesAreCommands(name: String) throws {
        let lines = try #require(HelpExamples.texts[name])
        let commands = Self.commands(of: lines)
        #expect(commands.contains { $0.dropFirst().first == name })
        for command in commands {
            #expect(command.first == "godwit")
            _ = try GodwitCommand.parseAsRoot(Array(command.dropFirst()))
        }
    }

    @Test func examplesStandAtTheEndOfTheHelp() {
        for words in [["help", "migrate"], ["migrate", "--help"], ["migrate", "-h"]] {
            #expect(HelpExamples.after(words)?.hasPrefix("EXAMPLES:") == true)
        }
        for words in [["help"], ["--help"], ["help", "inspect"], ["migrate", "a", "--to", "b"]] {
            #expect(HelpExamples.after(words) == nil)
        }
    }

    @Test func everyCommandStandsInAGroup() {
        let help = GodwitCommand.helpMessage(columns: 80)
        for command in GodwitCommand.configuration.groupedSubcommands.flatMap(\.subcommands) {
            #expect(help.contains("  \(command._commandName)"))
        }
        let ungrouped = GodwitCommand.configuration.ungroupedSubcommands
        #expect(ungrouped.allSatisfy { !$0.configuration.shouldDisplay })
        #expect(GodwitCommand.configuration.groupedSubcommands.count == 3)
    }

    @Test func optionsStandInSections() throws {
        let help = GodwitCommand.helpMessage(for: MigrateCommand.self, columns: 80)
        let titles = ["STORES IN FOLDERS:", "HOW STORES ARE MIGRATED:", "WORKER PROCESSES:"]
        for title in titles { #expect(help.contains(title)) }
        // What is used most comes first.
        let main = try #require(help.firstRange(of: "MAIN OPTIONS:"))
        let next = try #require(help.firstRange(of: titles[0]))
        #expect(main.lowerBound < next.lowerBound)
        for option in ["--to <", "--from <", "--output <", "--state <", "--workers <"] {
            #expect(help[main.lowerBound..<next.lowerBound].contains(option))
        }
    }
}

extension String {
    /// The text with another one in the place of each occurrence.
    fileprivate func replacingOccurrences(_ text: String, with other: String) -> String {
        split(separator: text, omittingEmptySubsequences: false).joined(separator: other)
    }
}
