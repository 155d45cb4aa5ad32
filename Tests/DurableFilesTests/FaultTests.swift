import CLinux
import DurableFiles
import Foundation
import Synchronization
import TestSupport
import Testing

/// What goes wrong at every fault point, and what the loops around the calls make of it.
@Suite struct FaultTests {
    /// Answers every announcement of one operation, and counts them.
    private final class Answers: Sendable {
        private let counts = Mutex(0)
        private let operation: FileOperation
        private let answer: @Sendable (Int) -> InjectedFault?

        init(_ operation: FileOperation, _ answer: @escaping @Sendable (Int) -> InjectedFault?) {
            self.operation = operation
            self.answer = answer
        }

        var count: Int { counts.withLock { $0 } }

        var files: DurableFileSystem {
            DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.operation == self.operation, point.moment == .before else {
                        return nil
                    }
                    return self.counts.withLock { count in
                        count += 1
                        return self.answer(count)
                    }
                })
        }
    }

    @Test(arguments: [1, 7, 1000, 4096])
    func shortWritesAreGoneOnWith(bytes: Int) throws {
        try withFolder { folder in
            let answers = Answers(.write) { _ in .shortWrite(bytes) }
            let contents = noise(10_000, seed: 1)
            let file = try answers.files.create(folder.appending("a"))
            try file.write(contents)
            #expect(answers.count == (10_000 + bytes - 1) / bytes)
            try contents.withUnsafeBytes { try file.write($0, at: 10_000) }
            #expect(answers.count == 2 * ((10_000 + bytes - 1) / bytes))
            try file.close()
            #expect(try DurableFileSystem().read(folder.appending("a")) == contents + contents)
        }
    }

    /// Two may remove what one attempt left: the folder of what the first removed goes with the
    /// second.
    @Test func aRemovalWhoseFolderIsRemovedMeanwhileIsOne() throws {
        try withFolder { folder in
            let inner = folder.appending("inner")
            let plain = DurableFileSystem()
            try plain.makeFolder(inner)
            for name in ["a", "b"] { try plain.makeFolder(inner.appending(name)) }
            let answers = Answers(.syncFolder) { _ in
                do { try plain.removeScratchTree(inner) } catch { Issue.record(error) }
                return nil
            }
            try answers.files.removeTree(inner.appending("a"))
            #expect(answers.count == 1)
            try plain.makeFolder(inner)
            try plain.makeFolder(inner.appending("b"))
            try answers.files.removeTrees([inner.appending("b")])
            #expect(answers.count == 2)
        }
    }

    /// A call that may move nothing would be repeated without end: one byte is the least.
    @Test func aShortWriteMovesOneByteAtLeast() throws {
        try withFolder { folder in
            let answers = Answers(.write) { _ in .shortWrite(-5) }
            let file = try answers.files.create(folder.appending("a"))
            try file.write([1, 2, 3])
            #expect(answers.count == 3)
            #expect(try file.read(count: 9, at: 0) == [1, 2, 3])
        }
    }

    @Test func aFullDiskInTheMiddleOfAWriteLeavesWhatWasWritten() throws {
        try withFolder { folder in
            let answers = Answers(.write) { $0 < 3 ? .shortWrite(100) : .error(ENOSPC) }
            let file = try answers.files.create(folder.appending("a"))
            let error = #expect(throws: DurableFileError.self) {
                try file.write(noise(500, seed: 2))
            }
            #expect(error?.isOutOfSpace == true)
            #expect(try file.status().size == 200)
            let missing = #expect(throws: DurableFileError.self) {
                try answers.files.publish(noise(500, seed: 2), to: folder.appending("b"))
            }
            #expect(missing?.number == ENOSPC)
            #expect(try DurableFileSystem().names(in: folder) == ["a"])
        }
    }

    @Test func shortCopiesInTheKernelAreGoneOnWith() throws {
        try withFolder { folder in
            let contents = noise(300_000, seed: 3)
            try DurableFileSystem().write(contents, to: folder.appending("a"))
            let count = Mutex(0)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.moment == .before else { return nil }
                    switch point.operation {
                    case .reflink: return .error(EOPNOTSUPP)
                    case .copyRange:
                        count.withLock { $0 += 1 }
                        return .shortWrite(70_001)
                    default: return nil
                    }
                })
            let receipt = try files.clone(from: folder.appending("a"), to: folder.appending("b"))
            #expect(try DurableFileSystem().read(folder.appending("b")) == contents)
            if receipt.method == .copyRange { #expect(count.withLock { $0 } == 5) }
        }
    }

    /// What every kind of action does, with each interrupted a few times.
    @Test func interruptionsAreAbsorbedEverywhere() throws {
        let interruptions = Mutex<[FaultPoint: Int]>([:])
        let hook: FaultPoints.Hook = { point in
            interruptions.withLock { counts in
                counts[point, default: 0] += 1
                return counts[point, default: 0] % 4 == 0 ? nil : .error(EINTR)
            }
        }
        let operations = try withFolder { folder in try everyChange(in: folder, hook) }
        let seen = Set(interruptions.withLock { $0.keys.map(\.operation) })
        #expect(seen == operations)
    }

    @Test func endlessInterruptionsEnd() throws {
        try withFolder { folder in
            let answers = Answers(.rename) { _ in .error(EINTR) }
            try DurableFileSystem().write([1], to: folder.appending("a"))
            let error = #expect(throws: DurableFileError.self) {
                try answers.files.publish([2], to: folder.appending("a"))
            }
            #expect(error?.number == EINTR)
            #expect(answers.count == FaultPoints.interruptionLimit)
            #expect(try DurableFileSystem().read(folder.appending("a")) == [1])
            #expect(try DurableFileSystem().names(in: folder) == ["a"])
        }
    }

    @Test(arguments: [EIO, ENOSPC, EDQUOT])
    func aFailedSyncIsFinalForItsDescriptor(number: Int32) throws {
        try withFolder { folder in
            let answers = Answers(.sync) { $0 == 1 ? .error(number) : nil }
            let file = try answers.files.create(folder.appending("a"))
            try file.write([1])
            let first = #expect(throws: DurableFileError.self) { try file.sync() }
            #expect(first?.number == number && first?.isFailedSync == true)
            let second = #expect(throws: DurableFileError.self) { try file.sync() }
            #expect(second?.number == EIO && second?.isFailedSync == true)
            // The system was not asked again.
            #expect(answers.count == 1)
            let again = try answers.files.openForReading(folder.appending("a"))
            try again.sync()
        }
    }

    /// Every operation that `FileOperation` counts among the changing ones is announced.
    @Test func everyChangeIsAnnounced() throws {
        let announced = Mutex<Set<FileOperation>>([])
        let operations = try withFolder { folder in
            try everyChange(in: folder) { point in
                announced.withLock { _ = $0.insert(point.operation) }
                return nil
            }
        }
        #expect(announced.withLock { $0 } == operations)
        let looking: Set<FileOperation> = [
            .open, .read, .status, .resolve, .listFolder, .fileSystemStatus, .inspectLock,
            .inspectRights,
        ]
        // What SQLite does to the ledger is announced, and looked after, elsewhere.
        let own = FileOperation.allCases.filter { !$0.rawValue.hasSuffix("Ledger") }
        #expect(operations.union(looking) == Set(own))
    }

    /// Does every kind of change once; returns the operations that must have been announced.
    private func everyChange(
        in folder: FilePath, _ hook: @escaping FaultPoints.Hook
    ) throws -> Set<FileOperation> {
        let faults = FaultPoints(hook)
        let files = DurableFileSystem(faults: faults)
        let plain = DurableFileSystem()
        let path = folder.appending("a")
        try plain.write(noise(5000, seed: 4), to: path)
        // Shared blocks leave nothing to copy; the kernel's copy is asked for by a second clone.
        _ = try files.clone(from: path, to: folder.appending("b"))
        let withoutReflink = DurableFileSystem(
            faults: FaultPoints { point in
                let fault = hook(point)
                if fault != nil { return fault }
                return point.operation == .reflink && point.moment == .before
                    ? .error(EOPNOTSUPP) : nil
            })
        _ = try withoutReflink.clone(from: path, to: folder.appending("c"))
        try files.publish([1, 2], to: folder.appending("d"))
        try files.hardLink(from: path, to: folder.appending("e"))
        try files.syncFileSystem(at: folder)
        try files.makeFolder(folder.appending("f"))
        try files.removeTree(folder.appending("f"))
        try files.remove(folder.appending("d"))
        // A user who may not change owners gets an error; the call is announced all the same.
        expectSuccess(path) { chmod($0, 0o640) }
        expectSuccess(path) { chown($0, getuid() == 0 ? 12 : getuid(), getgid()) }
        let file = try plain.openForWriting(path)
        #expect(clinux_set_attribute(file.descriptor, "user.godwit", "x", 1) == 0)
        try file.close()
        _ = try files.copyAttributes(from: path, to: folder.appending("b"))
        let lock = try OwnerLock(
            folder.appending("lock"), holder: LockHolder(text: "test"), faults: faults)
        try lock.release()
        let changing: Set<FileOperation> = [
            .create, .write, .truncate, .reflink, .copyRange, .setMode, .setAttribute, .sync,
            .syncFolder, .syncFileSystem, .rename, .link, .unlink, .makeFolder, .removeFolder,
            .lock, .unlock, .setOwner,
        ]
        return getuid() == 0 ? changing : changing.subtracting([.setOwner])
    }
}

