import CommandSupport
import CoreDataStore
import DurableFiles
import ManagedObjectModel
import MappingModel
import MigrationPlanning
import MigrationValidation
import ModelFiles
import RunReports
import StoreRuns

/// What becomes of stores of each version of a model.
///
/// Its JSON is documented in `docs/reference/json.md`.
struct ModelCheck: Sendable {
    /// What a version's stores can lose.
    struct PossibleLoss: Sendable {
        let subject: Loss.Subject
        /// The version in between that keeps it under another name.
        let renamed: IntermediateRename?
    }

    /// One version.
    struct Version: Sendable {
        let version: String
        let verdict: VersionCheck.Verdict
        let reasons: [String]
        let losses: [PossibleLoss]
        /// Those of the losses that are refused.
        let refusedLosses: [PossibleLoss]
        /// The file of the version, for annotations.
        let file: String?
    }

    /// The destination: the version's name, or the model as the user named it.
    let destination: String
    let versions: [Version]
    /// What the user should know of the models, in words.
    let warnings: [String]

    /// Reads the models and checks each version.
    ///
    /// - Parameters:
    ///   - source: a bundle, or the source of a pair.
    ///   - destination: of the pair; nil for a bundle.
    ///   - policy: which losses are refused.
    ///   - allowsOlder: whether versions newer than the destination are checked like others.
    /// - Throws: `CommandFailure` where the destination cannot be read, and for a source alone that
    ///   is no bundle.
    init(
        source: ModelArgument, destination: ModelArgument?, policy: LossPolicy, allowsOlder: Bool
    ) throws(CommandFailure) {
        self = try ScratchFolder.with { scratch throws(CommandFailure) in
            let target = try (destination ?? source).load(scratch: scratch, checksPages: false)
            if destination == nil {
                guard let bundle = target.versions else {
                    throw .usage(
                        "\(source.text) holds one version: name a second model to compare it with")
                }
                return try ModelCheck(of: bundle, target, policy, allowsOlder: allowsOlder)
            }
            let origin = try source.load(scratch: scratch, checksPages: false)
            let checker = try VersionChecker(
                target, policy: policy, allowsOlder: allowsOlder,
                renames: target.intermediateRenames())
            return ModelCheck(
                destination: destination?.text ?? "",
                versions: [
                    checker.version(
                        source.text, origin.model, origin.hashes, file: source.file(of: origin))
                ], warnings: origin.warnings + target.warnings)
        }
    }

    private init(destination: String, versions: [Version], warnings: [String]) {
        self.destination = destination
        self.versions = versions
        self.warnings = warnings
    }

    private init(
        of bundle: BundleVersions, _ target: LoadedModel, _ policy: LossPolicy, allowsOlder: Bool
    ) throws(CommandFailure) {
        let all = bundle.names.map { name in
            Result { () throws(ModelError) in try bundle.read(name) }
        }
        var readable: [String: BundleVersions.Version] = [:]
        for case .success(let version) in all { readable[version.name] = version }
        let checker = try VersionChecker(
            target, policy: policy, allowsOlder: allowsOlder,
            renames: target.intermediateRenames { readable[$0] })
        destination = bundle.chosen
        versions = zip(bundle.names, all).map { name, read in
            let file = bundle.path(of: name)
            return switch read {
            case .success(let read): checker.version(name, read.model, read.hashes, file: file)
            case .failure(let error): checker.unreadable(name, error, file: file)
            }
        }
        warnings = target.warnings
    }

    /// Whether stores of every version can be migrated, losses included.
    var isPassed: Bool { versions.allSatisfy { $0.failure == nil } }
}

extension ModelCheck.Version {
    /// Why stores of the version cannot be migrated; nil where they can.
    var failure: CheckReport.Failure? {
        switch verdict {
        case .mapping, .refused:
            return CheckReport.Failure(
                kind: verdict.rawValue, text: reasons.joined(separator: "\n"))
        case .same, .inferred, .data:
            guard !refusedLosses.isEmpty else { return nil }
            let names = refusedLosses.map(\.text)
            return CheckReport.Failure(
                kind: "losses", text: "stores can lose:\n" + names.joined(separator: "\n"))
        }
    }
}

extension ModelCheck.PossibleLoss {
    /// The loss in words: `Post.content`.
    var text: String { subject.name + (renamed.map { "; \($0)" } ?? "") }
}

extension ModelCheck {
    /// One case for each version.
    ///
    /// - Parameter seconds: of all of them.
    /// - Returns: the cases, in the order of the versions.
    func cases(seconds: Double) -> [CheckReport.Case] {
        versions.map { version in
            let refused = Set(version.refusedLosses.map(\.subject))
            let losses = version.losses.filter { !refused.contains($0.subject) }
            var warnings = version.verdict == .data ? version.reasons : []
            if !losses.isEmpty, version.failure == nil {
                warnings.append(
                    "stores can lose " + losses.map(\.text).joined(separator: ", "))
            }
            return CheckReport.Case(
                name: version.version, file: version.file, failure: version.failure,
                warnings: warnings, seconds: seconds / Double(max(1, versions.count)))
        }
    }
}

/// Checks versions against one destination.
private struct VersionChecker {
    private let destination: DestinationModel
    private let options: PlanOptions
    private let renames: IntermediateRenames
    private let policy: LossPolicy
    private let cache = MigrationCache()

    init(
        _ target: LoadedModel, policy: LossPolicy, allowsOlder: Bool, renames: IntermediateRenames
    ) throws(CommandFailure) {
        destination = try CommandFailure.translating { try target.destination() }
        var options = PlanOptions()
        if !allowsOlder { options.newerVersions = target.newerVersions() }
        self.options = options
        self.renames = renames
        self.policy = policy
    }

    func version(
        _ name: String, _ model: Model, _ hashes: VersionHashes, file: String?
    ) -> ModelCheck.Version {
        made(
            name,
            VersionCheck(
                of: model, hashes: hashes, name: name, to: destination, options: options,
                cache: cache), renames[hashes.digest], file: file)
    }

    func unreadable(_ name: String, _ error: ModelError, file: String?) -> ModelCheck.Version {
        made(name, VersionCheck(unreadable: error), [:], file: file)
    }

    private func made(
        _ name: String, _ check: VersionCheck, _ renames: [String: IntermediateRename],
        file: String?
    ) -> ModelCheck.Version {
        let losses = check.losses.map {
            ModelCheck.PossibleLoss(subject: $0, renamed: renames[$0.name])
        }
        return ModelCheck.Version(
            version: name, verdict: check.verdict, reasons: check.reasons, losses: losses,
            refusedLosses: losses.filter { policy.refuses($0.subject.name) }, file: file)
    }
}
