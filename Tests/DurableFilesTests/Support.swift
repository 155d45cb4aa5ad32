import DurableFiles
import Foundation
import Synchronization
import TestSupport
import Testing

/// Runs a body with a fresh folder as a path and removes the folder afterwards.
func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    try withTemporaryFolder { url in try body(try #require(FilePath(url))) }
}

/// Pseudo-random bytes that do not compress or repeat.
func noise(_ count: Int, seed: UInt64) -> [UInt8] {
    var generator = SeededGenerator(seed: seed)
    return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
        for place in 0..<count { buffer[place] = UInt8(truncatingIfNeeded: generator.next()) }
        initialized = count
    }
}

extension DurableFileSystem {
    /// Writes a file directly.
    func write(_ bytes: [UInt8], to path: FilePath) throws {
        let file = try create(path)
        try file.write(bytes)
        try file.close()
    }

    /// The whole of a small file.
    func read(_ path: FilePath) throws -> [UInt8] { try contents(of: path, limit: 64 << 20) }
}

/// Records every fault point, and lets one of them fail.
final class FaultScript: Sendable {
    let points = Mutex<[FaultPoint]>([])
    private let failing: Int?
    private let number: Int32

    init(failing: Int? = nil, number: Int32 = EIO) {
        self.failing = failing
        self.number = number
    }

    var faults: FaultPoints {
        FaultPoints { point in
            self.points.withLock { points in
                points.append(point)
                return points.count - 1 == self.failing ? .error(self.number) : nil
            }
        }
    }

    var steps: [FileOperation] {
        points.withLock { $0.filter { $0.moment == .before }.map(\.operation) }
    }
}

/// Lets one kind of action fail always.
func refusing(_ operation: FileOperation, _ number: Int32) -> DurableFileSystem {
    DurableFileSystem(
        faults: FaultPoints { point in
            point.operation == operation && point.moment == .before ? .error(number) : nil
        })
}

/// A file system without RENAME_NOREPLACE: of a folder, the plain rename that follows succeeds.
func withoutNoReplace(_ number: Int32, folders: Set<FilePath>) -> DurableFileSystem {
    let count = Mutex(0)
    return DurableFileSystem(
        faults: FaultPoints { point in
            guard point.operation == .rename, point.moment == .before else { return nil }
            guard folders.contains(point.path) else { return .error(number) }
            return count.withLock { count in
                count += 1
                return count % 2 == 1 ? .error(number) : nil
            }
        })
}

/// Calls a C function on a path and expects it to succeed.
func expectSuccess(
    _ path: FilePath, _ location: SourceLocation = #_sourceLocation,
    _ call: (UnsafePointer<CChar>) -> Int32
) {
    let terminated = path.bytes.map { CChar(bitPattern: $0) } + [0]
    let result = terminated.withUnsafeBufferPointer { buffer in
        buffer.baseAddress.map(call) ?? -1
    }
    #expect(result == 0, "errno \(errno)", sourceLocation: location)
}

/// Makes a symbolic link.
func link(_ path: FilePath, to target: String) {
    expectSuccess(path) { symlink(target, $0) }
}
