import Foundation
import ManagedObjectModel
import MappingFiles
import MappingInference
import MappingModel
import ModelFiles
import TestSupport
import Testing

@Suite("Scaffolds of real models", .enabled(if: Fixtures.available, Fixtures.absence))
struct FixtureScaffoldTests {
    /// Every how many pairs one is taken; `GODWIT_SCAFFOLD_STEP=1` takes all.
    private static let step =
        ProcessInfo.processInfo.environment["GODWIT_SCAFFOLD_STEP"].flatMap { Int($0) } ?? 101

    @Test("a scaffold gives the migration that inference gives")
    func scaffolds() throws {
        let bundles = try #require(Fixtures.folder).bundles
        var pairs = 0
        var inferred = 0
        for bundle in bundles {
            // One bundle is in the binary form of old editors, which is not read.
            let models = try ModelBundle.versions(of: bundle).compactMap {
                try? ModelBundle.read(bundle, version: $0)
            }
            for (left, source) in models.enumerated() {
                for (right, destination) in models.enumerated() where left != right {
                    pairs += 1
                    guard pairs % Self.step == 0 else { continue }
                    if try isEqual(source, destination) { inferred += 1 }
                }
            }
        }
        print("scaffolds: \(inferred) of \(pairs / Self.step) pairs equal inference")
        #expect(inferred > pairs / Self.step / 2)
    }

    /// Whether the mapping of a scaffold equals inference; false where nothing can be inferred.
    private func isEqual(_ source: Model, _ destination: Model) throws -> Bool {
        let text = YAMLMappingWriter.scaffold(from: source, to: destination, comments: [])
        let file = try MappingFile(path: "m.yaml", form: .yaml, bytes: Array(text.utf8))
        let inference: Inference
        do {
            inference = try Inference(from: source, to: destination)
        } catch {
            return false
        }
        let stated = try Inference(from: source, to: destination, by: file.definition)
        #expect(stated.mapping == inference.mapping)
        #expect(Set(stated.requirements) == Set(inference.requirements))
        return true
    }
}

extension URL {
    /// Folders of model versions below this one.
    fileprivate var bundles: [URL] {
        let found = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return found.filter { $0.hasSuffix(".xcdatamodeld") }.sorted().map {
            appendingPathComponent($0)
        }
    }
}
