import Foundation
import Glibc

/// What the kernel accounts to a running process (proc(5)).
struct ProcessFigures {
    /// Processor seconds, user and system, to a hundredth.
    let processorSeconds: Double
    /// Resident memory, in KiB.
    let residentKibibytes: Int
    /// The most that was resident so far, in KiB.
    let peakKibibytes: Int

    /// - Throws: `BenchError` for a process that is not there any more.
    init(of process: Int32) throws {
        let stat = try Self.text("/proc/\(process)/stat")
        // The name in parentheses may hold anything.
        let fields = stat.drop { $0 != ")" }.split(separator: " ")
        // Fields 14 and 15, of which the first here is number 2.
        guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13])
        else { throw BenchError("/proc/\(process)/stat cannot be read") }
        processorSeconds = (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
        let status = try Self.text("/proc/\(process)/status").split(separator: "\n")
        func kibibytes(_ key: String) -> Int {
            let line = status.first { $0.hasPrefix(key + ":") }
            return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        }
        residentKibibytes = kibibytes("VmRSS")
        peakKibibytes = kibibytes("VmHWM")
    }

    private static func text(_ path: String) throws -> String {
        do {
            return try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw BenchError("\(path) cannot be read: the process has ended")
        }
    }
}

/// A program of ours that runs beside the benchmark until its input is closed or a signal comes.
final class CompanionProcess {
    private let process = Process()
    private let input = Pipe()
    private let name: String

    /// - Parameters:
    ///   - program: its path.
    ///   - arguments: those behind the name.
    ///   - log: where its standard error goes; nil shows it.
    /// - Throws: what `Process` throws for a program that cannot be started.
    init(_ program: String, _ arguments: [String], log: String? = nil) throws {
        name = ([program] + arguments.prefix(1)).joined(separator: " ")
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = input
        if let log {
            try Data().write(to: URL(fileURLWithPath: log))
            process.standardError = FileHandle(forWritingAtPath: log)
            process.standardOutput = process.standardError
        }
        try process.run()
    }

    var identifier: Int32 { process.processIdentifier }

    var isRunning: Bool { process.isRunning }

    func figures() throws -> ProcessFigures { try ProcessFigures(of: identifier) }

    /// Closes its input and waits for its end.
    ///
    /// - Throws: `BenchError` where it does not end with 0.
    func closeInput() throws {
        try input.fileHandleForWriting.close()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw BenchError("\(name) ended with \(process.terminationStatus)")
        }
    }

    /// Asks it to end and waits.
    func terminate() {
        process.terminate()
        process.waitUntilExit()
    }
}
