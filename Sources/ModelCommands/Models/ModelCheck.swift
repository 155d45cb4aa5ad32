import CommandSupport
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import ModelFiles
import RunReports
import StoreRuns

/// What becomes of stores of each version of a model.
///
/// Its JSON is documented in `docs/reference/json.md`.
struct ModelCheck: Sendable {
    /// What a check refuses.
    struct Rules: Sendable {
        var losses = LossPolicy.report
        /// Whether versions are refused that only some stores can leave.
        var refusesData = false
        /// Whether versions newer than the destination are checked like others.
        var allowsOlder = false
        /// Mapping files; each version takes the one for it.
        var mappings: [MappingChoice] = []
        var via: String?
    }

    /// What a version's stores can lose.
    struct PossibleLoss: Sendable {
        let subject: Loss.Subject
        /// The version in between that keeps it under another name.
        let renamed: IntermediateRename?
        /// Whether the check refuses it.
        let isRefused: Bool
    }

    /// One version.
    struct Version: Sendable {
        let version: String
        let verdict: VersionCheck.Verdict
        let reasons: [String]
        let losses: [PossibleLoss]
        /// Whether the check refuses what depends on the data.
        let refusesData: Bool
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
    ///   - rules: what is refused.
    /// - Throws: `CommandFailure` where the destination or a named version cannot be read, and for
    ///   a source alone that is no bundle.
    init(
        source: ModelArgument, destination: ModelArgument?, rules: Rules
    ) throws(CommandFailure) {
        self = try ScratchFolder.with { scratch throws(CommandFailure) in
            let target = try (destination ?? source).load(scratch: scratch, checksPages: false)
            let name = target.versions?.chosen ?? (destination ?? source).text
            let checker = try VersionChecker(target, rules)
            guard destination != nil else {
                guard let reader = target.reader else {
                    throw .usage(
                        "\(source.text) holds one version: name a second model to compare it with")
                }
                return ModelCheck(
                    destination: name, versions: checker.versions(of: reader),
                    warnings: target.warnings + source.laterVersions(in: reader.bundle), rules)
            }
            let origin = try source.load(scratch: scratch, checksPages: false)
            let versions =
                if let reader = origin.reader, !source.namesVersion {
                    checker.versions(of: reader)
                } else {
                    [
                        checker.version(
                            origin.versions?.chosen ?? source.text, origin.model, origin.hashes,
                            file: source.file(of: origin))
                    ]
                }
            return ModelCheck(
                destination: name, versions: versions,
                warnings: origin.warnings + target.warnings, rules)
        }
    }

    private init(
        destination: String, versions: [Version], warnings: [String], _ rules: Rules
    ) {
        self.destination = destination
        self.versions = versions
        // No model tells whether a store has history.
        let names = Set(versions.flatMap(\.losses).map(\.subject.name))
            .union([Loss.Subject.history.name])
        self.warnings =
            warnings
            + rules.losses.unused(among: names).map { LossOptions.unused($0, among: names) }
    }

    /// Whether stores of every version can be migrated, as far as the rules ask.
    var isPassed: Bool { versions.allSatisfy { $0.failure == nil } }
}

extension ModelArgument {
    /// Versions that are named after the current one: most likely the current one was not set.
    fileprivate func laterVersions(in bundle: BundleVersions) -> [String] {
        guard !namesVersion, bundle.chosen == bundle.current,
            let place = bundle.names.firstIndex(of: bundle.chosen), place + 1 < bundle.names.count
        else { return [] }
        let later = bundle.names[(place + 1)...]
        return [
            "the current version of \(text) is \(PrintedText.line(bundle.chosen)), and later "
                + "names exist: " + later.prefix(5).map(PrintedText.line).joined(separator: ", ")
                + (later.count > 5 ? ", …" : "")
        ]
    }
}

extension ModelCheck.Version {
    /// Why the check fails for the version; nil where it passes.
    var failure: CheckReport.Failure? {
        switch verdict {
        case .mapping, .refused:
            return CheckReport.Failure(
                kind: verdict.rawValue, text: reasons.joined(separator: "\n"))
        case .data where refusesData:
            return CheckReport.Failure(kind: "data", text: reasons.joined(separator: "\n"))
        case .same, .inferred, .data:
            let refused = losses.filter(\.isRefused)
            guard !refused.isEmpty else { return nil }
            let names = refused.map(\.subject.name).joined(separator: ", ")
            let hints = refused.filter { $0.renamed != nil }.map(\.text)
            let advice = "Keep the data in the model, or accept the loss with --accept-loss."
            return CheckReport.Failure(
                kind: "losses",
                text: (["stores can lose \(names)"] + hints + [advice]).joined(separator: "\n"),
                rank: 1)
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
            var warnings: [String] = []
            if version.failure == nil {
                warnings = version.verdict == .data ? version.reasons : []
                if !version.losses.isEmpty {
                    let lines = ["stores can lose"] + version.losses.map(\.text)
                    warnings.append(lines.joined(separator: "\n"))
                }
            }
            return CheckReport.Case(
                name: version.version, file: version.file, failure: version.failure,
                warnings: warnings, seconds: seconds / Double(max(1, versions.count)))
        }
    }
}
