import CommandSupport
import CoreDataStore
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import ModelFiles
import RunReports
import StoreRuns

/// Checks versions against one destination.
struct VersionChecker {
    private let destination: DestinationModel
    private let options: PlanOptions
    private let renames: IntermediateRenames
    private let rules: ModelCheck.Rules
    private let cache = MigrationCache()

    /// - Parameters:
    ///   - target: the destination.
    ///   - rules: what is refused.
    /// - Throws: `CommandFailure` for a model that no store can get.
    init(_ target: LoadedModel, _ rules: ModelCheck.Rules) throws(CommandFailure) {
        destination = try CommandFailure.translating { try target.destination() }
        var options = PlanOptions()
        if !rules.allowsOlder { options.newerVersions = target.newerVersions() }
        renames = target.intermediateRenames()
        options.intermediateRenames = renames
        options.mappings = rules.mappings
        options.versionNames = VersionNames(target.versionNames() ?? [:])
        options.ways = try ViaRoute(rules.via).ways(
            to: target, options, allowsOlder: rules.allowsOlder)
        self.options = options
        self.rules = rules
    }

    /// Checks all versions of a bundle, in their order.
    func versions(of reader: VersionReader) -> [ModelCheck.Version] {
        reader.bundle.names.map { name in
            let file = reader.bundle.path(of: name)
            switch reader.result(name) {
            case .success(let read):
                return version(name, read.model, read.hashes, file: file)
            case .failure(let error):
                return made(name, VersionCheck(unreadable: error), [:], file: file)
            }
        }
    }

    /// Checks one version.
    func version(
        _ name: String, _ model: Model, _ hashes: VersionHashes, file: String?
    ) -> ModelCheck.Version {
        let check = VersionCheck(
            of: model, hashes: hashes, name: name, to: destination, options: options, cache: cache)
        return made(name, check, renames[hashes.digest], file: file)
    }

    private func made(
        _ name: String, _ check: VersionCheck, _ renames: [String: IntermediateRename],
        file: String?
    ) -> ModelCheck.Version {
        let losses = check.losses.map {
            ModelCheck.PossibleLoss(
                subject: $0, renamed: renames[$0.name], isRefused: rules.losses.refuses($0.name))
        }
        return ModelCheck.Version(
            version: PrintedText.line(name), verdict: check.verdict,
            reasons: check.reasons.map { $0 + (check.cause?.help ?? "") }, losses: losses,
            refusesData: rules.refusesData, file: file)
    }
}
