import DurableFiles
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import RunService

/// Suites that change what the whole process sees: one at a time.
@Suite("Disks without room and disks that fail", .serialized) enum DiskTests {}

/// A file system of a chosen size, in memory.
struct SmallDisk: Sendable {
    let folder: FilePath

    /// What a skipped test says.
    static let absence: Comment = "no tmpfs: only root may mount one"

    /// Whether a tmpfs can be mounted here.
    static let isAvailable: Bool = {
        do {
            return try withTemporaryFolder { folder in
                let arguments = ["-t", "tmpfs", "-o", "size=1m", "godwit-tests", folder.path]
                guard try command("mount", arguments) == 0 else { return false }
                return try command("umount", [folder.path]) == 0
            }
        } catch {
            return false
        }
    }()

    /// Runs a body with a disk that is unmounted afterwards.
    static func run(
        bytes: Int64 = 256 << 20, inodes: Int64 = 0, _ body: (SmallDisk) throws -> Void
    ) throws {
        try withTemporaryFolder { folder in
            let options = "size=\(bytes),nr_inodes=\(inodes)"
            let mounted = try command(
                "mount", ["-t", "tmpfs", "-o", options, "godwit-tests", folder.path])
            try #require(mounted == 0)
            defer { _ = try? command("umount", ["-l", folder.path]) }
            let resolved = try DurableFileSystem().resolve(FilePath(folder.path))
            try body(SmallDisk(folder: resolved))
        }
    }

    static func command(_ name: String, _ arguments: [String]) throws -> Int32 {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        process.standardError = FileHandle.nullDevice
        try process.runBounded()
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// A laboratory whose stores and runs all lie on the disk.
    func lab() throws -> RunLab {
        let lab = RunLab(
            folder: folder, data: folder.appending("data"), state: folder.appending("state"))
        try lab.files.makeFolder(lab.data)
        return lab
    }

    /// Gives it another size, which must hold what is there.
    func resize(bytes: Int64? = nil, inodes: Int64? = nil) throws {
        var options = ["remount"]
        if let bytes { options.append("size=\(bytes)") }
        if let inodes { options.append("nr_inodes=\(inodes)") }
        let arguments = ["-o", options.joined(separator: ","), folder.description]
        try #require(try Self.command("mount", arguments) == 0)
    }

    func space() throws -> FileSystemSpace { try FileSystemSpace(at: folder) }

    /// Bytes in use.
    func used() throws -> Int64 {
        let space = try space()
        return space.totalBytes - space.freeBytes
    }
}

/// Another program that fills a disk from a fault point on, until it is cleared.
final class Neighbour: Sendable {
    private let disk: SmallDisk
    private let place: Int
    private let takesInodes: Bool
    private let count = Atomic(0)
    /// Another thread meets the full disk, and clears it, while this one still fills it.
    private let filling = Mutex(())

    /// - Parameters:
    ///   - disk: to fill.
    ///   - place: the fault point, from 0, at which it is filled.
    ///   - takesInodes: whether inodes are taken instead of bytes.
    init(_ disk: SmallDisk, at place: Int, takesInodes: Bool = false) {
        self.disk = disk
        self.place = place
        self.takesInodes = takesInodes
    }

    var points: Int { count.load(ordering: .relaxed) }
    var isFull: Bool { points > place }

    var files: DurableFileSystem {
        DurableFileSystem(
            faults: FaultPoints { _ in
                let number = self.count.add(1, ordering: .relaxed).oldValue
                if number == self.place { self.filling.withLock { _ in self.fill() } }
                return nil
            })
    }

    private var folder: FilePath { disk.folder.appending("neighbour") }

    /// Takes everything that is free.
    private func fill() {
        let files = DurableFileSystem()
        do {
            try files.makeFolder(folder)
            if takesInodes {
                for number in 0..<100_000 {
                    try files.create(folder.appending("\(number)")).close()
                }
            } else {
                let file = try files.create(folder.appending("ballast"))
                let block = [UInt8](repeating: 1, count: 1 << 16)
                while true { try file.write(block) }
            }
        } catch {
            // The disk is full: that was the aim.
            return
        }
    }

    /// Gives everything back.
    func clear() {
        do {
            try filling.withLock { _ in
                if try FileStatus.ifPresent(folder) != nil {
                    try DurableFileSystem().removeTree(folder)
                }
            }
        } catch {
            Issue.record(error)
        }
    }
}
