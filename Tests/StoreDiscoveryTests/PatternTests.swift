import DurableFiles
import TestSupport
import Testing

@testable import StoreDiscovery

/// Patterns by example, and against a reference that tries everything.
@Suite struct PatternTests {
    private func matches(_ pattern: String, _ name: String) -> Bool {
        NamePattern(pattern.utf8).matches(NamePattern.units(of: Array(name.utf8)))
    }

    @Test(arguments: [
        ("*.sqlite", "a.sqlite"), ("*", ""), ("*", ".hidden"), ("a*b*c", "a--b--c"),
        ("?", "é"), ("?", "日"), ("[é-ü]", "í"), ("[abc]x", "bx"), ("[a-c]", "b"),
        ("[!a]", "b"), ("[^a]", "b"), ("[]]", "]"), ("[!]]", "a"), ("[a-]", "-"), ("[-a]", "-"),
        ("\\*", "*"), ("\\[a]", "[a]"), ("[\\]]", "]"), ("[", "["), ("[a", "[a"), ("a\\", "a\\"),
        ("**", "anything"), ("\\\\", "\\"),
    ])
    func namesMatch(_ pattern: String, _ name: String) {
        #expect(matches(pattern, name))
    }

    @Test(arguments: [
        ("*.sqlite", "a.sqlite-wal"), ("?", ""), ("?", "ab"), ("[a-c]", "d"), ("[!a]", "a"),
        ("[z-a]", "m"), ("\\*", "a"), ("a", "A"), ("", "a"), ("a*b*c", "a--c--b"), ("[a]", ""),
    ])
    func namesDoNotMatch(_ pattern: String, _ name: String) {
        #expect(!matches(pattern, name))
    }

    @Test func bytesThatAreNoTextAreCharacters() {
        let name: [UInt8] = [0x61, 0xFF, 0xC3, 0x62]
        #expect(NamePattern("a??b".utf8).matches(NamePattern.units(of: name)))
        #expect(NamePattern(name).matches(NamePattern.units(of: name)))
        #expect(!NamePattern("a?b".utf8).matches(NamePattern.units(of: name)))
        #expect(NamePattern.units(of: Array("é日𝄞".utf8)).count == 3)
    }

    @Test func manyStarsTakeNoLongTime() {
        let pattern = String(repeating: "a*", count: 1000) + "b"
        #expect(!matches(pattern, String(repeating: "a", count: 255)))
    }

    @Test func pathsAreMatchedNameByName() throws {
        func matches(_ pattern: String, _ path: String) throws -> Bool {
            let pattern = try PathPattern(FilePath(pattern))
            let places = FilePath(path).components.reduce(pattern.start) { places, name in
                pattern.advance(over: NamePattern.units(of: Array(name)), from: places)
            }
            return pattern.isComplete(places)
        }
        for (pattern, path) in [
            ("*.db", "a.db"), ("*.db", "x/y/a.db"), ("/*.db", "a.db"), ("x/*.db", "x/a.db"),
            ("**/a", "a"), ("**/a", "x/y/a"), ("x/**/a", "x/a"), ("x/**/a", "x/y/z/a"),
            ("x/**", "x/y/z"), ("**", "x/y"), ("**/**/a", "a"), ("x//y", "x/y"),
        ] {
            #expect(try matches(pattern, path), "\(pattern) \(path)")
        }
        for (pattern, path) in [
            ("/*.db", "x/a.db"), ("x/*.db", "y/x/a.db"), ("x/*", "x/y/z"), ("x/**", "x"),
            ("x/**/a", "a"), ("**/a/b", "a/x/b"), ("x", "xx"),
        ] {
            #expect(try !matches(pattern, path), "\(pattern) \(path)")
        }
        #expect(throws: DurableFileError.self) { try PathPattern("/") }
        #expect(throws: DurableFileError.self) {
            try PathPattern(FilePath(String(repeating: "a", count: 5000)))
        }
    }

    /// Random names over a small alphabet, so that many of them match.
    @Test func namesMatchAsInTheReference() {
        var random = SeededGenerator(seed: 7)
        let pieces = ["a", "b", "*", "?", "[ab]", "[!a]", "é", "*"]
        let letters = ["a", "b", "c", "é"]
        var matched = 0
        for _ in 0..<20_000 {
            let parts = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &random)]
            }
            let name = (0..<Int.random(in: 0...6, using: &random)).map { _ in
                letters[Int.random(in: 0..<letters.count, using: &random)]
            }
            let expected = PatternReference.matches(parts[...], name[...])
            #expect(
                matches(parts.joined(), name.joined()) == expected, "\(parts) \(name)")
            if expected { matched += 1 }
        }
        #expect(matched > 2000)
    }

    /// Random trees against the reference on whole paths: a folder is left out only where
    /// nothing below it can match.
    @Test func pathsMatchAsInTheReference() throws {
        var random = SeededGenerator(seed: 11)
        let names = ["a", "b", "ab"]
        let patterns = ["a", "b", "*", "**", "a*", "?"]
        var matched = 0
        for _ in 0..<20_000 {
            let parts = (0..<Int.random(in: 2...4, using: &random)).map { _ in
                patterns[Int.random(in: 0..<patterns.count, using: &random)]
            }
            let path = (0..<Int.random(in: 1...5, using: &random)).map { _ in
                names[Int.random(in: 0..<names.count, using: &random)]
            }
            let pattern = try PathPattern(FilePath(parts.joined(separator: "/")))
            let filter = PathFilter(required: [[pattern]], excluded: [])
            var state: PathFilter.State? = filter.start
            for name in path.dropLast() {
                let units = NamePattern.units(of: Array(name.utf8))
                state = state.flatMap { filter.entering(units, from: $0) }
            }
            let last = NamePattern.units(of: Array(path[path.count - 1].utf8))
            let found = state.map { filter.takes(last, in: $0) } ?? false
            // What stands for a folder stands for everything in it.
            let expected = path.indices.contains {
                PatternReference.matchesPath(parts[...], path[...$0])
            }
            #expect(found == expected, "\(parts) \(path)")
            if expected { matched += 1 }
        }
        #expect(matched > 2000)
    }
}

/// Patterns by definition: every way to read them is tried.
enum PatternReference {
    /// A name of single characters against pieces of a pattern.
    static func matches(_ parts: ArraySlice<String>, _ name: ArraySlice<String>) -> Bool {
        guard let part = parts.first else { return name.isEmpty }
        let rest = parts.dropFirst()
        if part == "*" {
            return (name.startIndex...name.endIndex).contains { matches(rest, name[$0...]) }
        }
        guard let letter = name.first else { return false }
        let fits =
            switch part {
            case "?": true
            case "[ab]": letter == "a" || letter == "b"
            case "[!a]": letter != "a"
            default: letter == part
            }
        return fits && matches(rest, name.dropFirst())
    }

    /// A path against names of a pattern.
    static func matchesPath(_ parts: ArraySlice<String>, _ path: ArraySlice<String>) -> Bool {
        guard let part = parts.first else { return path.isEmpty }
        let rest = parts.dropFirst()
        if part == "**" {
            // At the end it stands for something in a folder, not for the folder.
            let first = rest.isEmpty ? path.startIndex + 1 : path.startIndex
            guard first <= path.endIndex else { return false }
            return (first...path.endIndex).contains { matchesPath(rest, path[$0...]) }
        }
        guard let name = path.first else { return false }
        let fits = matches(part.map(String.init)[...], name.map(String.init)[...])
        return fits && matchesPath(rest, path.dropFirst())
    }
}
