import DurableFiles
import Foundation
import TestSupport
import Testing

@testable import GodwitCommands

/// How workers that a command has started end with it.
@Suite struct WorkerEndTests {
    @Test func aWorkerThatDoesNotEndIsKilled() throws {
        try withTemporaryFolder { folder in
            let sign = folder.appendingPathComponent("ready").path
            // What is ignored stays so in the program that takes the shell's place.
            let deaf = WorkerProcess.Program(
                path: "/bin/sh",
                arguments: ["-c", "trap '' TERM; : > '\(sign)'; exec sleep 100000"])
            let willing = WorkerProcess.Program(
                path: "/bin/sh", arguments: ["-c", "exec sleep 100000"])
            let workers = try [deaf, willing].map { program in
                try WorkerProcess(name: "w", program: program) { death in
                    Issue.record("\(death.text)")
                }
            }
            #expect(becomesTrue { FileManager.default.fileExists(atPath: sign) })
            // It returns, and nobody is started again.
            WorkerProcess.end(workers, patience: .milliseconds(50))
        }
    }
}
