import ClusterProtocol
import DurableFiles
import Foundation
import Jobs
import Logging
import StoreForge
import Synchronization
import TestSupport
import Testing
import Worker

@testable import CommandSupport

/// What `--log-level` and `--log-format` give.
@Suite struct LogTests {
    private final class Lines: Sendable {
        let all = Mutex<[String]>([])
        func take(_ line: String) { all.withLock { $0.append(line) } }
    }

    private func lines(
        _ level: Logger.Level, _ format: LogFormat, _ body: (Logger) -> Void
    ) -> [String] {
        let lines = Lines()
        body(
            Logger(label: "godwit") { _ in
                LineLogHandler(
                    level: level, format: format, wallTime: { 1_700_000_000_999 },
                    write: lines.take)
            })
        return lines.all.withLock { $0 }
    }

    private let failed = Note.store(
        StoreKey(run: "r1", number: 3), file: "a.sqlite",
        .attemptFailed(
            Note.JobAttempt(.whole, attempt: "r1-3-1", worker: "rack-7"),
            FailureReason(.sourceChanged, "the store changed")))

    @Test func aLineOfTextSaysWhenHowSevereAndWhere() {
        #expect(
            lines(.info, .text) { $0.info("coordinating at ipc:///c") } == [
                "2023-11-14T22:13:20Z info godwit: coordinating at ipc:///c"
            ])
        let line = lines(.info, .text) { $0.log(failed) }.first ?? ""
        #expect(line.hasPrefix("2023-11-14T22:13:20Z warning godwit: attempt-failed: r1/3: "))
        #expect(line.contains("rack-7"))
    }

    @Test func aLineOfJSONHasTheMetadata() throws {
        let line = lines(.info, .json) { $0.log(failed) }.first ?? ""
        let value = try JSONSerialization.jsonObject(with: Data(line.utf8))
        let entry = try #require(value as? [String: Any])
        #expect(entry["time"] as? String == "2023-11-14T22:13:20.999Z")
        #expect(entry["level"] as? String == "warning")
        #expect(entry["kind"] as? String == "attempt-failed")
        #expect(entry["run"] as? String == "r1")
        #expect(entry["store"] as? Int == 3)
        #expect(entry["job"] as? String == "whole")
        #expect(entry["attempt"] as? String == "r1-3-1")
        #expect(entry["worker"] as? String == "rack-7")
        #expect((entry["message"] as? String)?.contains("the store changed") == true)
        #expect(!line.contains("\n"))
    }

    /// A control character of a message cannot forge a line.
    @Test func aMessageIsOneLine() {
        let text = lines(.info, .json) { $0.info("a\nb\u{1B}[2J") }
        #expect(
            text.count == 1 && text.allSatisfy { $0.unicodeScalars.allSatisfy { $0.value >= 32 } })
    }

    @Test func whatComesWithEveryJobIsForDebugging() {
        let accepted = Note.store(
            StoreKey(run: "r1", number: 1), .accepted(.whole, rows: 1, bytes: 2))
        for note in [accepted, Note.denied(attempt: "r1-1-1", .staleEpoch)] {
            #expect(lines(.info, .text) { $0.log(note) }.isEmpty)
            #expect(lines(.debug, .text) { $0.log(note) }.count == 1)
        }
        #expect(lines(.info, .text) { $0.log(WorkerNote.slotBegan(slot: 1)) }.isEmpty)
        let broken = Note.broken("a bug")
        #expect(lines(.critical, .text) { $0.log(broken) }.count == 1)
        #expect(lines(.critical, .text) { $0.log(failed) }.isEmpty)
    }

    /// The log takes the place of the live view; standard output stays the report's.
    @Test func migrateWritesALogWhereOneIsAskedFor() throws {
        let program = ProcessTests()
        try withTemporaryFolder { folder in
            let path = FilePath(folder.path)
            try FileManager.default.createDirectory(
                at: folder.appendingPathComponent("data"), withIntermediateDirectories: false)
            try ForgedStore.notes(
                at: path.appending("data/a.sqlite"), version: 1, notes: 40, seed: 1)
            try ForgedStore.notes(at: path.appending("t.sqlite"), version: 2, notes: 1, seed: 2)
            let ended = try program.run(
                [
                    "migrate", "data", "--to", "t.sqlite", "--state", "state", "--log-level",
                    "debug", "--log-format", "json",
                ], in: folder)
            #expect(ended.status == 0, "\(ended.log)")
            let entries = try ended.log.split(separator: "\n").map { line in
                try #require(
                    try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            }
            let kinds = Set(entries.compactMap { $0["kind"] as? String })
            #expect(kinds.isSuperset(of: ["run-opened", "job-accepted", "store-done"]), "\(kinds)")
            #expect(entries.allSatisfy { $0["time"] is String && $0["message"] is String })
            #expect(ended.output.contains("data/a.sqlite"), "\(ended.output)")
        }
    }
}
