import CommandSupport
import DurableFiles
import Foundation
import RunReports

/// Photos from programs that write them to standard output, each behind its length in eight bytes,
/// lowest first.
struct PhotoSource: Sendable {
    private let programs: [(process: Process, output: FileHandle)]
    private let count: Int

    /// Longer ones would not come from our program.
    private static let longest: UInt64 = 64 << 20

    /// Starts the programs.
    ///
    /// - Parameters:
    ///   - path: of the program.
    ///   - count: of photos.
    /// - Throws: `CommandFailure` for a program that cannot be started.
    init(program path: FilePath, count: Int) throws {
        // Two make photos in turns, because one is slower than writing them.
        programs = try (0..<2).map { number in
            let process = Process()
            let pipe = Pipe()
            process.executableURL = URL(fileURLWithPath: path.description)
            process.arguments = ["\(number)", "\((count + 1 - number) / 2)", "2"]
            process.standardOutput = pipe
            process.standardInput = FileHandle.nullDevice
            do {
                try process.run()
            } catch {
                throw CommandFailure.usage(
                    "\(path) cannot be started: build the package of the example")
            }
            return (process, pipe.fileHandleForReading)
        }
        self.count = count
    }

    /// The next photo of the program whose turn it is; nil after the last one.
    func photo(_ number: Int) throws -> [UInt8]? {
        guard number < count else { return nil }
        let output = programs[number % programs.count].output
        let length = try Self.bytes(8, of: output).reversed().reduce(UInt64(0)) {
            $0 << 8 | UInt64($1)
        }
        guard length <= Self.longest else { throw Self.failure }
        return try Self.bytes(Int(length), of: output)
    }

    /// Waits for the ends of the programs.
    ///
    /// - Throws: `CommandFailure` for one that failed.
    func finish() throws {
        for program in programs {
            program.process.waitUntilExit()
            guard program.process.terminationStatus == 0 else { throw Self.failure }
        }
    }

    private static let failure = CommandFailure(.bug, "the program that makes photos failed")

    private static func bytes(_ count: Int, of output: FileHandle) throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            guard let read = try output.read(upToCount: count - bytes.count), !read.isEmpty else {
                throw failure
            }
            bytes.append(contentsOf: read)
        }
        return bytes
    }
}
