import ClusterProtocol
import DurableFiles
import Foundation
import Jobs
import RunReports
import TestSupport
import Testing

@testable import CommandSupport
@testable import RunCommands

/// What both sides of a cluster call a file.
@Suite struct ClientRootsTests {
    private let roots = ClientRoots(
        folders: ["data": "/srv/data", "deep": "/srv/data/deep", "all": "/", "b": "/srv/data"])

    private func reference(_ path: FilePath) throws -> FileReference {
        try roots.reference(to: path, given: path)
    }

    @Test func theLongestFolderWins() throws {
        #expect(
            try reference("/srv/data/deep/a.sqlite")
                == FileReference(root: "deep", path: "a.sqlite"))
        #expect(try reference("/srv/data/deeper/a") == FileReference(root: "b", path: "deeper/a"))
        #expect(try reference("/srv/data") == FileReference(root: "b", path: ""))
        #expect(try reference("/srv/data/") == FileReference(root: "b", path: ""))
        #expect(try reference("/etc//passwd") == FileReference(root: "all", path: "etc/passwd"))
        #expect(try reference("/") == FileReference(root: "all", path: ""))
    }

    @Test func bytesComeBack() throws {
        let path = FilePath(bytes: Array("/srv/data/".utf8) + [0xFF, 0x0A, 0x5C])
        let reference = try reference(path)
        #expect(reference.path == "\\xff\\x0a\\\\")
        #expect(FilePath(escaped: reference.path)?.bytes == [0xFF, 0x0A, 0x5C])
        #expect(try self.reference("/srv/data/**/*.sqlite").path == "**/*.sqlite")
    }

    @Test func whatNobodySharesIsRefused() throws {
        let roots = ClientRoots(folders: ["data": "/srv/data"])
        let failure = #expect(throws: CommandFailure.self) {
            try roots.reference(to: "/srv/database/a", given: "../database/a")
        }
        #expect(failure?.status == .usage)
        #expect(failure?.description.contains("../database/a") == true)
        #expect(failure?.description.contains("data=/srv/data") == true)
        #expect(throws: CommandFailure.self) {
            try roots.reference(to: "/srv/data/none/../a", given: "a")
        }
    }

    @Test(
        arguments: [
            [], ["data"], ["=/srv"], ["a b=/srv"], ["data="], ["d=/srv", "d=/etc"],
            [String(repeating: "n", count: 65) + "=/srv"], ["dä=/srv"],
        ])
    func optionsAreChecked(options: [String]) {
        let failure = #expect(throws: CommandFailure.self) { try ClientRoots(options) }
        #expect(failure?.status == .usage)
    }

    @Test func linksAndMissingPathsAreFound() throws {
        try withTemporaryFolder { url in
            let files = FileManager.default
            let real = url.appendingPathComponent("real")
            try files.createDirectory(at: real, withIntermediateDirectories: false)
            try Data().write(to: real.appendingPathComponent("a.sqlite"))
            try files.createSymbolicLink(
                at: url.appendingPathComponent("link"), withDestinationURL: real)
            let roots = try ClientRoots(["data=\(url.path)/link"])
            func path(_ name: String) -> FilePath { FilePath(url.path).appending(FilePath(name)) }
            #expect(
                try roots.reference(to: path("real/a.sqlite"), mustExist: true)
                    == FileReference(root: "data", path: "a.sqlite"))
            #expect(
                try roots.reference(to: path("link/*.sqlite"), mustExist: true).path == "*.sqlite")
            #expect(try roots.reference(to: path("link/out"), mustExist: false).path == "out")
            #expect(throws: CommandFailure.self) {
                try roots.reference(to: path("link/none"), mustExist: true)
            }
            // Nothing is known of a folder that only the coordinator has.
            let elsewhere = try ClientRoots(["data=\(url.path)/elsewhere"])
            #expect(
                try elsewhere.reference(to: path("elsewhere/b"), mustExist: true).path == "b")
        }
    }
}
