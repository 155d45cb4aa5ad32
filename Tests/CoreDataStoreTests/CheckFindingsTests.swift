import Testing

@testable import CoreDataStore

@Suite struct CheckFindingsTests {
    /// SQLite gives one row with a heading and several lines, or a row for each finding.
    @Test func findingsAreOneLine() {
        #expect(
            CheckFindings.words(["*** in database main ***\nPage 7: never used\nPage 9: x"])
                == "Page 7: never used; Page 9: x")
        #expect(CheckFindings.words(["a", "b", "c", "d", "e\nf"]) == "a; b; c; and 3 more")
        #expect(CheckFindings.words([]) == "no answer")
        #expect(CheckFindings.words(["*** in database main ***"]) == "no answer")
    }
}
