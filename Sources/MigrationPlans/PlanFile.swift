package import CoreDataStore
package import DurableFiles
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
            // First: what else stands in a plan is each engine's own.
            let maker = try JSONDecoder().decode(Maker.self, from: Data(bytes)).engine
            guard maker == MigrationPlan.engineVersion else {
                throw EngineError.wrongPlan(
                    "engine \(maker) made it, this is engine \(MigrationPlan.engineVersion)")
            }
            let plan = try JSONDecoder().decode(MigrationPlan.self, from: Data(bytes))
            self.init(try LaidOutPlan(plan), bytes: bytes)
        } catch let error as EngineError {
            throw error
        } catch {
            throw .wrongPlan("\(path): \(error)")
        }
    }

    /// The part of a plan that every engine can read.
    private struct Maker: Codable {
        let engine: String
    }

    private init(_ laidOut: LaidOutPlan, bytes: [UInt8]) {
        self.laidOut = laidOut
        self.bytes = bytes
        digest = ContentDigest.hexadecimal(of: bytes)
    }
}
