import DurableFiles
import Foundation
import TestSupport
import Testing

/// SQLite's own shell in a process of its own, which has a store open.
final class SQLiteClient {
    static let program = "/usr/bin/sqlite3"
    static let isThere = FileManager.default.isExecutableFile(atPath: program)

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    /// Starts the shell; it opens the store with its first statement.
    init(_ store: FilePath) throws {
        process.executableURL = URL(fileURLWithPath: Self.program)
        process.arguments = ["-batch", try #require(store.string)]
        process.standardInput = input
        process.standardOutput = output
        try process.runBounded()
    }

    /// Runs statements and waits until they are done.
    func run(_ sql: String) throws {
        input.fileHandleForWriting.write(Data("\(sql);\nSELECT 'ready';\n".utf8))
        var answer = Data()
        while !answer.ends(with: "ready\n") {
            let part = output.fileHandleForReading.availableData
            try #require(!part.isEmpty, "the shell ended")
            answer.append(part)
        }
    }

    /// Closes the store.
    func end() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    /// Ends without closing the store, as a process that is killed.
    func kill() {
        process.terminate()
        process.waitUntilExit()
    }
}

extension Data {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count) == Data(text.utf8) }
}
