import CoreDataStore
package import DurableFiles
import Foundation
package import ManagedObjectModel
import MigrationEngine
package import MigrationPlans
package import StateFolders

/// A request as the ledger keeps it, so that a later command can go on without the models.
package struct RecordedRequest: Sendable, Codable {
    /// The destination with all that its origin knew.
    package struct Destination: Sendable, Codable {
        package let model: Model
        let hashes: [String: Data]
        let modelCache: Data
        let templateFramework: FrameworkVersion?

        /// Nil for `--to self`.
        init?(_ choice: DestinationChoice) {
            guard case .model(let chosen) = choice else { return nil }
            model = chosen.model
            hashes = chosen.hashes.entities.mapValues { Data($0) }
            modelCache = Data(chosen.modelCache)
            templateFramework = chosen.templateFramework
        }

        /// The destination again.
        func choice() throws(RunError) -> DestinationChoice {
            try RunError.translating {
                .model(
                    try DestinationModel(
                        model: model, storedHashes: hashes.mapValues { Array($0) },
                        modelCache: Array(modelCache), templateFramework: templateFramework))
            }
        }
    }

    let inputs: [FilePath]
    /// Does not tell requests apart: one model has many names.
    private(set) var destinationName: String
    /// What the run's files beside stores are called by; made once, when the run begins.
    package private(set) var mark: String
    /// Whether results wait for `godwit swap`, also those of a replay.
    private(set) var defersSwap: Bool
    /// Whether stores may be swapped where programs that have them open cannot be seen; nil for
    /// no, so that the text of a request without it is the one that workers read.
    private(set) var assumesClosed: Bool?
    /// Bounds of the run, which do not tell requests apart either; nil in requests of versions
    /// that did not record them.
    package private(set) var bounds: RunBounds?
    package let output: FilePath?
    package private(set) var options: PlanOptions
    /// Nil for `--to self`.
    package let destination: Destination?
    package let sourceModel: Model?

    package init(_ request: RunRequest, mark: String) {
        self.mark = mark
        defersSwap = request.defersSwap
        assumesClosed = request.assumesClosed ? true : nil
        bounds = request.bounds
        inputs = request.inputs
        destinationName = request.destinationName
        output = request.output
        options = request.options
        sourceModel = request.sourceModel
        destination = Destination(request.destination)
    }

    /// Reads the text that `text` wrote.
    ///
    /// - Throws: `RunError.engine` for a text of another version of the program.
    package init(reading text: String) throws(RunError) {
        do {
            self = try JSONDecoder().decode(RecordedRequest.self, from: Data(text.utf8))
        } catch {
            throw .engine(.wrongPlan("the run's request in the ledger cannot be read: \(error)"))
        }
    }

    /// The request with what another one says of swaps; nil where it says the same.
    package func adoptingSwaps(of request: RunRequest) -> RecordedRequest? {
        var changed = self
        changed.defersSwap = request.defersSwap
        changed.assumesClosed = request.assumesClosed ? true : nil
        let isSame =
            defersSwap == request.defersSwap && assumesClosed ?? false == request.assumesClosed
        return isSame ? nil : changed
    }

    /// The request with the word that no program has the stores open; nil where it says so already.
    package func assumingClosed() -> RecordedRequest? {
        guard assumesClosed != true else { return nil }
        var changed = self
        changed.assumesClosed = true
        return changed
    }

    /// The request as workers read it, which have nothing to do with swaps: it stays the same
    /// where what is wanted of them changes; nil where it is this one.
    package func forWorkers() -> RecordedRequest? {
        guard defersSwap || assumesClosed != nil else { return nil }
        var changed = self
        changed.defersSwap = false
        changed.assumesClosed = nil
        return changed
    }

    /// Equal for requests that would give equal results, whatever they refuse, in hexadecimal.
    package func resultDigest() throws(RunError) -> String {
        var lenient = self
        lenient.options.losses = .report
        lenient.options.newerVersions = NewerVersions()
        return try lenient.digest()
    }

    /// Equal for equal requests, in hexadecimal.
    package func digest() throws(RunError) -> String {
        var nameless = self
        // A run that goes on keeps its own time.
        nameless.options.now = 0
        // Only words depend on them.
        nameless.options.intermediateRenames = IntermediateRenames()
        nameless.options.versionNames = VersionNames()
        nameless.destinationName = ""
        nameless.mark = ""
        nameless.defersSwap = false
        nameless.assumesClosed = nil
        nameless.bounds = nil
        return ContentDigest.hexadecimal(of: Array(try nameless.text().utf8))
    }

    /// JSON with sorted keys.
    package func text() throws(RunError) -> String {
        try RecordedText.text(of: self)
    }

    /// The request again, with what is not recorded as given.
    package func request(
        state: FilePath, slots: Int
    ) throws(RunError) -> RunRequest {
        let choice = try destination?.choice() ?? .itself
        var request = RunRequest(
            destination: choice, sourceModel: sourceModel, options: options, output: output,
            state: state, inputs: inputs, destinationName: destinationName, slots: slots,
            defersSwap: defersSwap)
        request.assumesClosed = assumesClosed ?? false
        return request
    }
}
