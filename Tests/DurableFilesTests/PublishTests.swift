import CLinux
import DurableFiles
import Foundation
import Synchronization
import TestSupport
import Testing

private struct Refusal: Error {}

@Suite struct PublishTests {
    @Test func publishesInTheRightOrder() throws {
        try withFolder { folder in
            let script = FaultScript()
            let files = DurableFileSystem(faults: script.faults)
            let count = try files.publish(to: folder.appending("a"), permissions: 0o640) { file in
                #expect(file.path.parent == folder)
                try file.write([1, 2])
                try file.write([3])
                return 3
            }
            #expect(count == 3)
            #expect(
                script.steps == [.create, .setMode, .write, .write, .sync, .rename, .syncFolder])
            #expect(try files.read(folder.appending("a")) == [1, 2, 3])
            #expect(try FileStatus(of: folder.appending("a")).permissions == 0o640)
            #expect(try files.names(in: folder) == ["a"])
        }
    }

    /// Whichever step fails, the name holds the old contents or the new, and nothing is left.
    @Test func everyFaultLeavesOldOrNew() throws {
        try withFolder { folder in
            let path = folder.appending("file")
            let plain = DurableFileSystem()
            try plain.publish([1], to: path)
            let rehearsal = FaultScript()
            try DurableFileSystem(faults: rehearsal.faults).publish([1], to: path)
            let points = rehearsal.points.withLock { $0 }
            let renamed = try #require(
                points.firstIndex { $0.operation == .rename && $0.moment == .after })
            for step in points.indices {
                try plain.publish([1], to: path)
                let script = FaultScript(failing: step, number: ENOSPC)
                let error = #expect(throws: DurableFileError.self) {
                    try DurableFileSystem(faults: script.faults).publish([2, 2], to: path)
                }
                #expect(error?.isOutOfSpace == true)
                #expect(try plain.read(path) == (step < renamed ? [1] : [2, 2]))
                #expect(try plain.names(in: folder) == ["file"])
            }
        }
    }

    @Test func errorsOfTheBodyPassThrough() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            #expect(throws: Refusal.self) {
                try files.publish(to: folder.appending("a")) { _ in throw Refusal() }
            }
            let names = try files.names(in: folder)
            #expect(names.isEmpty)
        }
    }

    /// With RENAME_NOREPLACE, and on file systems without it.
    @Test(arguments: [nil, EINVAL, ENOSYS] as [Int32?])
    func takenNamesAreKeptOnRequest(refusal: Int32?) throws {
        try withFolder { folder in
            let files =
                refusal.map { withoutNoReplace($0, folders: [folder.appending("d")]) }
                ?? DurableFileSystem()
            try files.publish([1], to: folder.appending("a"), existing: .refuse)
            let error = #expect(throws: DurableFileError.self) {
                try files.publish([2], to: folder.appending("a"), existing: .refuse)
            }
            #expect(error?.number == EEXIST)
            #expect(try files.read(folder.appending("a")) == [1])
            #expect(try files.names(in: folder) == ["a"])
            try files.makeFolders(folder.appending("b/c"))
            try files.publishFolder(folder.appending("b"), as: folder.appending("d"))
            #expect(try files.names(in: folder) == ["a", "d"])
            try files.makeFolder(folder.appending("b"))
            #expect(throws: DurableFileError.self) {
                try files.publishFolder(folder.appending("b"), as: folder.appending("d"))
            }
            #expect(try files.names(in: folder.appending("d")) == ["c"])
        }
    }

    @Test func filesOfOthersArePublished() throws {
        try withFolder { folder in
            let script = FaultScript()
            let files = DurableFileSystem(faults: script.faults)
            let (scratch, target) = (folder.appending("scratch"), folder.appending("target"))
            try files.makeFolder(scratch)
            try files.makeFolder(target)
            try files.write([7], to: scratch.appending("shard.tmp"))
            try files.publishFile(scratch.appending("shard.tmp"), as: target.appending("shard"))
            #expect(Array(script.steps.suffix(4)) == [.sync, .rename, .syncFolder, .syncFolder])
            #expect(try files.read(target.appending("shard")) == [7])
            #expect(try files.names(in: scratch).isEmpty)

            try files.write([8], to: scratch.appending("next"))
            #expect(throws: DurableFileError.self) {
                try files.publishFile(
                    scratch.appending("next"), as: target.appending("shard"), existing: .refuse)
            }
            #expect(try files.read(scratch.appending("next")) == [8])
        }
    }

    @Test func foldersArePublishedWhole() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (made, final) = (folder.appending("made"), folder.appending("final"))
            try files.makeFolders(made.appending("a/b"))
            try files.write([1], to: made.appending("a/b/one"))
            try files.write([2], to: made.appending("two"))
            link(made.appending("link"), to: "/nowhere")
            let script = FaultScript()
            try DurableFileSystem(faults: script.faults).publishFolder(made, as: final)
            #expect(script.steps.filter { $0 == .sync }.count == 2)
            #expect(script.steps.filter { $0 == .syncFolder }.count == 4)
            #expect(script.steps.last == .syncFolder)
            #expect(try files.read(final.appending("a/b/one")) == [1])

            try files.makeFolder(made)
            let error = #expect(throws: DurableFileError.self) {
                try files.publishFolder(made, as: final)
            }
            #expect(error?.number == EEXIST)
            try files.removeTree(final)
            try files.removeTree(final)
            #expect(try files.names(in: folder) == ["made"])
        }
    }

    @Test func leftoversAreSwept() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let left = folder.appending(DurableFileSystem.temporaryPrefix + "1-0")
            try files.write([1], to: left)
            try files.write([1], to: folder.appending("kept"))
            #expect(try files.removeUnpublished(in: folder) == 1)
            #expect(try files.removeUnpublished(in: folder) == 0)
            #expect(try files.names(in: folder) == ["kept"])
        }
    }

    @Test func takenTemporaryNamesArePassedOver() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            try files.publish(to: folder.appending("outer")) { outer in
                try outer.write([1])
                try files.publish([2], to: folder.appending("inner"))
            }
            #expect(try files.names(in: folder) == ["inner", "outer"])
            #expect(try files.read(folder.appending("outer")) == [1])
        }
    }

    @Test func foldersAreMadeAndLinksNotFollowed() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            try files.makeFolder(folder.appending("a"))
            try files.makeFolder(folder.appending("a"))
            #expect(try FileStatus(of: folder.appending("a")).permissions == 0o700)
            link(folder.appending("link"), to: "a")
            #expect(throws: DurableFileError.self) {
                try files.makeFolder(folder.appending("link"))
            }
            try files.write([1], to: folder.appending("a/kept"))
            try files.removeTree(folder.appending("link"))
            #expect(try files.read(folder.appending("a/kept")) == [1])
            try files.remove(folder.appending("a/kept"))
            try files.remove(folder.appending("a/kept"))
            #expect(try files.names(in: folder.appending("a")).isEmpty)
            try files.syncFileSystem(at: folder)
        }
    }

    @Test func hugeFilesAreNotReadWhole() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let path = folder.appending("a")
            try files.write([1, 2, 3], to: path)
            #expect(try files.contents(of: path, limit: 3) == [1, 2, 3])
            #expect(throws: DurableFileError.overLimit(path, limit: 2)) {
                try files.contents(of: path, limit: 2)
            }
        }
    }

    /// Offsets end at 2⁶³ − 1, and so may a sparse file.
    @Test func theLongestFileIsReadToItsEnd() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let path = folder.appending("a")
            try files.write([1, 2, 3], to: path)
            let short = try files.openForReading(path)
            for offset in [Int64.max - 5, .max] {
                #expect(try short.read(count: 1 << 18, at: offset).isEmpty)
            }
            // Only some file systems hold so long a file.
            let long = [FilePath("/dev/shm"), folder].map {
                $0.appending(FilePath("godwit-\(getpid())-long"))
            }
            defer { for path in long { unlink(path.description) } }
            for path in long {
                let made = open(path.description, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600)
                guard made >= 0 else { continue }
                defer { close(made) }
                guard ftruncate(made, off_t(Int64.max)) == 0 else { continue }
                let one = try files.openForReading(path)
                let other = try files.openForReading(path)
                #expect(try one.hasSameContents(as: other))
            }
        }
    }

    @Test func foldersWithoutRightsAreNoticed() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            try files.checkRights(inFolder: folder)
            expectSuccess(folder) { chmod($0, 0o500) }
            defer { expectSuccess(folder) { chmod($0, 0o700) } }
            // Root may do everything.
            if getuid() != 0 {
                let error = #expect(throws: DurableFileError.self) {
                    try files.checkRights(inFolder: folder)
                }
                #expect(error?.number == EACCES)
            }
            let missing = #expect(throws: DurableFileError.self) {
                try files.checkRights(inFolder: folder.appending("none"))
            }
            #expect(missing?.isMissing == true)
        }
    }

    @Test func emptyFoldersAloneAreRemoved() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (empty, full) = (folder.appending("empty"), folder.appending("full"))
            try files.makeFolder(empty)
            try files.makeFolders(full.appending("in"))
            for path in [empty, full, folder.appending("none")] {
                try files.removeEmptyFolder(path)
            }
            #expect(try files.names(in: folder) == ["full"])
        }
    }

    @Test func attributesAreCarriedOver() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (old, new) = (folder.appending("old"), folder.appending("new"))
            try files.write([1], to: old)
            try files.write([2], to: new)
            expectSuccess(old) { chmod($0, 0o640) }
            let value = Array("plain".utf8)
            // Some file systems (an older tmpfs) have no extended attributes.
            let file = try files.openForWriting(old)
            let supported =
                clinux_set_attribute(file.descriptor, "user.godwit", value, value.count) == 0
            try file.close()
            #expect(try files.copyAttributes(from: old, to: new).isEmpty)
            #expect(try FileStatus(of: new).permissions == 0o640)
            let names = try files.attributeNames(of: files.openForReading(new))
            #expect(names.contains("user.godwit") == supported)

            // What the destination has beside them goes, and first of all who else may use it.
            let next = folder.appending("next")
            try files.write([5], to: next)
            #expect(try files.copyAttributes(from: old, to: next).isEmpty)
            let plain = folder.appending("plain")
            try files.write([4], to: plain)
            // acl(5) as the kernel keeps it: version 2, then tag, rights and user of each entry.
            let entries: [(UInt16, UInt16, UInt32)] = [
                (1, 6, .max), (2, 6, 65_534), (4, 4, .max), (16, 6, .max), (32, 0, .max),
            ]
            let list: [UInt8] =
                [2, 0, 0, 0]
                + entries.flatMap { tag, rights, user in
                    [UInt8(tag), 0, UInt8(rights), 0]
                        + withUnsafeBytes(of: user.littleEndian, Array.init)
                }
            let open = try files.openForWriting(next)
            let name = "system.posix_acl_access"
            let hasList = clinux_set_attribute(open.descriptor, name, list, list.count) == 0
            try open.close()
            let before = try files.attributeNames(of: files.openForReading(next))
            #expect(before.contains(name) == hasList)
            #expect(try files.copyAttributes(from: plain, to: next).isEmpty)
            let left = try files.attributeNames(of: files.openForReading(next))
            #expect(!left.contains { $0.hasPrefix("user.") || $0.hasPrefix("system.posix_acl") })

            // What is there already is not set again, so that a read-only file is no obstacle.
            let refused = refusing(.setAttribute, EPERM)
            #expect(try refused.copyAttributes(from: old, to: new).isEmpty)
            let other = folder.appending("other")
            try files.write([3], to: other)
            let lost = try refused.copyAttributes(from: old, to: other)
            #expect(lost.map(\.name) == (supported ? ["user.godwit"] : []))
        }
    }
}
