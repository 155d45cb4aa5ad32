import DurableFiles
import Foundation
import TestSupport
import Testing

@Suite struct RootedPathTests {
    @Test(arguments: [
        "/etc/passwd", "..", "a/..", "../a", "a/../../b", "a//b", "a/", "./a", "a/.", "a\0b",
        String(repeating: "n", count: 256),
        Array(repeating: "abcdefg", count: 600).joined(separator: "/"),
    ])
    func pathsThatCouldLeaveAreRefused(text: String) throws {
        #expect(throws: DurableFileError.self) {
            try RootedPath(root: "stores", path: FilePath(text))
        }
        let json = try JSONEncoder().encode(["root": "stores", "path": FilePath(text).description])
        #expect(throws: (any Error).self) { try JSONDecoder().decode(RootedPath.self, from: json) }
    }

    @Test(arguments: ["", "a/b", "a b", "a\n", "a\0"])
    func rootsNeedPlainNames(root: String) {
        #expect(throws: DurableFileError.self) { try RootedPath(root: root, path: "a") }
    }

    @Test(arguments: ["", "a", "...", "..a/b..", "a b/'\n", "é/\u{1F426}"])
    func ordinaryPathsPass(text: String) throws {
        let rooted = try RootedPath(root: "stores", path: FilePath(text))
        let data = try JSONEncoder().encode(rooted)
        #expect(try JSONDecoder().decode(RootedPath.self, from: data) == rooted)
    }

    @Test func pathsAreResolvedInsideTheRoot() throws {
        try withFolder { outer in
            let files = DurableFileSystem()
            try files.makeFolders(outer.appending("root/a"))
            try files.makeFolder(outer.appending("elsewhere"))
            try files.write([1], to: outer.appending("root/a/file"))
            let root = try FileRoot(name: "stores", folder: outer.appending("root"))
            link(root.folder.appending("inside"), to: "a")
            link(root.folder.appending("outside"), to: "../elsewhere")
            link(root.folder.appending("dangling"), to: "nowhere")
            link(root.folder.appending("loop"), to: "loop")

            func resolve(_ text: String, _ links: LinkPolicy = .followed) throws -> FilePath {
                try root.resolve(
                    try RootedPath(root: "stores", path: FilePath(text)), links: links)
            }
            #expect(try resolve("") == root.folder)
            #expect(try resolve("a/file") == root.folder.appending("a/file"))
            #expect(try resolve("inside/file") == root.folder.appending("a/file"))
            #expect(try resolve("inside/new/deeper") == root.folder.appending("a/new/deeper"))
            // What was resolved before holds no link.
            #expect(try resolve("a/new", .refused) == root.folder.appending("a/new"))
            for text in ["inside", "inside/file", "inside/new"] {
                #expect(throws: DurableFileError.self) { try resolve(text, .refused) }
            }
            for text in ["outside", "outside/new", "dangling", "dangling/x", "loop/x"] {
                #expect(throws: DurableFileError.self) { try resolve(text) }
            }
            #expect(throws: DurableFileError.self) {
                try root.resolve(try RootedPath(root: "other", path: "a"))
            }

            let rooted = try root.rooted(root.folder.appending("a/file"))
            #expect(rooted == (try RootedPath(root: "stores", path: "a/file")))
            #expect("\(rooted)" == "stores:a/file")
            #expect(try root.rooted(root.folder).path == "")
            #expect(throws: DurableFileError.self) { try root.rooted(outer) }
        }
    }

    @Test func rootsAreResolvedThemselves() throws {
        try withFolder { outer in
            let files = DurableFileSystem()
            try files.makeFolder(outer.appending("real"))
            link(outer.appending("link"), to: "real")
            let root = try FileRoot(name: "stores", folder: outer.appending("link"))
            #expect(root.folder == (try files.resolve(outer).appending("real")))
            try files.write([1], to: outer.appending("file"))
            #expect(throws: DurableFileError.self) {
                try FileRoot(name: "stores", folder: outer.appending("file"))
            }
        }
    }
}
