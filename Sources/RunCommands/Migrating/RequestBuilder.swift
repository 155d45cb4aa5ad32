import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import ManagedObjectModel
import MigrationPlans
import ModelCommands
import RunReports
import RunService
import StoreRuns

/// Turns the options of `plan` and `migrate` into one request for each store.
struct RequestBuilder {
    private let arguments: MigrationArguments
    private let options: PlanOptions
    private let destination: DestinationChoice
    private let sourceModel: Model?
    private let slots: Int
    /// Names of the versions of the destination's bundle, by digest; nil where it is none.
    private var versionNames: [String: String]?

    /// What is done about losses.
    var losses: LossPolicy { options.losses }

    /// Digests of all versions of the destination's bundle; nil for a destination that is none.
    func bundleDigests() -> Set<String>? { versionNames.map { Set($0.keys) } }

    /// Checks the command line and reads the models; warnings go to standard error.
    ///
    /// - Parameters:
    ///   - arguments: as parsed.
    ///   - slots: jobs at a time.
    ///   - scratch: an existing folder for snapshots of template stores.
    ///   - workerCommand: the executable of the worker processes; nil for this one.
    /// - Throws: `CommandFailure`.
    init(
        _ arguments: MigrationArguments, slots: Int, scratch: FilePath,
        workerCommand: String? = nil
    ) throws(CommandFailure) {
        self.arguments = arguments
        self.slots = slots
        var options = try arguments.options()
        let route = try arguments.models.via.route()
        options.mappings = try arguments.models.mappings.choices()
        if !options.mappings.isEmpty || route.directions.contains(where: { $0.mapping != nil }) {
            options.now = Date().timeIntervalSinceReferenceDate
            options.policies = try WorkerPolicies.declarations(of: workerCommand)
        }
        sourceModel = try RequestBuilder.load(
            "--from", arguments.from, scratch: scratch)?.model
        if case .itself = arguments.to.form {
            guard !route.isGiven else {
                throw .usage("--via cannot be used with --to self, which keeps the version")
            }
            destination = .itself
        } else {
            guard let loaded = try RequestBuilder.load("--to", arguments.to, scratch: scratch)
            else {
                throw CommandFailure(.bug, "a bug in Godwit: the destination was not read")
            }
            destination = .model(try CommandFailure.translating { try loaded.destination() })
            if !arguments.engine.allowOlder { options.newerVersions = loaded.newerVersions() }
            options.intermediateRenames = loaded.intermediateRenames()
            versionNames = loaded.versionNames()
            options.versionNames = VersionNames(versionNames ?? [:])
            options.ways = try route.ways(
                to: loaded, options, allowsOlder: arguments.engine.allowOlder)
        }
        self.options = options
    }

    /// The request of a plan for one store, whose files live below a scratch folder.
    func request(store: FilePath, scratch: FilePath) -> MigrationRequest {
        MigrationRequest(
            store: store, output: scratch.appending("result").appending("result"),
            state: scratch.appending("state"), destination: destination,
            sourceModel: sourceModel, options: options, slots: slots)
    }

    /// The request of a run.
    ///
    /// - Parameters:
    ///   - fleet: what was named.
    ///   - output: the folder of the results; nil for a swap in place.
    ///   - state: the folder of the runs.
    ///   - defersSwap: whether results wait for `godwit swap`.
    ///   - waitsForRoom: whether a full disk is waited for.
    ///   - failureLimit: failed stores that end the run.
    /// - Returns: the request.
    /// - Throws: `CommandFailure` where the folder of the results cannot be looked at.
    func request(
        _ fleet: FleetArguments, output: String?, state: FilePath, defersSwap: Bool,
        waitsForRoom: Bool, failureLimit: Int?
    ) throws(CommandFailure) -> RunRequest {
        let folder = try CommandFailure.translating {
            try output.map { try FleetArguments.absolute(FilePath($0)) }
        }
        return request(
            inputs: fleet.inputs, output: folder, state: state,
            defersSwap: defersSwap, waitsForRoom: waitsForRoom, failureLimit: failureLimit)
    }

    /// The request of a run over what is found elsewhere.
    func request(
        inputs: [FilePath], output: FilePath?, state: FilePath, defersSwap: Bool,
        waitsForRoom: Bool, failureLimit: Int?
    ) -> RunRequest {
        RunRequest(
            destination: destination, sourceModel: sourceModel, options: options,
            output: output, state: state, inputs: inputs, destinationName: arguments.to.text,
            slots: slots, defersSwap: defersSwap, waitsForRoom: waitsForRoom,
            failureLimit: failureLimit)
    }

    private static func load(
        _ option: String, _ argument: ModelArgument?, scratch: FilePath
    ) throws(CommandFailure) -> LoadedModel? {
        guard let loaded = try argument?.load(option: option, scratch: scratch) else { return nil }
        for warning in loaded.warnings { Console.log("warning: \(warning)") }
        return loaded
    }
}
