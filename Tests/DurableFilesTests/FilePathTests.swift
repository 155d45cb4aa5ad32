import DurableFiles
import Foundation
import TestSupport
import Testing

@Suite struct FilePathTests {
    @Test(arguments: [
        ("/a/b", "/a", "b"), ("/a", "/", "a"), ("/", "/", ""), ("a", ".", "a"),
        ("a/b/", "a", "b"), ("/a//b", "/a", "b"), ("//a", "/", "a"), ("", ".", ""),
    ])
    func partsOfPaths(path: String, parent: String, last: String) {
        #expect(FilePath(path).parent == FilePath(parent))
        #expect(FilePath(path).lastComponent == FilePath(last))
    }

    @Test func pathsAreJoined() {
        #expect(FilePath("/a").appending("b/c") == "/a/b/c")
        #expect(FilePath("/").appending("b") == "/b")
        #expect(FilePath("").appending("b") == "b")
        #expect(FilePath("a").appending("") == "a")
        #expect(FilePath("/a/store").adding(suffix: "-wal") == "/a/store-wal")
        #expect(FilePath("/a/b").isInside("/a") && FilePath("/a").isInside("/a"))
        #expect(FilePath("/b").isInside("/") && !FilePath("/ab").isInside("/a"))
    }

    @Test func textIsEscapedInOneLineAndReadBack() throws {
        let path = FilePath(bytes: [0x61, 0x0A, 0xFF, 0x5C, 0xC3, 0xA9, 0x27, 0x20, 0xC3])
        #expect(path.description == "a\\x0a\\xff\\\\é' \\xc3")
        #expect(FilePath(escaped: path.description) == path)
        #expect(path.string == nil)
        #expect(FilePath("é").string == "é")
        // A mark that turns the reading direction would forge a log line.
        #expect(FilePath("a\u{202E}b").description == "a\\xe2\\x80\\xaeb")
        for broken in ["\\", "\\x", "\\x1", "\\xg1", "\\n"] {
            #expect(FilePath(escaped: broken) == nil)
        }
        let data = try JSONEncoder().encode([path])
        #expect(try JSONDecoder().decode([FilePath].self, from: data) == [path])
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(FilePath.self, from: Data(#""\\q""#.utf8))
        }
    }

    @Test(arguments: 1...40)
    func anyBytesComeBackFromTheirText(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let pool: [UInt8] = [
            0x5C, 0x78, 0x30, 0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x0A, 0x2F,
        ]
        let bytes = (0..<60).map { _ in
            Bool.random(using: &generator)
                ? pool.randomElement(using: &generator) ?? 0
                : UInt8.random(in: 0...255, using: &generator)
        }
        let text = FilePath(bytes: bytes).description
        #expect(FilePath(escaped: text)?.bytes == bytes)
        #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
    }

    @Test func addressesConvertBothWays() throws {
        let path = try #require(FilePath(URL(fileURLWithPath: "/a b/c'é%20")))
        #expect(path == "/a b/c'é%20")
        #expect(path.url?.path == "/a b/c'é%20")
        #expect(FilePath(bytes: [0xFF]).url == nil)
        #expect(FilePath(try #require(URL(string: "https://example.com/a"))) == nil)
    }

    @Test func unusablePathsAreRefusedNotCut() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            try files.write([1], to: folder.appending("store"))
            let cut = FilePath(bytes: folder.appending("store").bytes + [0] + Array("x".utf8))
            #expect(throws: DurableFileError.refusedPath(cut, reason: "it holds a NUL byte")) {
                try FileStatus(of: cut)
            }
            #expect(throws: DurableFileError.refusedPath("", reason: "it is empty")) {
                try FileStatus(of: "")
            }
        }
    }

    /// Names that shells, URLs and text trip over are ordinary names.
    @Test(arguments: [
        Array("with blank 'quotes' \" and\nnewline".utf8), [0xFF, 0xFE, 0x80],
        Array(repeating: UInt8(ascii: "n"), count: 255), Array("-rf".utf8), Array("%2F\\".utf8),
    ])
    func oddNamesWork(name: [UInt8]) throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let path = folder.appending(FilePath(bytes: name))
            try files.publish([1, 2], to: path)
            try files.publish([1, 2, 3], to: path)
            #expect(try files.read(path) == [1, 2, 3])
            #expect(try files.names(in: folder) == [FilePath(bytes: name)])
            #expect(try files.resolve(path).lastComponent.bytes == name)
            let copy = folder.appending("copy")
            _ = try files.clone(from: path, to: copy)
            #expect(try files.read(copy) == [1, 2, 3])
        }
    }
}
