import DurableFiles
import Foundation
import Glibc
import TestSupport
import Testing

/// Folders that are held by descriptors.
@Suite struct HeldFolderTests {
    private func link(_ path: FilePath, to target: FilePath) throws {
        let result = path.description.withCString { path in
            target.description.withCString { symlink($0, path) }
        }
        try #require(result == 0)
    }

    private func opened(_ path: FilePath, in tree: HeldTree) throws {
        let file = try tree.openForReading(path)
        try file.close()
    }

    private func hold(_ path: FilePath) throws { _ = try HeldTree(path) }

    private func opened(_ name: FilePath, in folder: HeldFolder) throws {
        let file = try folder.openForReading(name)
        try file.close()
    }

    private func withResolved(_ body: (FilePath) throws -> Void) throws {
        try withFolder { try body(DurableFileSystem().resolve($0)) }
    }

    private func expectRefused(
        _ fault: FolderFault, _ body: () throws -> Void,
        _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: DurableFileError.self, sourceLocation: location) { try body() }
        guard case .refusedFolder(_, fault) = error else {
            Issue.record("\(String(describing: error))", sourceLocation: location)
            return
        }
    }

    @Test func linksAreNotFollowed() throws {
        try withResolved { folder in
            let files = DurableFileSystem()
            let (real, outside) = (folder.appending("real"), folder.appending("outside"))
            for made in [real, outside] { try files.makeFolder(made) }
            try files.write([1], to: outside.appending("file"))
            try link(real.appending("to-folder"), to: outside)
            try link(real.appending("to-file"), to: outside.appending("file"))
            try link(folder.appending("way"), to: real)
            let tree = try HeldTree(real)
            expectRefused(.symbolicLink) { try hold(folder.appending("way")) }
            expectRefused(.symbolicLink) { try hold(folder.appending("way/to-folder")) }
            expectRefused(.symbolicLink) {
                try tree.unlink(real.appending("to-folder/file"))
            }
            expectRefused(.symbolicLink) { try tree.makeFolder(real.appending("to-folder")) }
            expectRefused(.symbolicLink) {
                try tree.makeFolders(real.appending("to-folder/below"))
            }
            expectRefused(.symbolicLink) { try tree.check([real.appending("to-folder")]) }
            do {
                try opened(real.appending("to-file"), in: tree)
                Issue.record("a link was opened")
            } catch {
                guard case .notRegularFile? = error as? DurableFileError else { throw error }
            }
            let found = try tree.status(of: real.appending("to-file"))
            #expect(found?.isSymbolicLink == true)
            #expect(try files.names(in: outside) == ["file"])
        }
    }

    /// The user's folder, or one below it, is replaced by a link after it was opened.
    @Test func aHeldFolderStaysWhateverItsPathLeadsTo() throws {
        try withResolved { folder in
            let files = DurableFileSystem()
            let (home, below) = (folder.appending("home"), folder.appending("home/below"))
            let outside = folder.appending("outside")
            for made in [home, below, outside] { try files.makeFolder(made) }
            for place in [below, outside] { try files.write([7], to: place.appending("file")) }
            let tree = try HeldTree(home)
            _ = try tree.folder(below)
            try files.rename(below, to: folder.appending("aside"), existing: .refuse)
            try link(below, to: outside)
            try tree.link(below.appending("file"), to: below.appending("second"))
            try tree.rename(
                below.appending("second"), to: home.appending("third"), existing: .replace)
            try tree.unlink(below.appending("file"))
            try tree.create(below.appending("new")).close()
            #expect(try files.names(in: outside) == ["file"])
            #expect(try FileStatus(of: outside.appending("file")).links == 1)
            #expect(try files.names(in: folder.appending("aside")) == ["new"])
            try files.rename(home, to: folder.appending("home-aside"), existing: .refuse)
            try link(home, to: outside)
            try tree.unlink(home.appending("third"))
            try tree.makeFolder(home.appending("made"))
            #expect(try files.names(in: outside) == ["file"])
            #expect(
                try files.names(in: folder.appending("home-aside")) == ["below", "made"])
        }
    }

    @Test func treesAreRemovedWithoutFollowingLinks() throws {
        try withResolved { folder in
            let files = DurableFileSystem()
            let (tree, outside) = (folder.appending("tree"), folder.appending("outside"))
            try files.makeFolders(tree.appending("a/b/c"))
            try files.makeFolder(outside)
            try files.write([1], to: outside.appending("file"))
            try files.write([1], to: tree.appending("a/b/file"))
            try link(tree.appending("a/b/out"), to: outside)
            try link(tree.appending("a/dangling"), to: folder.appending("nowhere"))
            try HeldTree(folder).removeTree(tree)
            try HeldTree(folder).removeTree(tree)
            #expect(try files.names(in: folder) == ["outside"])
            #expect(try files.names(in: outside) == ["file"])
        }
    }

    /// `/proc` is a file system of its own on every machine.
    @Test func otherFileSystemsAreRefused() throws {
        let root = try HeldFolder("/")
        expectRefused(.otherFileSystem) { _ = try HeldFolder("proc", in: root) }
        expectRefused(.otherFileSystem) { try HeldTree("/").check(["/proc"]) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives folders to others"))
    func foldersOfOtherOwnersAreRefused() throws {
        try withResolved { folder in
            let files = DurableFileSystem()
            let (store, below) = (folder.appending("store"), folder.appending("below"))
            try files.write([1], to: store)
            try files.makeFolder(below)
            _ = chown(store.description, 4001, 4001)
            _ = chown(below.description, 4002, 4002)
            expectRefused(.otherOwner(4002, store: 4001)) {
                try HeldTree(folder, store: store).check([below])
            }
            try HeldTree(folder).check([below])
            for owner in [4001, 0] as [uid_t] {
                _ = chown(below.description, owner, 0)
                try HeldTree(folder, store: store).check([below])
            }
        }
    }

    /// A name is one entry: nothing else reaches the system.
    @Test(arguments: ["..", ".", "", "a/b", "/etc", "../a"])
    func namesAreSingleEntries(name: String) throws {
        try withResolved { folder in
            let held = try HeldFolder(folder)
            let name = FilePath(name)
            for action in [
                { _ = try held.entry(name) }, { try held.unlink(name) },
                { try held.removeFolder(name) }, { try held.makeFolder(name) },
                { _ = try held.removeTree(name) }, { try opened(name, in: held) },
                { try held.create(name).close() },
                { try held.rename("x", to: held, name, existing: .replace) },
            ] as [() throws -> Void] {
                let error = #expect(throws: DurableFileError.self) { try action() }
                guard case .refusedPath = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    /// A pipe does not block, and is no file.
    @Test func onlyRegularFilesAreOpened() throws {
        try withResolved { folder in
            let held = try HeldFolder(folder)
            try #require(mkfifo(folder.appending("pipe").description, 0o600) == 0)
            try held.makeFolder("folder")
            for name in ["pipe", "folder"] as [FilePath] {
                let error = #expect(throws: DurableFileError.self) {
                    try opened(name, in: held)
                }
                guard case .notRegularFile = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
            }
        }
    }

    /// Removal beside a user who turns a folder of the tree into a link and back.
    @Test func removalDoesNotLeaveTheTree() throws {
        try withResolved { folder in
            let files = DurableFileSystem()
            let outside = folder.appending("outside")
            try files.makeFolders(outside.appending("deep"))
            try files.write([1], to: outside.appending("deep/file"))
            try files.write([2], to: outside.appending("file"))
            let before = try files.tree(at: outside)
            var flips = 0
            var rounds = 0
            // On a busy machine the flipper may have no turn in many of them.
            while rounds < 50 || (flips <= 50 && rounds < 1000) {
                rounds += 1
                let tree = folder.appending("tree")
                try files.makeFolders(tree.appending("sub/deep"))
                for number in 0..<20 { try files.write([0], to: tree.appending("sub/\(number)")) }
                let flipper = Flipper(
                    tree.appending("sub").description, to: outside.description)
                let held = try HeldTree(folder)
                do { try held.removeTree(tree) } catch is DurableFileError {}
                flipper.stop()
                flips += flipper.flips
                try HeldTree(folder).removeTree(tree)
                #expect(try files.tree(at: outside) == before)
            }
            #expect(flips > 50)
        }
    }
}
