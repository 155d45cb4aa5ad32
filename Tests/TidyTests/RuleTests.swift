import Testing

/// Each rule finds what it is there for, and leaves alone what only looks like it.
@Suite struct RuleTests {
    private func code(_ text: String, path: String = "Sources/Jobs/Example.swift") -> Code {
        Code(TextFile(path: path, text: text))
    }

    @Test func commentsAndLiteralsAreBlanked() {
        let text = """
            let a = "try? \\(name + "}") {" // print(
            /* Date() /* nested { */ */ let b = #"as! " {"#
            let c = 1
            """
        let lines = code(text).lines
        #expect(lines.count == 3)
        #expect(lines[0].split(separator: " ").joined(separator: " ") == "let a =")
        #expect(lines[1].split(separator: " ").joined(separator: " ") == "let b =")
        #expect(lines[2] == "let c = 1")
    }

    @Test(arguments: [
        "package struct Wide: Sendable {", "@main struct Wide {", "public final class Wide {",
        "@available(*, deprecated) package enum Wide {", "nonisolated struct Wide {",
    ])
    func scatteredTypesAreFound(declaration: String) {
        func part(_ number: Int, _ line: String) -> Code {
            code(line, path: "Sources/Jobs/\(number).swift")
        }
        let extensions = (1...6).map { part($0, "extension Wide.Part {") }
        let whole = [part(0, declaration)] + extensions.prefix(4)
        #expect(SizeRules.scatteredTypes(whole).isEmpty)
        #expect(
            SizeRules.scatteredTypes(whole + [extensions[4]]).map(\.path)
                == ["Sources/Jobs/0.swift"])
        // Types of other packages may have as many as they need.
        #expect(SizeRules.scatteredTypes(extensions).isEmpty)
    }

    @Test func largeTargetsAreFound() {
        let half = String(repeating: "//\n", count: SizeRules.targetLines / 2)
        let files = ["Sources/Jobs/a.swift", "Sources/Jobs/b/c.swift"].map {
            TextFile(path: $0, text: half + "//")
        }
        #expect(SizeRules.largeTargets(files).map(\.path) == ["Sources/Jobs"])
        #expect(SizeRules.largeTargets(Array(files.dropLast())).isEmpty)
    }

    @Test(arguments: [
        "let sql = SQLText(stringLiteral: name)", "extension SQLText.StringInterpolation {",
        "sqlite3_exec(handle, sql, nil, nil, nil)", "try database.execute(sql: text)",
        "text.appendLiteral(name)", "sqlite3_set_authorizer(handle, nil, nil)",
    ])
    func waysAroundSQLTextAreFound(line: String) {
        #expect(SQLRules.check(code(line)).map(\.line) == [1])
        #expect(SQLRules.check(code("// " + line)).isEmpty)
    }

    @Test func statementsInStringsAreFound() {
        let line = #"let sql: String = "DROP TABLE \(name)""#
        #expect(SQLRules.checkTexts(code(line)).map(\.line) == [1])
        #expect(SQLRules.checkTexts(code(line.replacing("String", with: "SQLText"))).isEmpty)
    }

    @Test func optionsInTextsOfLibrariesAreFound() {
        let line = #"let text = "use --output""#
        #expect(OptionRules.check(code(line)).map(\.line) == [1])
        #expect(OptionRules.check(code(line, path: "Sources/GodwitCommands/A.swift")).isEmpty)
        #expect(OptionRules.check(code("// use --output\nlet a = b - -c")).isEmpty)
    }

    @Test func longFilesAndLinesAreFound() {
        let lines = Array(repeating: "//", count: LengthRules.fileLines)
        let fitting = TextFile(path: "a.swift", text: lines.joined(separator: "\n") + "\n")
        #expect(LengthRules.longFiles(fitting).isEmpty)
        let long = TextFile(path: "a.swift", text: (lines + ["//"]).joined(separator: "\n"))
        #expect(LengthRules.longFiles(long).map(\.line) == [401])
        let wide = String(repeating: "x", count: 101)
        let found = LengthRules.longLines(TextFile(path: "a.swift", text: "x\n\(wide)\n"))
        #expect(found.map(\.line) == [2])
        let fits = String(repeating: "é", count: 100)
        #expect(LengthRules.longLines(TextFile(path: "a.swift", text: fits)).isEmpty)
    }

    @Test func functionsAreMeasured() {
        let text = """
            protocol P {
                func required(_ a: Int)
                init(b: Int)
            }
            struct S {
                let f = S.init(1)
                func g(
                    _ body: () -> Void = { }
                ) {
                    if true { body() }
                }
                init(x: Int) { y = x }
            }
            """
        let found = LengthRules.functions(code(text)).map { [$0.first, $0.last] }
        #expect(found == [[7, 11], [12, 12]])
        let body = Array(repeating: "    x()", count: 69).joined(separator: "\n")
        let long = code("func f() {\n\(body)\n}\n")
        #expect(LengthRules.longFunctions(long).map(\.line) == [1])
        let shorter = code("func f() {\n\(body.dropFirst(8))\n}\n")
        #expect(LengthRules.longFunctions(shorter).isEmpty)
    }

    @Test(arguments: [
        "let x = try? f()", "try! f()", "let y = z as! Int", "fatalError()", "print(x)",
        "let t = Task { }", "Task.detached { }", "let d = Date()", "let u = UUID()",
        "let r = Int.random(in: 0..<3)", "list.shuffled()", "var g = SystemRandomNumberGenerator()",
    ])
    func bannedCodeIsFound(line: String) {
        #expect(BannedRules.check(code("// first\n\(line)\n")).map(\.line) == [2])
    }

    @Test(arguments: [
        "let x = try f()", "blueprint(x)", "let y = z as? Int", "subTask(x)", "startDate()",
        "let r = Int.random(in: 0..<3, using: &generator)", "// try? print(x)",
        "let r = Int.random(\n    in: 0..<max(1, 2),\n    using: &generator)", "debugPrint(x)",
    ])
    func ordinaryCodeIsLeftAlone(text: String) {
        #expect(BannedRules.check(code(text)).isEmpty)
    }

    @Test func theEdgeMayPrint() {
        let line = "print(Date(), UUID())"
        #expect(BannedRules.check(code(line, path: "Sources/GodwitCommands/A.swift")).isEmpty)
        #expect(BannedRules.check(code(line, path: "Sources/GodwitCommandsX/A.swift")).count == 3)
    }

    @Test func markersAndMachinePathsAreFound() {
        for word in WordRules.markers + WordRules.machinePaths
            + WordRules.obscure.keys + WordRules.obscurePhrases.keys
        {
            let file = TextFile(path: "docs/a.md", text: "one\nsee \(word): it\n")
            #expect(WordRules.check(file).map(\.line) == [2])
        }
        let harmless = TextFile(path: "a", text: "Sources" + WordRules.machinePaths[0] + "x\nTODOS")
        #expect(WordRules.check(harmless).isEmpty)
    }

    @Test(arguments: [
        "package func f() {}", "package struct S {", "package final class C {",
        "package static func f() {", "package static let limit = 3",
        "package init(a: Int) throws {",
        "    package mutating func f() {", "@discardableResult package func f() {",
        "package indirect enum E {", "package init(a: Int) {\n    if a > 0 { b = a }\n}",
    ])
    func undocumentedDeclarationsAreFound(text: String) {
        #expect(DocumentationRules.check(code("let x = 1\n\n\(text)\n")).map(\.line) == [3])
        #expect(DocumentationRules.check(code("/// It.\n@frozen\n\(text)\n")).isEmpty)
    }

    @Test(arguments: [
        "package let a: Int", "package var b = 2", "func f() {}", "package import Jobs",
        "package func hash(into hasher: inout Hasher) {", "package init(a: Int) { self.a = a }",
        "package init(\n    a: Int\n) {\n    self.a = a\n}", "let package = Package(",
    ])
    func declarationsThatSpeakForThemselvesPass(text: String) {
        #expect(DocumentationRules.check(code(text)).isEmpty)
    }

    @Test func layersAreKept() {
        #expect(LayerRules.importedModule("package import struct GRDB.Row") == "GRDB")
        #expect(LayerRules.importedModule("@testable import Jobs") == "Jobs")
        #expect(LayerRules.importedModule("let important = 1") == nil)
        let path = "Sources/MappingModel/A.swift"
        let fine = code("internal import ManagedObjectModel\nimport Foundation", path: path)
        #expect(LayerRules.check(fine).isEmpty)
        #expect(LayerRules.check(code("import Jobs\n", path: path)).map(\.line) == [1])
        #expect(LayerRules.check(code("import Foundation")).count == 1)
        #expect(LayerRules.check(code("", path: "Sources/Unheard/A.swift")).count == 1)
        let raw = LayerRules.allowed.filter { $0.value.contains("GRDBSQLite") }.keys.sorted()
        #expect(raw == ["RunLedger", "SafeSQLite", "ValidationScans"])
    }

    @Test func manifestsAreExplained() {
        let text = """
            let package = Package(
                targets: [
                    // One.
                    .target(name: "A"),
                    layer("B"),
                    // Three.
                    layer("C"),

                    tests("D", []),
                ])
            """
        let manifest = TextFile(path: "Package.swift", text: text)
        #expect(ProjectRules.uncommentedTargets(manifest).map(\.line) == [5, 9])
    }

    @Test func recordsAreCounted() {
        #expect(ProjectRules.misnumberedRecords(["0001-a.md", "0002-b.md", "template.md"]).isEmpty)
        #expect(ProjectRules.misnumberedRecords(["0001-a.md", "0003-b.md"]).count == 1)
        #expect(ProjectRules.misnumberedRecords(["0001-a.md", "0001-b.md"]).count == 1)
    }
}
