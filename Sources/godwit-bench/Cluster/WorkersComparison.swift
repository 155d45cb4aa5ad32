import ArgumentParser
import DurableFiles
import Foundation

/// `godwit migrate` with worker processes against the same with threads of its own process, or
/// with workers that are trusted.
struct WorkersComparison {
    /// What the worker processes are compared with.
    enum Peer: String {
        case threads, trusted

        /// The option that makes it.
        fileprivate var option: String {
            switch self {
            case .threads: "--in-process"
            case .trusted: "--trust-workers"
            }
        }
    }

    let place: BenchFolder
    /// What is migrated: a store, or a folder of them.
    let source: String
    let template: String
    let workers: Int
    let rounds: Int
    var peer = Peer.threads

    /// The program beside this one.
    static var program: String {
        FilePath(BenchFolder.program).parent.appending(FilePath("godwit")).description
    }

    private func output(_ isCluster: Bool) -> String {
        place.file(isCluster ? "results-workers" : "results-\(peer.rawValue)")
    }

    /// Runs both sides in turns and compares all results, byte for byte.
    ///
    /// - Returns: the rounds of both sides.
    /// - Throws: `BenchError` where results differ.
    func run() throws -> (workers: Rounds, threads: Rounds) {
        var sides = (workers: Rounds(), threads: Rounds())
        for round in 1...max(1, rounds) {
            for isCluster in round % 2 == 1 ? [true, false] : [false, true] {
                try empty(output(isCluster))
                let used = try measure(isCluster)
                print(
                    "round \(round): \(isCluster ? "workers" : peer.rawValue) "
                        + "\(Rounds.text(used.seconds)) s, processor "
                        + "\(Rounds.text(used.processorSeconds)) s")
                if isCluster { sides.workers.add(used) } else { sides.threads.add(used) }
            }
        }
        let different = try differences()
        guard different == 0 else { throw BenchError("\(different) results differ") }
        report(sides.workers, sides.threads)
        return sides
    }

    private func report(_ workers: Rounds, _ threads: Rounds) {
        print(workers.line("workers"))
        print(threads.line(peer.rawValue))
        for (name, values) in [
            ("ratio    ", zip(workers.seconds, threads.seconds).map { $0 / $1 }),
            (
                "processor",
                zip(workers.all, threads.all).map { $0.processorSeconds / $1.processorSeconds }
            ),
        ] {
            print(
                "\(name) workers/\(peer.rawValue) by round: median "
                    + "\(Rounds.text(Rounds.median(values))) "
                    + "(\(Rounds.text(values.min() ?? 0)) to \(Rounds.text(values.max() ?? 0)))")
        }
        print("results that differ: 0")
    }

    private func measure(_ isCluster: Bool) throws -> MeasuredProcess {
        let state = place.file("state")
        try empty(state)
        var arguments = [
            "-c", "exec \"$@\" > /dev/null", "sh", Self.program, "migrate", source, "--to",
            template, "--output", output(isCluster), "--state", state, "--workers", "\(workers)",
        ]
        if !isCluster { arguments.append(peer.option) }
        return try MeasuredProcess("sh", arguments)
    }

    private func empty(_ folder: String) throws {
        let manager = FileManager.default
        if manager.fileExists(atPath: folder) { try manager.removeItem(atPath: folder) }
        try manager.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    /// Results that one side has not, or has with other bytes.
    private func differences() throws -> Int {
        let names = [true, false].map { side in
            Set(
                (FileManager.default.enumerator(atPath: output(side))?.allObjects ?? [])
                    .compactMap { $0 as? String }.filter { $0.hasSuffix(".sqlite") })
        }
        guard !names[0].isEmpty else { throw BenchError("there are no results") }
        let common = try names[0].intersection(names[1]).filter { try differs($0) }
        return names[0].symmetricDifference(names[1]).count + common.count
    }

    private func differs(_ name: String) throws -> Bool {
        let files = try [true, false].map { side in
            try FileHandle(
                forReadingFrom: URL(fileURLWithPath: output(side) + "/" + name))
        }
        while true {
            let parts = try files.map { try $0.read(upToCount: 4 << 20) ?? Data() }
            if parts[0] != parts[1] { return true }
            if parts[0].isEmpty { return false }
        }
    }
}
