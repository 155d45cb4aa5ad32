import CLinux
import CoreDataStore
import DurableFiles
import Foundation
import Glibc
import Jobs
import ManagedObjectModel
import RunLedger
import StoreForge
import TestSupport
import Testing
import Threads

@testable import StoreRuns

/// The built programs over stores in a folder.
struct ClusterProcess {
    let folder: URL

    /// How a process ended.
    struct Ended {
        let status: Int32
        let wasKilled: Bool
        let output: String
        let log: String
    }

    static var programs: URL {
        URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
            .deletingLastPathComponent()
    }
    static var godwit: URL { programs.appendingPathComponent("godwit") }
    static var faulty: URL { programs.appendingPathComponent("faulty-slot") }

    static func run(_ body: (ClusterProcess) throws -> Void) throws {
        try withTemporaryFolder { folder in
            let lab = ClusterProcess(folder: folder)
            try FileManager.default.createDirectory(
                at: lab.data, withIntermediateDirectories: false)
            try lab.forge(lab.template, version: 2, seed: 9)
            try body(lab)
        }
    }

    var data: URL { folder.appendingPathComponent("data") }
    var template: URL { folder.appendingPathComponent("template.sqlite") }
    var output: URL { folder.appendingPathComponent("out") }
    var ledger: FilePath { FilePath(folder.appendingPathComponent("state").path) }

    func forge(_ url: URL, version: Int = 1, notes: Int = 40, seed: UInt64) throws {
        try ForgedStore.notes(at: FilePath(url.path), version: version, notes: notes, seed: seed)
    }

    /// Makes stores with names in the order of their numbers.
    func forge(stores count: Int, notes: Int = 40) throws {
        for number in 1...count {
            try forge(store(number), notes: notes, seed: UInt64(number))
        }
    }

    func store(_ number: Int) -> URL { data.appendingPathComponent("s\(number).sqlite") }

    /// The options of a migration of all stores, beside how it is run.
    func migration(_ more: [String] = []) -> [String] {
        ["migrate", data.path, "--to", template.path, "--state", ledger.description] + more
    }

    func start(
        _ arguments: [String], program: URL = godwit, faults: String = "", log: URL,
        output: URL? = nil
    ) throws -> Process {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.currentDirectoryURL = folder
        var environment = ProcessInfo.processInfo.environment
        environment["GODWIT_FAULTS"] = faults
        process.environment = environment
        for file in [log, output].compactMap(\.self) { try Data().write(to: file) }
        process.standardError = try FileHandle(forWritingTo: log)
        process.standardOutput =
            try output.map { try FileHandle(forWritingTo: $0) } ?? FileHandle.nullDevice
        try process.runBounded()
        return process
    }

    @discardableResult
    func run(_ arguments: [String], faults: String = "") throws -> Ended {
        let name = UUID().uuidString
        let (output, log) = (
            folder.appendingPathComponent("out-\(name)"),
            folder.appendingPathComponent("log-\(name)")
        )
        let process = try start(arguments, faults: faults, log: log, output: output)
        process.waitUntilExit()
        func text(_ url: URL) throws -> String {
            String(decoding: try Data(contentsOf: url), as: UTF8.self)
        }
        return Ended(
            status: process.terminationStatus,
            wasKilled: process.terminationReason == .uncaughtSignal, output: try text(output),
            log: try text(log))
    }

    /// Sanitizers reserve more address space than any limit leaves.
    static let canLimitMemory =
        (Int64(0)..<Int64(64 << 30)).contains(clinux_address_space_size())

    /// Options that run a migration with workers that misbehave where they are told to.
    static func faulty(workers: Int) -> [String] {
        let memory = canLimitMemory ? ["--worker-memory", "2GiB"] : []
        return ["--workers", "\(workers)", "--worker-command", faulty.path]
            + ["--worker-timeout", "3"] + memory
    }

    /// Every file of a folder that belongs to a store, by its path there.
    func contents(of root: URL) throws -> [String: Data] {
        var found: [String: Data] = [:]
        guard
            let walk = FileManager.default.enumerator(
                at: root, includingPropertiesForKeys: [.isRegularFileKey])
        else { return found }
        while let file = walk.nextObject() as? URL {
            let name = String(file.path.dropFirst(root.path.count))
            if name.contains("/.godwit") || name.hasSuffix("-shm") { continue }
            guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true
            else { continue }
            let bytes = try Data(contentsOf: file)
            // A log that is empty says what none says.
            if name.hasSuffix("-wal"), bytes.isEmpty { continue }
            found[name] = bytes
        }
        return found
    }

    /// What a run in one process makes of the stores as they are, which stay so.
    func expected(_ more: [String] = []) throws -> [String: Data] {
        let copy = folder.appendingPathComponent("copy-\(UUID().uuidString)")
        try FileManager.default.copyItem(at: data, to: copy)
        let ended = try run(
            [
                "migrate", copy.path, "--to", template.path, "--state", copy.path + "-state",
                "--in-process",
            ] + more)
        #expect(ended.status == 0, "\(ended.log)")
        return try contents(of: copy)
    }

    /// What the ledger has counted of the newest run.
    func counts() throws -> AttemptCounts {
        let records = try RunRecords(state: ledger)
        let counts = try records.attempts(of: try records.run(nil).id)
        try records.close()
        return counts
    }

    /// Why a store of the newest run failed; nil where it did not.
    func failure(of number: Int) throws -> FailureCause? {
        let records = try RunRecords(state: ledger)
        var found: FailureCause?
        try records.forEachStore(of: try records.run(nil).id) { store, _ in
            if store.found.path.lastComponent.description == "s\(number).sqlite" {
                found = store.reason?.cause
            }
        }
        try records.close()
        return found
    }

    /// Work done twice in the newest run, by the ledger.
    func redone() throws -> Int { try counts().afterAcceptance }

    /// Names beside the stores that a finished run must not leave.
    func strays() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: data.path).filter {
            $0.hasPrefix(".godwit") && !$0.contains("backup")
        }
    }

    /// Looks at something until it holds.
    static func wait(_ what: String, until condition: () throws -> Bool) throws {
        let silence = BoundedMailbox<Bool>(capacity: 1)
        for _ in 0..<6000 {
            if try condition() { return }
            _ = silence.receive(within: .milliseconds(10))
        }
        throw Missing(description: what)
    }

    /// The state of a process in the kernel's letters (proc_pid_stat(5)); nil for one that is
    /// gone.
    static func state(of process: Int32) -> Character? {
        guard let text = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        else { return nil }  // it is gone
        return text.split(separator: ")").last?.drop { $0 == " " }.first
    }

    /// The processes that a process has started.
    static func children(of process: Int32) throws -> [Int32] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc").compactMap { Int32($0) }
            .filter { child in
                guard
                    let text = try? String(
                        contentsOfFile: "/proc/\(child)/stat", encoding: .utf8)
                else { return false }  // it is gone
                let words = text.split(separator: ")").last?.split(separator: " ") ?? []
                return words.count > 1 && Int32(words[1]) == process
            }
    }
}
