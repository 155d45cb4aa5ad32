import CoreDataStore
import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import StoreDiscovery

/// What a search leaves out, and whether a run that leaves it out has done everything.
@Suite("Files that are left out") struct LeftOutTests {
    @Test("a store behind a link out of the folder counts, whatever its name")
    func storesOutside() throws {
        try DiscoveryLab.with { lab in
            try lab.store("in/a.sqlite", "out/b.sqlite", "out/plain", "out/d/e.sqlite")
            try lab.file("out/notes.txt", Array("text".utf8))
            try lab.otherDatabase("out/cache.db")
            try lab.link("in/b.sqlite", to: "../out/b.sqlite")
            try lab.link("in/plain", to: "../out/plain")
            try lab.link("in/folder", to: "../out/d")
            try lab.link("in/notes.txt", to: "../out/notes.txt")
            try lab.link("in/cache.db", to: "../out/cache.db")
            let found = try lab.discover("in")
            #expect(found.relatives == ["a.sqlite"])
            let counting = found.skipped.filter(\.needsAttention)
            #expect(
                counting.map(\.path)
                    == ["in/b.sqlite", "in/folder", "in/plain"].map { lab.path($0) })
            let reasons = found.reasons(below: lab.path("in"))
            #expect(reasons["b.sqlite"] == .storeOutside(target: lab.path("out/b.sqlite")))
            #expect(reasons["notes.txt"] == .linkLeavesFolder(target: lab.path("out/notes.txt")))
            #expect(reasons["cache.db"] == .linkLeavesFolder(target: lab.path("out/cache.db")))
            // What patterns leave out is not missing.
            let patterns: [FilePath] = ["b.sqlite", "folder", "plain"]
            let chosen = try lab.discover("in", exclude: patterns)
            #expect(chosen.skipped.filter(\.needsAttention).isEmpty)
            // A folder outside may hold what a pattern asks for.
            let asked = try lab.discover("in", include: ["a.*"])
            #expect(asked.skipped.map(\.path) == [lab.path("in/folder")])
        }
    }

    @Test("a file without a database under the extension of stores is a failed store")
    func damagedStores() throws {
        try DiscoveryLab.with { lab in
            try lab.store("in/a.mydata", "in/deep/b.DB")
            try lab.file("in/empty.mydata", [])
            try lab.file("in/deep/er/text.MyData", Array("text".utf8))
            try lab.file("in/thumbs.db", Array("hello".utf8))
            try lab.file("in/left.mydata", [])
            try lab.file("in/notes.txt", Array("text".utf8))
            try lab.file("in/x.mydata-wal", [])
            try lab.file("in/._a.mydata", [0, 5, 0x16, 7])
            try lab.otherDatabase("in/other.mydata")
            try lab.file("elsewhere/c.mydata", [])
            let found = try lab.discover("in", exclude: ["left.*"])
            #expect(
                found.relatives == [
                    "a.mydata", "deep/b.DB", "deep/er/text.MyData", "empty.mydata", "thumbs.db",
                ])
            #expect(found.stores.allSatisfy { !$0.isNamed })
            #expect(found.skipped.map(\.path) == [lab.path("in/other.mydata")])
            // Without a store of the extension nothing tells that it is one.
            let none = try lab.discover("in", include: ["*.db", "empty.*"], exclude: ["deep"])
            #expect(none.relatives.isEmpty)
            // A name that was given says nothing of others: the program did not look into it.
            let named = try lab.discover("in/notes.txt", "elsewhere")
            #expect(named.relatives == ["notes.txt"])
        }
    }

    @Test("where no store is found, the reasons say what was left out")
    func absence() throws {
        try DiscoveryLab.with { lab in
            try lab.store("out/b.sqlite", "in/result/r.sqlite", "in/not/this.sqlite")
            try lab.file("in/thumbs.db", Array("hello".utf8))
            try lab.file("in/notes.txt", Array("text".utf8))
            try lab.link("in/b.sqlite", to: "../out/b.sqlite")
            var selection = StoreSelection(paths: [lab.path("in")])
            selection.exclude = ["not"]
            selection.ignoredFolders = [lab.path("in/result")]
            let found = try StoreSearch.discover(selection)
            #expect(found.stores.isEmpty)
            for words in [
                "in/b.sqlite (it is a symbolic link to ", "thumbs.db (it is not an",
                "in/result (it is the folder of the results or of the runs)",
                "files and folders that the patterns leave out (1)",
                "not SQLite databases (1)",
            ] {
                #expect(found.absence.contains(words), "\(found.absence)")
            }
            try DurableFileSystem().makeFolder(lab.path("void"))
            #expect(try lab.discover("void").absence == "there are no files")
        }
    }
}
