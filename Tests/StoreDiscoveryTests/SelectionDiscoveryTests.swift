import DurableFiles
import Testing

@testable import StoreDiscovery

/// What was named: single stores, patterns, lists, and how they go together.
@Suite struct SelectionDiscoveryTests {
    @Test func includesOrReportsNamedPaths() throws {
        try DiscoveryLab.with { lab in
            try lab.otherDatabase("cache.db")
            try lab.file("text", Array("hello".utf8))
            try lab.file("empty", [])
            try lab.store(".godwit/kept.sqlite")
            lab.pipe("pipe")
            try lab.link("loop", to: "loop")
            let found = try lab.discover(
                "cache.db", "text", "empty", ".godwit/kept.sqlite", "pipe", "missing", "loop")
            #expect(
                found.stores.map(\.path)
                    == [".godwit/kept.sqlite", "cache.db", "empty", "text"].map(lab.path))
            #expect(
                found.relatives == ["kept.sqlite", "cache.db", "empty", "text"])
            #expect(found.stores.allSatisfy { $0.isNamed })
            let reasons = found.reasons(below: lab.folder)
            #expect(reasons["missing"] == .missing)
            #expect(reasons["pipe"] == .notAFile(kind: "a pipe"))
            #expect(reasons.keys.contains("loop"))
            #expect(found.skipped.allSatisfy { $0.isNamed && $0.needsAttention })
        }
    }

    @Test func aStoreIsFoundOnceUnderItsFirstName() throws {
        try DiscoveryLab.with { lab in
            try lab.store("u/a.sqlite", "u/b.sqlite")
            try lab.otherDatabase("u/c.sqlite")
            let found = try lab.discover("u", "", "u/b.sqlite", "u/c.sqlite", "u/../u/a.sqlite")
            #expect(found.relatives == ["a.sqlite", "b.sqlite", "c.sqlite"])
            #expect(found.stores.map(\.isNamed) == [true, true, true])
            #expect(found.skipped.isEmpty)
        }
    }

    @Test func patternsStandForPathsWhereNoneExists() throws {
        try DiscoveryLab.with { lab in
            try lab.store(
                "u1/a.sqlite", "u2/a.sqlite", "u2/b.store", "x/u3/a.sqlite", "u1/deep/er/a.sqlite",
                "[u]/a.sqlite")
            try lab.otherDatabase("u1/cache.db")
            let found = try lab.discover("u?/*.sqlite")
            #expect(found.relatives == ["u1/a.sqlite", "u2/a.sqlite"])
            #expect(found.stores.map(\.root) == [lab.folder, lab.folder])
            #expect(try lab.discover("u[2-9]").relatives == ["u2/a.sqlite", "u2/b.store"])
            #expect(
                try lab.discover("**/a.sqlite").relatives == [
                    "[u]/a.sqlite", "u1/a.sqlite", "u1/deep/er/a.sqlite", "u2/a.sqlite",
                    "x/u3/a.sqlite",
                ])
            // What exists is no pattern.
            #expect(try lab.discover("[u]").stores.map(\.path) == [lab.path("[u]/a.sqlite")])
            let none = try lab.discover("v*", "nowhere/*.sqlite")
            #expect(none.stores.isEmpty)
            #expect(
                none.reasons(below: lab.folder)
                    == ["v*": .noMatch, "nowhere/*.sqlite": .noMatch])
            // Matched and no store: told like everything that was found.
            #expect(
                try lab.discover("*/*.db").reasons(below: lab.folder)
                    == ["u1/cache.db": .notACoreDataStore])
        }
    }

    @Test func patternsChooseAmongWhatIsFound() throws {
        try DiscoveryLab.with { lab in
            try lab.store(
                "u1/a.sqlite", "u1/a.store", "u2/a.sqlite", "u2/old/a.sqlite", "u3/Cache/c.sqlite")
            #expect(
                try lab.discover("", include: ["*.sqlite"], exclude: ["old", "Cache/"]).relatives
                    == ["u1/a.sqlite", "u2/a.sqlite"])
            #expect(
                try lab.discover("", include: ["/u1", "u2/*/*"]).relatives
                    == ["u1/a.sqlite", "u1/a.store", "u2/old/a.sqlite"])
            #expect(
                try lab.discover("", exclude: ["u?/*.sqlite", "**/Cache/**"]).relatives
                    == ["u1/a.store", "u2/old/a.sqlite"])
            #expect(
                try lab.discover("u2", include: ["old/a.sqlite"]).relatives == ["old/a.sqlite"])
            #expect(
                try lab.discover("u*", include: ["*.sqlite"], exclude: ["old"]).relatives
                    == ["u1/a.sqlite", "u2/a.sqlite", "u3/Cache/c.sqlite"])
            // What is named is taken whatever the patterns say.
            #expect(try lab.discover("u1/a.store", exclude: ["*"]).relatives == ["a.store"])
            #expect(throws: DurableFileError.self) { try lab.discover("", include: [""]) }
        }
    }

    @Test func listsNameStoresAndFolders() throws {
        try DiscoveryLab.with { lab in
            try lab.store("lists/a.sqlite", "lists/u/b.sqlite", "up/c.sqlite", "abs/d.sqlite")
            let absolute = lab.path("abs/d.sqlite")
            let text = "# stores\n\na.sqlite\n./u\n../up/c.sqlite\n  \n\(absolute)\nmissing\n"
            try lab.file("lists/list.txt", Array(text.utf8))
            let found = try lab.discover(lists: ["lists/list.txt"])
            let relatives = Set(found.relatives)
            #expect(
                relatives == [
                    "a.sqlite", "u/b.sqlite", "up/c.sqlite",
                    FilePath(bytes: absolute.bytes.dropFirst()),
                ])
            #expect(Set(found.stores.map(\.location.database)).contains(lab.path("up/c.sqlite")))
            #expect(found.reasons(below: lab.folder) == ["lists/missing": .missing])
            #expect(throws: DurableFileError.self) { try lab.discover(lists: ["none"]) }
        }
    }

    @Test func listsAreReadInEveryForm() {
        func relatives(_ text: String) -> [FilePath] {
            StoreListFile(bytes: Array(text.utf8), folder: "f").entries.map(\.relative)
        }
        #expect(relatives("") == [])
        #expect(relatives("a\nb") == ["a", "b"])
        #expect(relatives("\u{FEFF}a\n") == ["a"])
        #expect(relatives("a\r\nb\r\n\r\n") == ["a", "b"])
        // Where not every line ends so, the carriage return belongs to the name.
        #expect(relatives("a\r\nb\n") == ["a\r", "b"])
        #expect(relatives(" a \n#c\n./#d") == [" a ", "#d"])
        #expect(relatives("a\nb\0#c\0") == ["a\nb", "#c"])
        let entries = StoreListFile(bytes: Array("../x/../y/z\n/p/q\n..".utf8), folder: "f")
            .entries
        #expect(entries.map(\.root) == ["f/../x/..", "/", "f/.."])
        #expect(entries.map(\.relative) == ["y/z", "p/q", ""])
    }

    @Test func storesInEachOthersWayAreTold() throws {
        try DiscoveryLab.with { lab in
            try lab.store(
                "one/a.sqlite", "one/A.sqlite", "one/ü.sqlite", "one/u\u{308}.sqlite",
                "one/b.sqlite", "one/b.store", "two/c.sqlite", "three/c.sqlite")
            try lab.hardLink("one/twin.sqlite", to: "one/a.sqlite")
            let found = try lab.discover("one", "two", "three")
            #expect(found.stores.count == 9)
            #expect(
                found.warnings == [
                    warning(.sameFile, ["one/a.sqlite", "one/twin.sqlite"], lab),
                    warning(.sameResult, ["three/c.sqlite", "two/c.sqlite"], lab),
                    warning(.sameResultButForCase, ["one/A.sqlite", "one/a.sqlite"], lab),
                    warning(
                        .sameResultButForCase, ["one/u\u{308}.sqlite", "one/ü.sqlite"], lab),
                    warning(.sameSupportFolder, ["one/b.sqlite", "one/b.store"], lab),
                ])
            #expect(found.stores.first { $0.relative == "a.sqlite" }?.links == 2)
            for warning in found.warnings { #expect("\(warning)".contains(".sqlite")) }
        }
    }

    private func warning(
        _ kind: DiscoveryWarning.Kind, _ paths: [FilePath], _ lab: DiscoveryLab
    ) -> DiscoveryWarning {
        DiscoveryWarning(kind: kind, paths: paths.map(lab.path))
    }
}