/// Every function of CLinux that changes something stands between two announcements.
@Suite struct AnnouncementTests {
    /// Functions that change files or locks, and the operation that announces them.
    private let changing: [String: Set<String>] = [
        "clinux_write": ["write"], "clinux_write_at": ["write"],
        "clinux_truncate": ["truncate"], "clinux_sync": ["sync", "syncFolder"],
        "clinux_sync_file_system": ["syncFileSystem"], "clinux_reflink": ["reflink"],
        "clinux_copy_range": ["copyRange"], "clinux_set_mode": ["setMode"],
        "clinux_set_owner": ["setOwner"], "clinux_set_attribute": ["setAttribute"],
        "clinux_remove_attribute": ["setAttribute"],
        "clinux_lock": ["lock"], "clinux_unlock": ["unlock"], "clinux_lock_file": ["lock"],
        "clinux_lock_range": ["lock"],
        // It changes something only with O_CREAT.
        "clinux_open": ["create"], "clinux_open_beneath": ["create"],
        "clinux_link_in": ["link"], "clinux_rename_in": ["rename"],
        "clinux_exchange_in": ["rename"],
        "clinux_rename_in_no_replace": ["rename"], "clinux_unlink_in": ["unlink"],
        "clinux_make_folder_in": ["makeFolder"], "clinux_remove_folder_in": ["removeFolder"],
    ]
    /// Functions that look, give advice, or give something back.
    private let harmless: Set<String> = [
        "clinux_stat", "clinux_stat_link", "clinux_stat_open",
        "clinux_stat_file_system",
        "clinux_close", "clinux_read_at", "clinux_sync_data", "clinux_seek_data",
        "clinux_seek_hole", "clinux_advise_sequential", "clinux_advise_unneeded",
        "clinux_resolve", "clinux_list_attributes", "clinux_get_attribute",
        "clinux_lock_is_held", "clinux_range_is_held", "clinux_may_change_folder",
        "clinux_folder_open", "clinux_unlock_file",
        "clinux_unlock_range", "clinux_folder_next", "clinux_folder_close", "clinux_stat_in",
        "clinux_folder_open_again", "clinux_effective_user",
        // A lease is taken with the lock's bytes, which are announced, and changes no file.
        "clinux_lease", "clinux_lease_probe", "clinux_lease_is_whole", "clinux_lease_release",
        "clinux_read_link", "clinux_duplicate", "clinux_sleep", "clinux_monotonic",
    ]

