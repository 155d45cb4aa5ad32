import Testing

/// The rules applied to this repository; a failure lists every place as `file:line: reason`.
@Suite struct RepositoryTests {
    private func expectNone(
        _ violations: [Violation], _ location: SourceLocation = #_sourceLocation
    ) {
        let list = violations.map(\.description).sorted().joined(separator: "\n")
        #expect(violations.isEmpty, "\n\(list)", sourceLocation: location)
    }

    private var codes: [Code] { Repository.swiftFiles.map(Code.init) }
    private var sources: [Code] { codes.filter { $0.path.hasPrefix("Sources/") } }

    @Test func filesAreFound() {
        #expect(Repository.files.contains { $0.path == "Package.swift" })
        #expect(
            Repository.swiftFiles.contains { $0.path == "Tests/TidyTests/RepositoryTests.swift" })
    }

    @Test func filesAreShort() {
        let endings = [".swift", ".c", ".h"]
        let checked = Repository.files.filter { file in
            !file.isGenerated && endings.contains { file.path.hasSuffix($0) }
        }
        expectNone(checked.flatMap(LengthRules.longFiles))
        expectNone(checked.flatMap(LengthRules.longLines))
    }

    @Test func typesAndTargetsAreWhole() {
        expectNone(SizeRules.scatteredTypes(sources))
        expectNone(SizeRules.largeTargets(Repository.files.filter { !$0.isGenerated }))
    }

    @Test func functionsAreShort() { expectNone(codes.flatMap(LengthRules.longFunctions)) }

    @Test func librariesUseNothingBanned() { expectNone(sources.flatMap(BannedRules.check)) }

    @Test func nothingIsMarkedUnfinishedOrBoundToOneMachine() {
        expectNone(Repository.files.flatMap(WordRules.check))
    }

    @Test func librariesNameNoOptions() { expectNone(sources.flatMap(OptionRules.check)) }

    @Test func sharedDeclarationsAreDocumented() {
        let support = codes.filter { $0.path.hasPrefix("Tests/TestSupport/") }
        expectNone((sources + support).flatMap(DocumentationRules.check))
    }

    @Test func layersImportWhatTheyMay() { expectNone(sources.flatMap(LayerRules.check)) }

    @Test func sqlIsMadeInOnePlace() {
        expectNone(sources.flatMap(SQLRules.check))
        expectNone(sources.flatMap(SQLRules.checkTexts))
    }

    @Test func targetsAreExplained() {
        let manifests = Repository.files.filter { $0.path == "Package.swift" }
        expectNone(manifests.flatMap(ProjectRules.uncommentedTargets))
    }

    @Test func decisionRecordsAreNumbered() {
        let folder = "docs/decisions/"
        let names = Repository.files.map(\.path).filter { $0.hasPrefix(folder) }
            .map { String($0.dropFirst(folder.count)) }
        expectNone(ProjectRules.misnumberedRecords(names))
    }
}
