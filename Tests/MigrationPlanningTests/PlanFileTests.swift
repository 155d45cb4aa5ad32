import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MappingInference
import MappingModel
import MigrationPlanning
import MigrationPlans
import StoreForge
import TestSupport
import Testing

/// A plan that was written comes back, and another one does not take its place.
@Suite struct PlanFileTests {
    private func withPlan(_ body: (PlanFile, FilePath) throws -> Void) throws {
        let (old, new) = (try ForgeModels.notes(version: 1), try ForgeModels.notes(version: 2))
        let plan = try Planner.plan(
            source: try StoreLayout(model: old, framework: .newestVerified),
            destination: try StoreLayout(model: new, framework: .newestVerified),
            inference: try Inference(from: old, to: new), facts: StoreFacts(),
            options: PlanOptions())
        try withTemporaryFolder { folder in
            try body(PlanFile(plan), try #require(FilePath(folder)).appending("plan.json"))
        }
    }

    private func expectRefused(
        _ path: FilePath, digest: String, _ location: SourceLocation = #_sourceLocation
    ) {
        let error = #expect(throws: EngineError.self, sourceLocation: location) {
            try PlanFile(reading: path, digest: digest)
        }
        #expect(error?.cause == .wrongPlan, sourceLocation: location)
    }

    @Test func aPlanComesBack() throws {
        try withPlan { file, path in
            try DurableFileSystem().publish(file.bytes, to: path)
            let read = try PlanFile(reading: path, digest: file.digest)
            #expect(read.bytes == file.bytes && read.digest == file.digest)
        }
    }

    /// A process that resumes a plan writes it again, and must get the same digest.
    @Test func equalPlansHaveEqualTexts() throws {
        try withPlan { file, _ in
            var (first, second) = (file.plan, file.plan)
            second.variantRows.reserveCapacity(4_096)
            for number in 1...40 {
                first.variantRows[number] = 1
                second.variantRows[41 - number] = 1
            }
            #expect(first == second)
            let texts = try [first, second].map { try PlanFile($0).bytes }
            #expect(texts[0] == texts[1])
        }
    }

    @Test func aPlanThatTheJobDoesNotNameIsRefused() throws {
        try withPlan { file, path in
            try DurableFileSystem().publish(file.bytes + [0x20], to: path)
            expectRefused(path, digest: file.digest)
        }
    }

    /// Other versions of the engine may give the same jobs other rows.
    @Test func aPlanOfAnotherEngineIsRefused() throws {
        try withPlan { file, path in
            let own = "\"engine\":\"\(MigrationPlan.engineVersion)\""
            let text = String(decoding: file.bytes, as: UTF8.self)
            try #require(text.ranges(of: own).count == 1)
            let bytes = Array(text.replacing(own, with: "\"engine\":\"other\"").utf8)
            try DurableFileSystem().publish(bytes, to: path)
            expectRefused(path, digest: ContentDigest.hexadecimal(of: bytes))
        }
    }

    @Test func aPlanOfAnotherFormIsRefusedByItsEngine() throws {
        try withPlan { _, path in
            let bytes = Array("{\"engine\":\"1\"}".utf8)
            try DurableFileSystem().publish(bytes, to: path)
            let error = #expect(throws: EngineError.self) {
                try PlanFile(reading: path, digest: ContentDigest.hexadecimal(of: bytes))
            }
            #expect("\(try #require(error))".contains("engine 1 made it"))
        }
    }
}
