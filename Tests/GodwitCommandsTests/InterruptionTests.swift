import CoreDataStore
import DurableFiles
import FaultSupport
import Foundation
import Glibc
import ManagedObjectModel
import SafeSQLite
import TestSupport
import Testing
import Threads

@testable import CommandSupport
@testable import GodwitCommands

/// Signals that ask the built program to end: its scratch folders go with it.
@Suite struct InterruptionTests {
    /// The program with a pipe that is full as standard error: it stops where it first has
    /// something to say, and would never return.
    private struct Stopped {
        let process = Process()
        let folder: URL
        private let pipe = Pipe()

        /// Starts the program; its scratch folders go to `tmp`.
        init(_ words: [String], through shell: String? = nil, in folder: URL) throws {
            self.folder = folder
            let temporary = folder.appendingPathComponent("tmp")
            try FileManager.default.createDirectory(
                at: temporary, withIntermediateDirectories: false)
            fill()
            // The tests may themselves run where signals are ignored.
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let program = shell.map { ["/bin/sh", "-c", $0] } ?? []
            process.arguments =
                ["--default-signal"] + program + [ProcessTests.program.path] + words
            process.currentDirectoryURL = folder
            var environment = ProcessInfo.processInfo.environment
            environment["TMPDIR"] = temporary.path
            process.environment = environment
            process.standardOutput = FileHandle.nullDevice
            process.standardError = pipe
            try process.runBounded()
        }

        private func fill() {
            let descriptor = pipe.fileHandleForWriting.fileDescriptor
            let flags = fcntl(descriptor, F_GETFL)
            _ = fcntl(descriptor, F_SETFL, flags | O_NONBLOCK)
            let block = [UInt8](repeating: 0x20, count: 4096)
            while write(descriptor, block, block.count) > 0 {}
            _ = fcntl(descriptor, F_SETFL, flags)
        }

        /// Names in the folder for scratch folders.
        func scratch() -> [String] {
            let path = folder.appendingPathComponent("tmp").path
            do { return try FileManager.default.contentsOfDirectory(atPath: path) } catch {
                return ["\(error)"]
            }
        }

        /// Whether something comes to be before the program ends.
        func reaches(_ condition: () -> Bool) -> Bool {
            for _ in 0..<10_000_000 where process.isRunning {
                if condition() { return true }
                sched_yield()
            }
            return false
        }

        /// Sends signals, waits for the end, and checks that the last of them was the reason.
        func end(by signals: Int32...) {
            for signal in signals { kill(process.processIdentifier, signal) }
            process.waitUntilExit()
            #expect(process.terminationReason == .uncaughtSignal)
            #expect(process.terminationStatus == signals.last)
            #expect(scratch().isEmpty)
        }
    }

    /// A store and a model that is warned of.
    private func prepare(_ folder: URL) throws {
        _ = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
        var hashes = VersionHashes(try Samples.garage()).entities
        hashes["Car"] = Array(repeating: 7, count: 32)
        try Samples.makeCompiled(at: folder.appendingPathComponent("Odd.momd"), hashes: hashes)
    }

    @Test(arguments: [SIGHUP, SIGINT, SIGTERM])
    func scratchFoldersGoWithTheProcess(_ signal: Int32) throws {
        try withTemporaryFolder { folder in
            try prepare(folder)
            let stopped = try Stopped(["plan", "a.sqlite", "--to", "Odd.momd"], in: folder)
            #expect(stopped.reaches { !stopped.scratch().isEmpty })
            stopped.end(by: signal)
        }
    }

    @Test func snapshotsGoWithTheProcess() throws {
        try withTemporaryFolder { folder in
            let path = try Samples.makeStore(at: folder.appendingPathComponent("a.sqlite"))
            _ = try Samples.makeStore(at: folder.appendingPathComponent("b.sqlite"))
            // Kept open, so that the log keeps its content.
            let writer = try Connection(path: path, mode: .create)
            try writer.execute("INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT) VALUES (9, 3, 1)")
            // Stores of one version are warned of once both are open.
            let stopped = try Stopped(["verify", "a.sqlite", "b.sqlite"], in: folder)
            let isThere = stopped.reaches {
                stopped.scratch().contains { name in
                    FileManager.default.fileExists(
                        atPath: folder.appendingPathComponent("tmp/\(name)/source/snapshot").path)
                }
            }
            #expect(isThere)
            stopped.end(by: SIGTERM)
            try writer.close()
        }
    }

    /// What a stopped run leaves beside its result is removed by the next one.
    @Test func migrationsCanBeEndedAndRunAgain() throws {
        try withTemporaryFolder { folder in
            let store = folder.appendingPathComponent("a.sqlite")
            _ = try Samples.makeStore(at: store)
            let before = try Data(contentsOf: store)
            let words = [
                "migrate", "a.sqlite", "--to", "self", "--output", "b",
                "--allow-missing-external",
            ]
            let stopped = try Stopped(words, in: folder)
            let run = folder.appendingPathComponent("b/.godwit/ledger.sqlite").path
            #expect(stopped.reaches { FileManager.default.fileExists(atPath: run) })
            stopped.end(by: SIGTERM)
            #expect(try Data(contentsOf: store) == before)
            let result = folder.appendingPathComponent("b/a.sqlite").path
            #expect(!FileManager.default.fileExists(atPath: result))
            let again = try ProcessTests().run(words, in: folder)
            #expect(again.status == 0, "\(again.log)")
            #expect(FileManager.default.fileExists(atPath: result))
            let left = try FileManager.default.contentsOfDirectory(
                atPath: folder.appendingPathComponent("b").path)
            #expect(Set(left) == [".godwit", "a.sqlite"])
        }
    }

    /// `nohup` and shells that start jobs in the background ask for signals to be ignored.
    @Test func ignoredSignalsStayIgnored() throws {
        try withTemporaryFolder { folder in
            try prepare(folder)
            let stopped = try Stopped(
                ["plan", "a.sqlite", "--to", "Odd.momd"],
                through: "trap '' HUP INT; exec \"$0\" \"$@\"", in: folder)
            #expect(stopped.reaches { !stopped.scratch().isEmpty })
            stopped.end(by: SIGHUP, SIGINT, SIGTERM)
        }
    }

    @Test func foldersGoThoughOthersWriteIntoThem() throws {
        try withTemporaryFolder { folder in
            let scratch = FilePath(folder.path).appending("scratch")
            let files = DurableFileSystem()
            try files.makeFolders(scratch.appending("a").appending("b"))
            let writer = try OwnedThread(name: "writer") {
                for number in 0..<200 {
                    do throws(DurableFileError) {
                        try files.makeFolder(scratch.appending("a").appending("\(number)"))
                    } catch {
                        return
                    }
                }
            }
            #expect(Interruption.remove([scratch, scratch.appending("never there")]) == [])
            writer.join()
            #expect(try FileStatus.ifPresent(scratch) == nil)
        }
    }

    @Test func foldersAreMadeAndForgotten() throws {
        try withTemporaryFolder { folder in
            let interruption = Interruption()
            let scratch = FilePath(folder.path).appending("scratch")
            try interruption.make(scratch)
            #expect(try FileStatus(of: scratch).isFolder)
            try interruption.remove(scratch)
            #expect(try FileStatus.ifPresent(scratch) == nil)
            interruption.gate()
        }
    }
}
