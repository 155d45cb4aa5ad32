import Foundation
import GRDB
import Glibc
import TestSupport
import Testing

/// Bad stores, given to the built program: its status, what it says, and what it leaves.
@Suite struct HostileProcessTests {
    /// Each with the status that it ends with and words that it says.
    private static let cases: [(name: String, status: Int32, words: String)] = [
        ("text", 65, "not an SQLite database"), ("empty", 65, "is empty"),
        ("truncated", 65, "truncated"), ("pipe", 65, "it is a pipe"),
        ("folder", 64, "no store was found in folder"),
        ("absent", 64, "does not exist"), ("mirrored", 65, "CloudKit"),
        ("modelless", 65, "--from"), ("other", 65, "without Z_METADATA"),
        ("flipped", 65, "is not a readable"),
    ]

    private func prepare(_ folder: URL) throws {
        let place = { (name: String) in folder.appendingPathComponent(name) }
        try Data(repeating: 0x78, count: 5000).write(to: place("text"))
        try Data().write(to: place("empty"))
        #expect(mkfifo(place("pipe").path, 0o600) == 0)
        try FileManager.default.createDirectory(
            at: place("folder"), withIntermediateDirectories: false)
        for (name, sql) in [
            ("mirrored", "CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)"),
            ("modelless", "DROP TABLE Z_MODELCACHE"),
            ("other", "DROP TABLE Z_METADATA"), ("truncated", "SELECT 1"), ("flipped", "SELECT 1"),
        ] {
            _ = try Samples.makeStore(at: place(name))
            let queue = try DatabaseQueue(path: place(name).path)
            try queue.inDatabase { try $0.execute(sql: sql) }
            try queue.close()
        }
        var bytes = try Data(contentsOf: place("truncated"))
        try bytes.prefix(bytes.count / 8192 * 4096).write(to: place("truncated"))
        bytes.replaceSubrange(4096..<8192, with: Data(repeating: 0xA5, count: 4096))
        try bytes.write(to: place("flipped"))
    }

    @Test func badStoresHaveTheirStatus() throws {
        try withTemporaryFolder { folder in
            try prepare(folder)
            for one in Self.cases {
                let process = Process()
                process.executableURL = ProcessTests.program
                process.arguments = ["migrate", one.name, "--to", "self", "--output", "results"]
                process.currentDirectoryURL = folder
                let log = folder.appendingPathComponent("log.txt")
                try Data().write(to: log)
                process.standardOutput = FileHandle.nullDevice
                process.standardError = try FileHandle(forWritingTo: log)
                try process.runBounded()
                process.waitUntilExit()
                let text = String(decoding: try Data(contentsOf: log), as: UTF8.self)
                #expect(process.terminationStatus == one.status, "\(one.name): \(text)")
                #expect(text.contains(one.words) && text.contains(one.name), "\(text)")
                let results = folder.appendingPathComponent("results").path
                guard FileManager.default.fileExists(atPath: results) else { continue }
                let left = try FileManager.default.subpathsOfDirectory(atPath: results)
                #expect(!left.contains { $0.hasSuffix("snapshot") || $0.contains("unpublished") })
                #expect(!left.contains(one.name), "\(left)")
            }
        }
    }
}