    private var sources: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources")
    }

    @Test func everyFunctionIsClassified() throws {
        let header = try ["CLinuxFiles.h", "CLinuxFolders.h", "CLinuxLeases.h"].map { name in
            try String(
                contentsOf: sources.appendingPathComponent("CLinux/include/\(name)"),
                encoding: .utf8)
        }.joined(separator: "\n")
        let structures: Set<String> = [
            "clinux_status", "clinux_file_system", "clinux_resolve_beneath",
            "clinux_resolve_no_symlinks", "clinux_resolve_no_magiclinks",
            "clinux_resolve_no_mounts", "clinux_path_only",
        ]
        var declared: Set<String> = []
        for line in header.split(separator: "\n") where !line.hasPrefix("///") {
            for word in line.split(whereSeparator: { !$0.isLetter && $0 != "_" })
            where word.hasPrefix("clinux_") {
                declared.insert(String(word))
            }
        }
        declared.subtract(structures)
        #expect(declared == Set(changing.keys).union(harmless))
    }

    @Test func everyChangingCallIsAnnounced() throws {
        let folder = sources.appendingPathComponent("DurableFiles")
        var calls = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            let text = try String(
                contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() {
                let words = Set(line.split { !$0.isLetter && $0 != "_" }.map(String.init))
                for (function, operations) in changing where words.contains(function) {
                    let opens = ["clinux_open", "clinux_open_beneath"].contains(function)
                    if opens, !line.contains("O_CREAT"), !line.contains("flags,") { continue }
                    if opens, line.contains("flags |") { continue }
                    calls += 1
                    let above = lines[max(0, index - 9)...index].joined(separator: " ")
                    let isAnnounced = operations.contains { above.contains("(.\($0), on:") }
                    // The loops that write, and what links and renames, hand
                    // their call to the function that announces it.
                    let isHandedOn =
                        above.contains("try moved(") || above.contains("try move(name")
                    #expect(isAnnounced || isHandedOn, "\(name):\(index + 1): \(function)")
                }
            }
        }
        #expect(calls >= changing.count)
    }
}
