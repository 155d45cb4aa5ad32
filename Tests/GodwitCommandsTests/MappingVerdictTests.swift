import ManagedObjectModel
import MappingFiles
import RunReports
import Testing

@testable import ModelCommands

/// What `mapping check` says of a mapping.
@Suite struct MappingVerdictTests {
    @Test func valuesThatAreNeverEqualAreAWarning() throws {
        let text = """
            godwit-mapping: 1
            entities:
              - entity: Person
                filter: name == 5
            """
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8))
        let (source, destination) = (try Samples.garage(), try Samples.newGarage())
        let verdict = MappingVerdict(
            file, from: source, to: destination,
            hashes: (VersionHashes(source), VersionHashes(destination)))
        let warning = try #require(verdict.cases.first?.warnings.first)
        #expect(verdict.mistakes.isEmpty && verdict.cases.first?.failure == nil)
        #expect(warning.contains("line 4, column 13: PersonToPerson: filter: name == 5 compares"))
        #expect(verdict.text.contains("note: \(warning)"))
    }
}
