import DurableFiles
import RunReports
import RunService
import SafeSQLite
import StateFolders
import StoreRuns
import StoreSwap
import Testing

@testable import CommandSupport

/// The command line adds its options to what the layers below say.
@Suite struct AdviceTests {
    @Test(arguments: [
        (RunError.store(.modelMissing(path: "a")), "--from"),
        (.store(.externalDataMissing(path: "a", count: 1)), "--allow-missing-external"),
        (.outputExists("a"), "--output"),
        (.noRun(id: "r1", state: "s"), "godwit status --state s"),
        (.noRun(id: nil, state: "s"), "--state"),
        (.otherRun(id: "r1", store: "a", state: "s"), "godwit cancel r1 --state s"),
        (.lostStore("gone"), "godwit prune --lost"),
        (.swap(.clientsHidden(store: "a", reason: "r")), "--assume-closed"),
        (.swap(.severalHardLinks(store: "a", links: 2)), "--output"),
        (.swap(.storeChangedSinceSwap(store: "a")), "--discard-changes"),
    ])
    func errorsNameTheOptionsThatHelp(error: RunError, option: String) {
        #expect(!"\(error)".contains("--"))
        #expect("\(CommandFailure(error))".contains(option))
    }

    @Test func nextStepsAreCommands() {
        let facts = RunFacts(
            run: "r1", state: "my backups/.godwit", destination: "m", slots: 1, seconds: 0)
        #expect(
            NextStep.prune(bytes: 1).command(for: facts)
                == "godwit prune r1 --state 'my backups/.godwit'")
    }

    @Test func wordsForAShellGiveTheSameBytesBack() {
        #expect(ShellWord.quoted(FilePath("a/b-1.sqlite")) == "a/b-1.sqlite")
        #expect(ShellWord.quoted(FilePath("")) == "''")
        #expect(ShellWord.quoted(FilePath("a b$(x)")) == "'a b$(x)'")
        #expect(ShellWord.quoted(FilePath("it's")) == "'it'\\''s'")
        #expect(ShellWord.quoted(FilePath("a\nb'\\")) == "$'a\\x0ab\\'\\\\'")
        #expect(ShellWord.quoted(FilePath(bytes: [0xFF, 0x61])) == "$'\\xffa'")
    }
}
