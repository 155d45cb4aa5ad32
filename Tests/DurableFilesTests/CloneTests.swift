import DurableFiles
import Foundation
import Synchronization
import TestSupport
import Testing

@Suite struct CloneTests {
    private let size = 9 << 20 | 4321

    @Test func cloneIsEqualPrivateAndReported() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (source, clone) = (folder.appending("source"), folder.appending("clone"))
            let bytes = noise(size, seed: 1)
            try files.write(bytes, to: source)
            var progress: [CloneProgress] = []
            let receipt = try files.clone(from: source, to: clone) {
                progress.append($0)
                return .goOn
            }
            #expect(receipt.bytes == Int64(size))
            #expect(try files.read(clone) == bytes)
            #expect(try FileStatus(of: clone).permissions == 0o600)
            #expect(progress.last?.done == Int64(size))
            #expect(progress.allSatisfy { $0.total == Int64(size) })
            #expect(progress.map(\.done) == progress.map(\.done).sorted())
            let open = try files.clone(
                from: source, to: folder.appending("open"), permissions: 0o644)
            #expect(open.method == receipt.method)
            #expect(try FileStatus(of: folder.appending("open")).permissions == 0o644)
        }
    }

    @Test(arguments: [
        (FileOperation.copyRange, EXDEV), (.copyRange, EOPNOTSUPP), (.copyRange, ENOSYS),
    ])
    func copiesByHandWhereTheKernelCannot(operation: FileOperation, number: Int32) throws {
        try withFolder { folder in
            let bytes = noise(size, seed: 2)
            let (source, clone) = (folder.appending("source"), folder.appending("clone"))
            try DurableFileSystem().write(bytes, to: source)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.moment == .before else { return nil }
                    switch point.operation {
                    case .reflink: return .error(EOPNOTSUPP)
                    case operation: return .error(number)
                    default: return nil
                    }
                })
            let receipt = try files.clone(from: source, to: clone)
            #expect(receipt.method == .readWrite)
            #expect(try files.read(clone) == bytes)
        }
    }

    @Test func theKernelCopiesWhereBlocksCannotBeShared() throws {
        try withFolder { folder in
            let bytes = noise(size, seed: 3)
            let (source, clone) = (folder.appending("source"), folder.appending("clone"))
            let files = refusing(.reflink, EOPNOTSUPP)
            try files.write(bytes, to: source)
            let receipt = try files.clone(from: source, to: clone)
            // Both folders are one, so that at most an exotic file system makes us copy by hand.
            #expect(receipt.method == .copyRange || receipt.method == .readWrite)
            #expect(try files.read(clone) == bytes)
        }
    }

    /// A file of holes with data at its start, middle and not at its end.
    @Test(arguments: [true, false])
    func holesStayHoles(inKernel: Bool) throws {
        try withFolder { folder in
            let (source, clone) = (folder.appending("source"), folder.appending("clone"))
            let file = try DurableFileSystem().create(source)
            for place in [Int64(0), 5 << 20] {
                try noise(70_000, seed: 4).withUnsafeBytes { try file.write($0, at: place) }
            }
            try file.setSize(40 << 20)
            try file.close()
            let files = refusing(inKernel ? .reflink : .copyRange, EOPNOTSUPP)
            let receipt = try files.clone(from: source, to: clone)
            #expect(receipt.bytes == 40 << 20)
            #expect(try files.read(source) == files.read(clone))
            #expect(try allocated(clone) < 2 << 20)
        }
    }

    @Test(arguments: [0, 1, 4096])
    func smallFilesAreCloned(count: Int) throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (source, clone) = (folder.appending("source"), folder.appending("clone"))
            try files.write(noise(count, seed: 5), to: source)
            #expect(try files.clone(from: source, to: clone).bytes == Int64(count))
            #expect(try files.read(clone) == noise(count, seed: 5))
        }
    }

    /// A second name of a symbolic link leads wherever that leads.
    @Test func aLinkGetsNoSecondName() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (link, second) = (folder.appending("link"), folder.appending("second"))
            try files.write([1], to: folder.appending("source"))
            try FileManager.default.createSymbolicLink(
                atPath: link.description, withDestinationPath: "source")
            #expect(throws: DurableFileError.notRegularFile(link, kind: "a symbolic link")) {
                try files.hardLink(from: link, to: second)
            }
            #expect(try FileStatus.ifPresentLink(second) == nil)
        }
    }

    @Test func nothingThatExistsIsTouched() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            try files.write([1], to: folder.appending("source"))
            try files.write([2], to: folder.appending("taken"))
            let error = #expect(throws: DurableFileError.self) {
                try files.clone(from: folder.appending("source"), to: folder.appending("taken"))
            }
            #expect(error?.number == EEXIST)
            #expect(try files.read(folder.appending("taken")) == [2])
            #expect(throws: DurableFileError.self) {
                try files.hardLink(from: folder.appending("source"), to: folder.appending("taken"))
            }
            let missing = #expect(throws: DurableFileError.self) {
                try files.clone(from: folder.appending("none"), to: folder.appending("new"))
            }
            #expect(missing?.isMissing == true)
            #expect(throws: DurableFileError.notRegularFile(folder, kind: "a folder")) {
                try files.clone(from: folder, to: folder.appending("new"))
            }
            #expect(try files.names(in: folder) == ["source", "taken"])
        }
    }

    @Test func stoppingLeavesNothing() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            try files.write(noise(size, seed: 6), to: folder.appending("source"))
            let clone = folder.appending("clone")
            #expect(throws: DurableFileError.stopped(clone)) {
                try files.clone(from: folder.appending("source"), to: clone) { _ in .stop }
            }
            #expect(try files.names(in: folder) == ["source"])
        }
    }

    @Test(arguments: [true, false])
    func aSourceThatShrinksIsNoticed(inKernel: Bool) throws {
        try withFolder { folder in
            let source = folder.appending("source")
            try DurableFileSystem().write(noise(20 << 20, seed: 7), to: source)
            let files = DurableFileSystem(
                faults: FaultPoints { point in
                    guard point.moment == .before else { return nil }
                    if point.operation == .reflink { return .error(EOPNOTSUPP) }
                    return point.operation == .copyRange && !inKernel ? .error(EXDEV) : nil
                })
            #expect(throws: DurableFileError.changedMeanwhile(source)) {
                try files.clone(from: source, to: folder.appending("clone")) { _ in
                    expectSuccess(source) { truncate($0, 10 << 20) }
                    return .goOn
                }
            }
            #expect(try files.names(in: folder) == ["source"])
        }
    }

    /// Whichever step fails, before or after it was done, no half clone is left.
    @Test func everyFaultLeavesNothingBehind() throws {
        try withFolder { folder in
            let source = folder.appending("source")
            try DurableFileSystem().write(noise(300_000, seed: 8), to: source)
            let rehearsal = FaultScript()
            _ = try DurableFileSystem(faults: rehearsal.faults).clone(
                from: source, to: folder.appending("rehearsal"))
            let count = rehearsal.points.withLock { $0.count }
            #expect(rehearsal.steps.starts(with: [.create, .setMode, .reflink]))
            #expect(Array(rehearsal.steps.suffix(2)) == [.sync, .syncFolder])
            for step in 0..<count {
                let script = FaultScript(failing: step)
                let error = #expect(throws: DurableFileError.self) {
                    try DurableFileSystem(faults: script.faults).clone(
                        from: source, to: folder.appending("clone"))
                }
                #expect(error?.number == EIO)
                let names = try DurableFileSystem().names(in: folder)
                #expect(names == ["rehearsal", "source"], "after step \(step)")
            }
        }
    }

    @Test func linksShareTheFile() throws {
        try withFolder { folder in
            let files = DurableFileSystem()
            let (source, link) = (folder.appending("source"), folder.appending("link"))
            try files.write([1, 2], to: source)
            try files.hardLink(from: source, to: link)
            let status = try FileStatus(of: link)
            #expect(status.links == 2)
            let original = try FileStatus(of: source)
            #expect(status.identity == original.identity)
        }
    }

    private func allocated(_ path: FilePath) throws -> Int64 {
        var status = stat()
        expectSuccess(path) { stat($0, &status) }
        return Int64(status.st_blocks) * 512
    }
}
