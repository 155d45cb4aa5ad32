import Foundation
import Glibc

/// A child process that ran to its end, as the operating system accounts for it.
struct MeasuredProcess {
    /// Wall-clock seconds.
    let seconds: Double
    /// Processor seconds, user and system.
    let processorSeconds: Double
    /// The most memory that was resident, in KiB.
    let peakKibibytes: Int

    /// Runs a program and waits for it.
    ///
    /// - Throws: `BenchError` when it cannot be started or does not end with 0.
    init(_ program: String, _ arguments: [String]) throws {
        var pointers = ([program] + arguments).map { strdup($0) }
        pointers.append(nil)
        defer { for pointer in pointers { free(pointer) } }
        var child: pid_t = 0
        let clock = ContinuousClock()
        let start = clock.now
        let code = posix_spawnp(&child, program, nil, nil, pointers, environ)
        guard code == 0 else { throw BenchError("\(program) cannot be started: error \(code)") }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(child, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw BenchError("\(program) cannot be waited for") }
        }
        let elapsed = clock.now - start
        guard status == 0 else { throw BenchError("\(program) ended with status \(status)") }
        let parts = elapsed.components
        seconds = Double(parts.seconds) + Double(parts.attoseconds) / 1e18
        processorSeconds = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        peakKibibytes = usage.ru_maxrss
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}

/// Why a benchmark could not be run.
struct BenchError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}

/// Several rounds of one side.
struct Rounds {
    private(set) var all: [MeasuredProcess] = []

    mutating func add(_ round: MeasuredProcess) { all.append(round) }

    /// Wall-clock seconds of each round.
    var seconds: [Double] { all.map(\.seconds) }

    /// A line: median and extremes of the wall clock, processor time, memory.
    func line(_ name: String) -> String {
        let peak = all.map(\.peakKibibytes).max() ?? 0
        let processor = Self.median(all.map(\.processorSeconds))
        return "\(name)  median \(Self.text(Self.median(seconds))) s "
            + "(\(Self.text(seconds.min() ?? 0)) to \(Self.text(seconds.max() ?? 0))), "
            + "processor \(Self.text(processor)) s, peak RSS \(peak / 1024) MiB"
    }

    static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        guard !sorted.isEmpty else { return 0 }
        let middle = sorted.count / 2
        return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
    }

    static func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
