import CLinux
import DurableFiles
import Foundation
import Glibc
import TestSupport
import Testing

@testable import Worker

/// What becomes of slots when their parent goes, and of a parent that starts many.
@Suite(.serialized) struct ParentTests {
    private func start(_ arguments: [String]) throws -> (Process, FileHandle, FileHandle) {
        let process = Process()
        process.executableURL = PoolLab.program
        process.arguments = arguments
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.runBounded()
        return (process, input.fileHandleForWriting, output.fileHandleForReading)
    }

    @Test func noSlotSurvivesItsParent() throws {
        let (process, input, output) = try start(["parent"])
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(output.fileDescriptor, &bytes, bytes.count)
        let line = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
        let children = line.split(whereSeparator: \.isWhitespace).compactMap { Int64($0) }
        try #require(children.count == 2)
        let ends = children.map { clinux_child_descriptor($0) }
        #expect(ends.allSatisfy { $0 >= 0 })
        // Alive until their parent goes, also the one whose job loops.
        for end in ends { #expect(clinux_wait_readable(end, 0) == 0) }
        #expect(kill(process.processIdentifier, SIGKILL) == 0)
        for end in ends {
            #expect(clinux_wait_readable(end, 60_000) == 1)
            _ = clinux_close(end)
        }
        process.waitUntilExit()
        try input.close()
    }

    @Test func theFileThatCannotBeUsedIsNamed() throws {
        let plan = try PoolLab.plan(1)
        let program = try PoolLab.slotProgram()
        func text(_ program: SlotProgram, input: FilePath) throws -> String {
            try #require(throws: SlotError.self) {
                _ = try SlotProcess(
                    program, setup: plan.setup, limits: plan.limits, input: input)
            }.description
        }
        #expect(
            try text(program, input: FilePath("/does/not/exist"))
                == "opening /does/not/exist for a slot failed: ENOENT; check that it exists")
        // No user can write or execute a folder.
        #expect(
            try text(program, input: FilePath("/")).hasPrefix("opening / for a slot failed"))
        let folder = SlotProgram(path: FilePath("/"), arguments: [])
        #expect(
            try text(folder, input: FilePath("/dev/null"))
                == "starting / failed: EACCES; give this user permission for it")
    }

    @Test func startsAndStopsLeaveNothingBehind() throws {
        let (process, input, output) = try start(["cycles", "40"])
        let text = String(decoding: output.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try input.close()
        #expect(text == "0 0\n")
        #expect(process.terminationStatus == 0)
    }
}
