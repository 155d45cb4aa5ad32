import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import ManagedObjectModel
import MappingModel
import MigrationPlans
import ModelFiles
import StateFolders
import TestSupport
import Testing

@testable import StoreRuns

/// What travels from a client to a coordinator.
@Suite struct SubmittedRequestTests {
    /// What a message has room for.
    private static let messageLimit = 1_000_000

    private func model(_ entities: [String] = ["Note", "Tag"]) throws -> Model {
        try Model(entities: entities.map { Entity(name: $0) })
    }

    private func request(
        _ destination: DestinationChoice, source: Model? = nil
    ) -> RunRequest {
        var options = PlanOptions()
        options.strategy = .partitioned
        options.partition = .uuid([PropertyKey("Note", "id")])
        options.chunkBytes = 1 << 20
        options.dangling = .nullify
        options.framework = FrameworkVersion(1344)
        return RunRequest(
            destination: destination, sourceModel: source, options: options,
            output: "/client/out", state: "/client/state", inputs: ["/client/a.sqlite"],
            destinationName: "Notes 3.xcdatamodel", slots: 7, defersSwap: true,
            waitsForRoom: false, failureLimit: 3)
    }

    @Test func aRequestComesBack() throws {
        let (from, to) = (try model(["Note"]), try model())
        let destination = try DestinationModel(
            model: to, storedHashes: ["Note": [1, 2], "Tag": [3]], modelCache: [9, 8, 7],
            templateFramework: FrameworkVersion(1522))
        let sent = SubmittedRequest(
            request(.model(destination), source: from),
            output: FileReference(root: "out", path: "3"), include: ["*.sqlite"],
            exclude: [FilePath(bytes: [0x2F, 0xFF])])
        let read = try SubmittedRequest(reading: try sent.text())
        #expect(try read.text() == sent.text())
        #expect(read.output == FileReference(root: "out", path: "3"))
        #expect(read.include == ["*.sqlite"])
        #expect(read.exclude == [FilePath(bytes: [0x2F, 0xFF])])
        #expect(read.defersSwap)
        #expect(!read.waitsForRoom)
        let run = try read.request(
            state: "/server/state", inputs: ["/server/a"], output: "/server/out", slots: 2)
        #expect(run.options == request(.itself).options)
        #expect(run.sourceModel == from)
        #expect(run.state == "/server/state")
        #expect(run.inputs == ["/server/a"])
        #expect(run.output == "/server/out")
        #expect(run.slots == 2)
        #expect(run.defersSwap)
        #expect(!run.waitsForRoom)
        #expect(run.failureLimit == nil)
        #expect(run.destinationName == "Notes 3.xcdatamodel")
        guard case .model(let model) = run.destination else {
            Issue.record("the destination is gone")
            return
        }
        #expect(model.model == to)
        #expect(model.hashes == destination.hashes)
        #expect(model.modelCache == [9, 8, 7])
        #expect(model.templateFramework == FrameworkVersion(1522))
    }

    /// A coordinator and its workers would run them.
    @Test func programsAreRefused() throws {
        let program = StepProgram(name: "true", path: "/bin/true", arguments: [], folder: "/")
        for directions in [StepDirections(before: program), StepDirections(after: program)] {
            var sent = request(.itself)
            sent.options.ways = VersionWays(lastDirections: directions)
            let text = try SubmittedRequest(sent, output: nil).text()
            let refused = #expect(throws: RunError.self) {
                try SubmittedRequest(reading: text)
            }
            #expect(refused.map { "\($0)".contains("where the migration was started") } == true)
        }
    }

    @Test func theStoresOwnModelComesBack() throws {
        let read = try SubmittedRequest(
            reading: SubmittedRequest(request(.itself), output: nil).text())
        #expect(read.output == nil)
        let run = try read.request(state: "s", inputs: [], output: nil, slots: 1)
        guard case .itself = run.destination else {
            Issue.record("another destination")
            return
        }
    }

    @Test func whatNobodySendsIsRefused() throws {
        let whole = try SubmittedRequest(
            request(.model(DestinationModel(model: model()))), output: nil
        ).text()
        var bomb = [UInt8](repeating: 0x20, count: 40 << 20)
        bomb[0] = 0x7B
        let texts = [
            "", "{}", "[]", "{\"deflated\":\"\"}", "{\"deflated\":\"AAAA\"}",
            String(whole.dropLast(40)) + "\"}", try envelope(Array("{}".utf8)),
            try envelope(Array(String(repeating: "[", count: 100_000).utf8)), try envelope(bomb),
        ]
        for text in texts {
            #expect(throws: RunError.self) { try SubmittedRequest(reading: text) }
        }
        for change in [("1048576", "16"), ("1344", "1"), ("1344", "9999999")] {
            let plain = try inflated(SubmittedRequest(request(.itself), output: nil).text())
            let changed = plain.replacingOccurrences(of: change.0, with: change.1)
            #expect(changed != plain)
            let text = try envelope(Array(changed.utf8))
            #expect(throws: RunError.self) { try SubmittedRequest(reading: text) }
        }
    }

    /// A short text must not take much memory: decoding needs hundreds of bytes for each value.
    @Test(arguments: [(1001, "patterns"), (600_000, "values")])
    func manyValuesAreRefused(count: Int, word: String) throws {
        let include = Array(repeating: FilePath("a"), count: count)
        let sent = SubmittedRequest(request(.itself), output: nil, include: include)
        let text = try sent.text()
        #expect(text.utf8.count < Self.messageLimit)
        let error = #expect(throws: RunError.self) { try SubmittedRequest(reading: text) }
        #expect(error?.description.contains(word) == true)
    }

    private struct Envelope: Codable { var deflated: Data }

    private func envelope(_ bytes: [UInt8]) throws -> String {
        let envelope = Envelope(deflated: Data(try Deflate.compress(bytes)))
        return String(decoding: try JSONEncoder().encode(envelope), as: UTF8.self)
    }

    private func inflated(_ text: String) throws -> String {
        let envelope = try JSONDecoder().decode(Envelope.self, from: Data(text.utf8))
        return String(decoding: try Deflate.inflate(Array(envelope.deflated)), as: UTF8.self)
    }

    @Test(.enabled(if: Fixtures.available, Fixtures.absence))
    func theLargestKnownModelsFitTwice() throws {
        let models = try Fixtures.files { $0.pathExtension == "xcdatamodel" }
        var (largest, values) = (0, 0)
        for url in models {
            guard let model = try? XMLModelReader.read(url) else { continue }
            let sent = SubmittedRequest(
                request(.model(try DestinationModel(model: model)), source: model), output: nil)
            let text = try sent.text()
            largest = max(largest, text.utf8.count)
            values = max(values, try inflated(text).count { ",[{".contains($0) })
            _ = try SubmittedRequest(reading: text)
        }
        #expect(values * 10 < ForeignJSON.valueLimit, "\(values) values")
        #expect(largest > 10_000)
        #expect(largest * 10 < Self.messageLimit, "\(largest) bytes")
    }
}
