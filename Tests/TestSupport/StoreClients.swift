import Foundation
import Glibc
import Synchronization
import Testing

/// A shell that works on a file and waits for a line on its standard input.
package final class ShellClient: @unchecked Sendable {
    private let shell = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var read = Data()

    /// - Parameters:
    ///   - script: for `/bin/sh`; the file is `$1`.
    ///   - file: the file.
    /// - Throws: what starting a process throws.
    package init(_ script: String, _ file: String) throws {
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", script, "sh", file]
        shell.standardInput = input
        shell.standardOutput = output
        try shell.runBounded()
    }

    package var process: Int32 { shell.processIdentifier }

    /// The next line that it prints; empty at the end.
    package func line() throws -> String {
        while true {
            if let end = read.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: read[..<end], as: UTF8.self)
                read = Data(read[read.index(after: end)...])
                return line
            }
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { return "" }
            read += more
        }
    }

    /// Writes a line to its standard input.
    package func write(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Lets it end, and waits for that.
    package func end() throws {
        try input.fileHandleForWriting.close()
        shell.waitUntilExit()
    }

    /// Kills it, and waits for that: one that waits in open(2) does not read its input.
    package func stop() {
        kill(shell.processIdentifier, SIGKILL)
        shell.waitUntilExit()
    }

    /// As `end`, on a thread that throws nothing.
    package func endOrReport() {
        do { try end() } catch { Issue.record("\(error)") }
    }
}

/// Files that this process has open without any lock.
package final class OpenDescriptors: Sendable {
    private let descriptors = Mutex<[Int32]>([])

    package init() {}

    /// Opens a file for reading.
    package func open(_ file: String) {
        let descriptor = Glibc.open(file, O_RDONLY | O_CLOEXEC)
        #expect(descriptor >= 0, "errno \(errno)")
        descriptors.withLock { $0.append(descriptor) }
    }

    /// Closes all of them.
    package func close() {
        descriptors.withLock { descriptors in
            for descriptor in descriptors { Glibc.close(descriptor) }
            descriptors = []
        }
    }

    deinit { close() }
}

/// Looks until something is true; false after a minute.
package func becomesTrue(_ condition: () throws -> Bool) rethrows -> Bool {
    let start = Date()
    while Date().timeIntervalSince(start) < 60 {
        if try condition() { return true }
        sched_yield()
    }
    return false
}
