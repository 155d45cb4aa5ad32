import CoreDataStore
import Foundation
import MappingModel
import MigrationPlans
import StoreForge
import Testing

@testable import StoreRuns

/// Records of ledgers that earlier versions wrote are read.
@Suite("Records of earlier versions") struct EarlierRecordsTests {
    /// What the options of a request had in the version with engine 1.
    private static let options: Set<String> = [
        "strategy", "partition", "chunkBytes", "history", "dangling", "allowsMissingExternalData",
        "linksExternalData", "framework",
    ]
    /// And the request itself.
    private static let fields: Set<String> = [
        "bounds", "defersSwap", "destination", "destinationName", "inputs", "mark", "options",
        "output", "sourceModel",
    ]

    @Test("a request of the version with engine 1 means what it meant") func request() throws {
        try StoreLab.run { lab in
            let request = RunRequest(
                destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
                options: PlanOptions(strategy: .partitioned, chunkBytes: 70_000),
                output: try lab.path(lab.results), state: try lab.path(lab.state),
                inputs: [try lab.path(lab.store)], slots: 2)
            let text = try RecordedRequest(request, mark: "m").text()
            var object = try #require(
                try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
            var options = try #require(object["options"] as? [String: Any])
            let later = Set(options.keys).subtracting(Self.options)
            #expect(later.contains("mappings"))
            for key in later { options[key] = nil }
            object["options"] = options
            for key in Set(object.keys).subtracting(Self.fields) { object[key] = nil }
            let old = String(
                decoding: try JSONSerialization.data(withJSONObject: object), as: UTF8.self)
            let read = try RecordedRequest(reading: old)
            #expect(read.options == request.options)
            #expect(read.mark == "m")
        }
    }

    @Test("workers read the same text, whatever becomes of the swaps", arguments: [false, true])
    func workerText(isOwn: Bool) throws {
        try StoreLab.run { lab in
            var request = RunRequest(
                destination: .model(try DestinationModel(model: ForgeModels.notes(version: 2))),
                options: PlanOptions(strategy: .partitioned, chunkBytes: 70_000),
                output: nil, state: try lab.path(lab.state), inputs: [try lab.path(lab.store)],
                slots: 2)
            let recorded = RecordedRequest(request, mark: "m")
            let text = try recorded.text()
            let cache = MigrationCache()
            if isOwn { cache.add(recorded, text: text) }
            #expect(try cache.workerText(text) == text)
            #expect(try RecordedRequest(reading: text).text() == text)
            request.defersSwap = true
            request.assumesClosed = true
            let changed = try #require(recorded.adoptingSwaps(of: request)).text()
            #expect(changed != text)
            #expect(try cache.workerText(changed) == text)
            let closed = try #require(recorded.assumingClosed()).text()
            #expect(try cache.workerText(closed) == text)
            // As a version wrote it that recorded less.
            let old = text.replacingOccurrences(of: "\"mappings\":[],", with: "")
            #expect(old != text)
            #expect(try cache.workerText(old) == text)
        }
    }

    @Test("a result without steps is read") func result() throws {
        try StoreLab.run { lab in
            try lab.forge(StoreLab.recipe())
            let result = try lab.migrate().result
            var object = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(result))
                    as? [String: Any])
            #expect(object.removeValue(forKey: "steps") != nil)
            let read = try JSONDecoder().decode(
                StoreResult.self, from: JSONSerialization.data(withJSONObject: object))
            #expect(read.steps.isEmpty)
            #expect(read.validation == result.validation)
        }
    }
}
