package import CoreDataStore
package import DurableFiles
import Crypto
import Foundation

/// A plan as it is written to a file and as jobs name it.
package struct PlanFile: Sendable {
    /// The plan with both layouts.
    package let laidOut: LaidOutPlan
    /// The text, JSON with sorted keys.
    package let bytes: [UInt8]
    /// SHA-256 of the text, in hexadecimal.
    package let digest: String

    package var plan: MigrationPlan { laidOut.plan }
    /// The layout of the source.
    package var source: StoreLayout { laidOut.source }
    /// The layout of the destination.
    package var destination: StoreLayout { laidOut.destination }

    /// The largest plan that is read, in bytes.
    package static let sizeLimit = 256 << 20

    /// Writes a plan as text.
    ///
    /// - Throws: `EngineError.wrongPlan` for a plan that has no text.
    package init(_ plan: MigrationPlan) throws(EngineError) {
        do {
            try self.init(LaidOutPlan(plan))
        } catch {
            throw .wrongPlan("it cannot be written: \(error)")
        }
    }

    /// Writes a plan whose layouts are known as text.
    ///
    /// - Throws: `EngineError.wrongPlan` for a plan that has no text.
    package init(_ laidOut: LaidOutPlan) throws(EngineError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            self.init(laidOut, bytes: Array(try encoder.encode(laidOut.plan)))
        } catch {
            throw .wrongPlan("it cannot be written: \(error)")
        }
    }

    /// Reads a plan and checks that it is the one that a job names.
    ///
    /// - Throws: `EngineError.wrongPlan` for another plan or another engine.
    package init(reading path: FilePath, digest: String) throws(EngineError) {
        do {
            let bytes = try DurableFileSystem().contents(of: path, limit: PlanFile.sizeLimit)
            guard ContentDigest.hexadecimal(of: bytes) == digest else {
                throw EngineError.wrongPlan("\(path) is not the plan that the job names")
            }
            let plan = try JSONDecoder().decode(MigrationPlan.self, from: Data(bytes))
            guard plan.engine == Planner.engineVersion else {
                throw EngineError.wrongPlan(
                    "engine \(plan.engine) made it, this is engine \(Planner.engineVersion)")
            }
            self.init(try LaidOutPlan(plan), bytes: bytes)
        } catch let error as EngineError {
            throw error
        } catch {
            throw .wrongPlan("\(path): \(error)")
        }
    }

    private init(_ laidOut: LaidOutPlan, bytes: [UInt8]) {
        self.laidOut = laidOut
        self.bytes = bytes
        digest = ContentDigest.hexadecimal(of: bytes)
    }
}

/// SHA-256 of bytes and files, in hexadecimal.
package enum ContentDigest {
    /// Of bytes in memory.
    package static func hexadecimal(of bytes: [UInt8]) -> String {
        text(SHA256.hash(data: bytes))
    }

    /// Of a file, read in pieces of 1 MiB.
    ///
    /// - Throws: `DurableFileError` when it cannot be read; `stopped` where the calling thread's
    ///   `StatementStop` is set.
    package static func hexadecimal(
        of path: FilePath, files: DurableFileSystem
    ) throws(DurableFileError) -> (digest: String, bytes: Int64) {
        let file = try files.openForReading(path)
        var hasher = SHA256()
        var offset: Int64 = 0
        let stop = StatementStop.current
        while true {
            if stop?.isSet == true { throw .stopped(path) }
            let piece = try file.read(count: 1 << 20, at: offset)
            guard !piece.isEmpty else { break }
            hasher.update(data: piece)
            offset += Int64(piece.count)
        }
        return (text(hasher.finalize()), offset)
    }

    private static func text(_ digest: SHA256.Digest) -> String {
        digest.map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
    }
}
