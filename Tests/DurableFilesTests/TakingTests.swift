import DurableFiles
import Glibc
import TestSupport
import Testing

/// Files that another user made become our own, and paths with links lead nowhere.
@Suite struct TakingTests {
    private let files = DurableFileSystem(links: .refused)

    private func withFolders(_ body: (FilePath, FilePath) throws -> Void) throws {
        try withFolder { folder in
            let real = try files.resolve(folder)
            let (theirs, ours) = (real.appending("theirs"), real.appending("ours"))
            try files.makeFolder(theirs)
            try files.makeFolder(ours)
            try body(theirs, ours)
        }
    }

    @Test func aFileWithoutWritersMoves() throws {
        try withFolders { theirs, ours in
            try files.write([1, 2, 3], to: theirs.appending("f"))
            let before = try FileStatus(of: theirs.appending("f")).identity.inode
            try files.take("f", from: theirs, into: ours, limit: 3)
            #expect(try files.names(in: theirs) == [])
            #expect(try files.read(ours.appending("f")) == [1, 2, 3])
            #expect(try FileStatus(of: ours.appending("f")).identity.inode == before)
            // It can be asked for again.
            try files.take("f", from: theirs, into: ours, limit: 3)
        }
    }

    @Test(arguments: ["writer", "reader", "second name"])
    func aFileThatSomebodyHoldsIsCopied(way: String) throws {
        try withFolders { theirs, ours in
            let path = theirs.appending("f")
            try files.write([1, 2, 3], to: path)
            let kept = try way == "reader" ? files.openForReading(path) : files.openForWriting(path)
            if way == "second name" {
                try files.linkWithoutSync(from: path, to: theirs.appending("g"))
            }
            try files.take("f", from: theirs, into: ours, limit: 3)
            if way == "reader" {
                // Who has a file open for reading can open it again for writing.
                let again = try DurableFileSystem(links: .followed).openForWriting(
                    FilePath("/proc/self/fd/\(kept.descriptor)"))
                try again.write([9], at: 0)
                try again.close()
            } else {
                try kept.write([9], at: 0)
            }
            #expect(try files.read(ours.appending("f")) == [1, 2, 3])
            #expect(try files.names(in: ours) == ["f"])
            try kept.close()
        }
    }

    @Test(arguments: ["link", "pipe", "folder", "missing", "large"])
    func whatIsNoSuchFileIsRefused(kind: String) throws {
        try withFolders { theirs, ours in
            let path = theirs.appending("f")
            try files.write([1], to: theirs.appending("outside"))
            switch kind {
            case "link": #expect(symlink("outside", path.description) == 0)
            case "pipe": #expect(mkfifo(path.description, 0o600) == 0)
            case "folder": try files.makeFolder(path)
            case "large": try files.write([1, 2, 3], to: path)
            default: break
            }
            #expect(throws: DurableFileError.self) {
                try files.take("f", from: theirs, into: ours, limit: 2)
            }
            #expect(try files.names(in: ours) == [])
            #expect(try files.read(theirs.appending("outside")) == [1])
        }
    }

    @Test func pathsWithLinksAreRefused() throws {
        try withFolders { theirs, ours in
            try files.write([1], to: theirs.appending("f"))
            #expect(symlink(theirs.description, ours.appending("folder").description) == 0)
            #expect(symlink("../theirs/f", ours.appending("file").description) == 0)
            for name in ["folder/f", "file"] {
                let path = ours.appending(FilePath(name))
                #expect(try DurableFileSystem(links: .followed).read(path) == [1])
                let error = #expect(throws: DurableFileError.self) { try files.read(path) }
                guard case .refusedPath = error else {
                    Issue.record("\(String(describing: error))")
                    continue
                }
            }
            #expect(throws: DurableFileError.self) { try files.names(in: ours.appending("folder")) }
            #expect(throws: DurableFileError.self) {
                try files.write([2], to: ours.appending("folder/new"))
            }
            #expect(try files.names(in: theirs) == ["f"])
        }
    }
}
