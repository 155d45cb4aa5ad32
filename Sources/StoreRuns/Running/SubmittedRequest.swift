import CoreDataStore
package import DurableFiles
import Foundation
package import Jobs
import ManagedObjectModel
import MigrationPlans
import ModelFiles
package import StateFolders

/// A run as a client asks a coordinator for it: the models and options of `migrate`, and the
/// output by a root that both sides have.
///
/// What depends on the machine (folders, slots) is left to the coordinator. Limits of the run
/// and the paths of the stores travel beside it.
package struct SubmittedRequest: Codable, Sendable {
    /// Nil for `--to self`.
    private let destination: RecordedRequest.Destination?
    private let sourceModel: Model?
    private let options: PlanOptions
    /// What the destination was called, for reports.
    package let destinationName: String
    /// The folder of the results; nil swaps each result into the store's own place.
    package let output: FileReference?
    /// Patterns of which one must stand for a file that is found in a folder.
    package let include: [FilePath]
    /// Patterns of what is left out of folders.
    package let exclude: [FilePath]
    /// Whether results wait for a swap.
    package let defersSwap: Bool
    /// Whether stores may be swapped where programs that have them open cannot be seen; nil from
    /// clients that do not ask.
    private let assumesClosed: Bool?
    /// Whether a full disk is waited for.
    package let waitsForRoom: Bool

    /// - Parameters:
    ///   - request: its folders, inputs, slots and failure limit are left out.
    ///   - output: the folder of its results, as the coordinator knows it.
    ///   - include: patterns, as `StoreSelection` has them.
    ///   - exclude: patterns.
    package init(
        _ request: RunRequest, output: FileReference?, include: [FilePath] = [],
        exclude: [FilePath] = []
    ) {
        destination = RecordedRequest.Destination(request.destination)
        sourceModel = request.sourceModel
        options = request.options
        destinationName = request.destinationName
        self.output = output
        self.include = include
        self.exclude = exclude
        defersSwap = request.defersSwap
        assumesClosed = request.assumesClosed
        waitsForRoom = request.waitsForRoom
    }

    /// The text around the compressed request.
    private struct Envelope: Codable {
        /// JSON of the request, deflated.
        let deflated: Data
    }

    /// Bytes of JSON that a text may inflate to; the largest known models make 1 MiB.
    private static let sizeLimit = 32 << 20
    /// Why a request is refused whose steps run programs.
    package static let noPrograms =
        "programs between steps run only on the machine where the migration was started"
    /// Patterns of each kind that a request may name.
    private static let patternLimit = 1000

    /// The request as JSON with one key, `deflated`: the raw DEFLATE stream of its own JSON in
    /// base64, because two large models pass the megabyte that a message has room for.
    ///
    /// Equal requests have equal texts.
    ///
    /// - Throws: `RunError.model` for a request that cannot be compressed.
    package func text() throws(RunError) -> String {
        let plain = try RecordedText.text(of: self)
        let deflated = try RunError.translating { try Deflate.compress(Array(plain.utf8)) }
        return try RecordedText.text(of: Envelope(deflated: Data(deflated)))
    }

    /// Reads what `text` wrote; it may come from anybody.
    ///
    /// - Throws: `RunError.nothingToDo` with what is wrong with it.
    package init(reading text: String) throws(RunError) {
        let decoder = JSONDecoder()
        do {
            let envelope = try decoder.decode(Envelope.self, from: Data(text.utf8))
            let plain = try Deflate.inflate(
                Array(envelope.deflated), limit: SubmittedRequest.sizeLimit)
            let values = ForeignJSON.values(in: plain)
            guard values <= ForeignJSON.valueLimit else {
                throw RunError.nothingToDo(
                    "the submitted request has \(values) values; the maximum is "
                        + "\(ForeignJSON.valueLimit)")
            }
            self = try decoder.decode(SubmittedRequest.self, from: Data(plain))
        } catch let error as RunError {
            throw error
        } catch {
            throw .nothingToDo(
                "the submitted request cannot be read (\(error)); use the same release of godwit "
                    + "on both sides")
        }
        guard max(include.count, exclude.count) <= SubmittedRequest.patternLimit else {
            throw .nothingToDo(
                "the submitted request names more than \(SubmittedRequest.patternLimit) patterns")
        }
        // A coordinator and its workers would run what anybody names.
        guard options.ways.programs.isEmpty else {
            throw .nothingToDo(Self.noPrograms)
        }
        // What the command line of the client checked, once more.
        let framework = options.framework?.number ?? 637
        guard options.chunkBytes >= 4096, (637...1_000_000).contains(framework) else {
            throw .nothingToDo(
                "the submitted request asks for chunks of \(options.chunkBytes) bytes and the "
                    + "framework version \(framework), which no command line does")
        }
    }

    /// The request of the run on the coordinator's machine; the failure limit comes beside it.
    ///
    /// - Parameters:
    ///   - state: the folder of the runs.
    ///   - inputs: the paths that were submitted, in the coordinator's folders.
    ///   - output: the folder that `output` names; nil where that is nil.
    ///   - slots: jobs at a time.
    /// - Returns: the request.
    /// - Throws: `RunError.model` for a destination that is none.
    package func request(
        state: FilePath, inputs: [FilePath], output: FilePath?, slots: Int
    ) throws(RunError) -> RunRequest {
        var request = RunRequest(
            destination: try destination?.choice() ?? .itself, sourceModel: sourceModel,
            options: options, output: output, state: state, inputs: inputs,
            destinationName: destinationName, slots: slots, defersSwap: defersSwap,
            waitsForRoom: waitsForRoom)
        request.assumesClosed = assumesClosed ?? false
        return request
    }
}
