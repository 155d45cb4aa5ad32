import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import TestSupport
import Testing

@testable import StoreDiscovery

@Suite struct FolderDiscoveryTests {
    @Test func storesAreFoundByTheirBytesInByteOrder() throws {
        try DiscoveryLab.with { lab in
            try lab.store("b/z.sqlite", "b-a.sqlite", "b.d/x", "a", ".hidden/deep/er/s.storedata")
            try lab.file("notes.txt", Array("SQLite".utf8))
            let found = try lab.discover("")
            #expect(
                found.relatives == [
                    ".hidden/deep/er/s.storedata", "a", "b-a.sqlite", "b.d/x", "b/z.sqlite",
                ])
            #expect(found.skipped.isEmpty)
            #expect(found.warnings.isEmpty)
            let first = try #require(found.stores.first)
            let status = try FileStatus(of: first.location.database)
            #expect(first.location.database == lab.path(first.relative))
            #expect(first.path == first.location.database)
            #expect(first.bytes == status.size)
            #expect(first.inode == status.identity.inode)
            #expect(first.device == status.identity.device)
            #expect(!first.isNamed)
        }
    }

    @Test func whatBelongsToStoresOrToUsIsNoStore() throws {
        try DiscoveryLab.with { lab in
            try lab.store(
                "a.sqlite", "a.sqlite-wal", "a.sqlite-shm", "a.sqlite-journal",
                ".a_SUPPORT/_EXTERNAL_DATA/b.sqlite", ".godwit/run/c.sqlite",
                ".godwit-unpublished-1", "sub/.godwit-kept/d.sqlite")
            try lab.file("._e.sqlite", [0, 5, 0x16, 7])
            let found = try lab.discover("")
            #expect(found.relatives == ["a.sqlite"])
            #expect(found.skipped.isEmpty)
        }
    }

    @Test func whatLooksLikeAStoreIsTold() throws {
        try DiscoveryLab.with { lab in
            try lab.store("good.sqlite", "alone.sqlite-wal")
            try lab.otherDatabase("cache.db")
            try lab.file("lost.sqlite-wal", [1])
            try lab.file("gone.sqlite-shm", [1])
            try lab.file("empty.DB", [])
            try lab.file("empty", [])
            try lab.file("thumbs.db", Array("hello".utf8))
            try lab.link("dangling.sqlite", to: "nowhere")
            lab.pipe("pipe.sqlite")
            lab.pipe("pipe")
            let found = try lab.discover("")
            #expect(found.relatives == ["good.sqlite"])
            let reasons = found.reasons(below: lab.folder)
            #expect(reasons["alone.sqlite-wal"] == .companionName)
            #expect(reasons["lost.sqlite-wal"] == .logWithoutDatabase)
            #expect(reasons["cache.db"] == .notACoreDataStore)
            #expect(reasons["empty.DB"] == .empty)
            #expect(reasons["thumbs.db"] == .notADatabase)
            #expect(reasons["pipe.sqlite"] == .notAFile(kind: "a pipe"))
            #expect(reasons.keys.contains("dangling.sqlite"))
            #expect(reasons.count == 7)
            let urgent = found.skipped.filter(\.needsAttention).map(\.path.lastComponent)
            #expect(urgent == ["alone.sqlite-wal", "dangling.sqlite", "lost.sqlite-wal"])
        }
    }

    /// The command that kept a file may have been killed before it could name it.
    @Test func keptFilesAreTold() throws {
        try DiscoveryLab.with { lab in
            try lab.store("a.sqlite", ".godwit-kept-1-a.sqlite")
            try lab.file(".godwit-kept-1-a.sqlite-wal", [1])
            try lab.file(".godwit-kept-2-a.sqlite-wal", [1])
            try lab.file(".godwit-unpublished-1", [1])
            let found = try lab.discover("")
            #expect(found.relatives == ["a.sqlite"])
            let reasons = found.reasons(below: lab.folder)
            #expect(
                reasons == [
                    ".godwit-kept-1-a.sqlite": .kept, ".godwit-kept-2-a.sqlite-wal": .kept,
                ])
            // Each is a store that a program has written.
            #expect(found.skipped.filter(\.needsAttention).count == 2)
        }
    }

    /// The file system that a link leads to may not be mounted.
    @Test func linksThatLeadNowhereAreReported() throws {
        try DiscoveryLab.with { lab in
            try lab.store("a.sqlite")
            for name in ["alice", "com.example.app", "b.sqlite", "icon.png", ".cache"] {
                try lab.link(FilePath(name), to: FilePath("/nowhere/\(name)"))
            }
            let found = try lab.discover("")
            let urgent = found.skipped.filter(\.needsAttention).map(\.path.lastComponent)
            #expect(Set(urgent) == ["alice", "b.sqlite", ".cache"])
        }
    }

    @Test func contentThatIsNotInTheDatabaseYetCounts() throws {
        try DiscoveryLab.with { lab in
            try lab.otherDatabase("fresh.sqlite")
            try lab.file("fresh.sqlite-wal", [1, 2, 3])
            try lab.otherDatabase("other.sqlite")
            try lab.file("other.sqlite-wal", [])
            let found = try lab.discover("")
            #expect(found.relatives == ["fresh.sqlite"])
            #expect(found.reasons(below: lab.folder) == ["other.sqlite": .notACoreDataStore])
        }
    }

    @Test func aDamagedStoreIsTakenSoThatItFailsLoudly() throws {
        try DiscoveryLab.with { lab in
            try lab.file("a.sqlite", Array("SQLite format 3\0".utf8) + [1, 2, 3])
            try lab.file("empty.STORE", [])
            try lab.file("text.sqlite", Array("hello".utf8))
            try lab.database("unnamed", "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER)")
            let found = try lab.discover("")
            #expect(found.relatives == ["a.sqlite", "empty.STORE", "text.sqlite", "unnamed"])
            #expect(found.skipped.isEmpty)
        }
    }

    @Test func namesOfAnyBytesWork() throws {
        try DiscoveryLab.with { lab in
            let names: [FilePath] = [
                "with space.sqlite", "quote\"'`.sqlite", "line\nbreak.sqlite", "tab\t.sqlite",
                "ü日本.sqlite", "-dash.sqlite", "*?[a].sqlite", "back\\slash.sqlite",
                FilePath(bytes: [0xFF, 0xFE, 0x2F] + Array("x.sqlite".utf8)),
                FilePath(bytes: [0xC3] + Array(".sqlite".utf8)),
                FilePath(bytes: Array(repeating: 0x61, count: 255)),
            ]
            for name in names { try lab.store(name) }
            #expect(try lab.discover("").relatives == names.sorted())
            for name in names {
                let named = try lab.discover(name)
                #expect(named.stores.map(\.path) == [lab.path(name)], "\(name)")
                #expect(named.skipped.isEmpty)
            }
            // The same through a list with NULs, and but for the line break through lines.
            let list = names.map(\.bytes).joined(separator: [0])
            try lab.file("list", Array(list))
            #expect(try lab.discover(lists: ["list"]).relatives == names.sorted())
            let lines = names.filter { !$0.bytes.contains(0x0A) }
            try lab.file("lines", Array(lines.map(\.bytes).joined(separator: [0x0A])))
            #expect(try lab.discover(lists: ["lines"]).relatives == lines.sorted())
        }
    }

    @Test func linksLeadNowhereElse() throws {
        try DiscoveryLab.with { lab in
            try lab.store("in/a.sqlite", "in/sub/b.sqlite", "out/c.sqlite", "out/d/e.sqlite")
            try lab.link("in/file.sqlite", to: "../out/c.sqlite")
            try lab.link("in/folder", to: "../out/d")
            try lab.link("in/same.sqlite", to: "a.sqlite")
            try lab.link("in/loop", to: ".")
            try lab.link("in/sub/up", to: "..")
            try lab.link("in/self.sqlite", to: "self.sqlite")
            try lab.link("in/down", to: "sub")
            let found = try lab.discover("in")
            #expect(found.relatives == ["a.sqlite", "sub/b.sqlite"])
            let reasons = found.reasons(below: lab.path("in"))
            #expect(
                reasons["file.sqlite"] == .storeOutside(target: lab.path("out/c.sqlite")))
            #expect(reasons["folder"] == .storeOutside(target: lab.path("out/d")))
            #expect(reasons.keys.contains("self.sqlite"))
            #expect(reasons.count == 3)
            // Patterns see the names of links; each file is still found once, and loops end.
            let linked = try lab.discover("in", include: ["down/*.sqlite"])
            #expect(linked.relatives == ["down/b.sqlite"])
            #expect(linked.stores.first?.location.database == lab.path("in/sub/b.sqlite"))
            #expect(
                try lab.discover("in", include: ["*.sqlite"]).relatives
                    == ["a.sqlite", "sub/b.sqlite"])
            // A link that was named is followed wherever it leads.
            let named = try lab.discover("in/file.sqlite", "in/folder")
            #expect(
                named.stores.map(\.path) == [
                    lab.path("in/file.sqlite"), lab.path("in/folder/e.sqlite"),
                ])
            #expect(named.stores.first?.location.database == lab.path("out/c.sqlite"))
        }
    }

    @Test func tooManyFoldersInsideEachOtherAreTold() throws {
        try DiscoveryLab.with { lab in
            let limit = DurableFileSystem.depthLimit
            let deepest = FilePath(Array(repeating: "d", count: limit).joined(separator: "/"))
            try lab.store(deepest.appending("a.sqlite"), deepest.appending("d/b.sqlite"))
            let found = try lab.discover("")
            #expect(found.relatives == [deepest.appending("a.sqlite")])
            #expect(found.reasons(below: lab.folder) == [deepest.appending("d"): .tooDeep])
        }
    }

    @Test(.enabled(if: geteuid() != 0, "root may read everything"))
    func whatMayNotBeReadIsToldAndTheSearchGoesOn() throws {
        try DiscoveryLab.with { lab in
            try lab.store("a/closed/x.sqlite", "b.sqlite", "c.sqlite")
            let manager = FileManager.default
            let closed = [lab.path("a/closed"), lab.path("b.sqlite")].compactMap(\.string)
            for path in closed {
                try manager.setAttributes([.posixPermissions: 0], ofItemAtPath: path)
            }
            defer {
                for path in closed {
                    try? manager.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
                }
            }
            let found = try lab.discover("")
            #expect(found.relatives == ["c.sqlite"])
            #expect(found.skipped.map(\.path) == [lab.path("a/closed"), lab.path("b.sqlite")])
            #expect(found.skipped.allSatisfy { "\($0.reason)".contains("EACCES") })
            #expect(found.skipped.allSatisfy { $0.needsAttention })
        }
    }

    @Test func aLimitEndsTheSearch() throws {
        try DiscoveryLab.with { lab in
            try lab.store("a", "b", "c")
            var selection = StoreSelection(paths: [lab.folder])
            selection.limit = 3
            #expect(try StoreSearch.discover(selection).stores.count == 3)
            selection.limit = 2
            #expect(throws: DurableFileError.overLimit(lab.folder, limit: 2)) {
                try StoreSearch.discover(selection)
            }
        }
    }

    @Test func ignoredFoldersAreNotSearched() throws {
        try DiscoveryLab.with { lab in
            try lab.store("a.sqlite", "output/a.sqlite")
            try lab.link("also", to: "output")
            var selection = StoreSelection(paths: [lab.folder])
            selection.ignoredFolders = [lab.path("also"), lab.path("missing")]
            #expect(try StoreSearch.discover(selection).relatives == ["a.sqlite"])
        }
    }

    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func everyStoreThatAppleWroteIsFound() throws {
        let folder = try #require(Fixtures.folder)
        let root = try DurableFileSystem().resolve(FilePath(folder.path))
        let found = try StoreSearch.discover(StoreSelection(paths: [root]))
        let paths = Set(found.stores.map(\.path))
        // Some fixtures are damaged or no stores on purpose; those are told.
        let told = Set(found.skipped.map(\.path))
        for url in try FixtureStores.all() {
            let path = try DurableFileSystem().resolve(FilePath(url.path))
            if path.components.contains(where: { StoreFileName.isSupportFolder($0) }) { continue }
            #expect(paths.contains(path) || told.contains(path), "\(path)")
        }
        #expect(!paths.isEmpty)
    }
}
