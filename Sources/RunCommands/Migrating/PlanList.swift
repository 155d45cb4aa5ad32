import ArgumentParser
import CommandSupport
import CoreDataStore
import DurableFiles
import Foundation
import Jobs
import MappingModel
import MigrationPlans
import ModelCommands
import RunReports
import RunService
import StateFolders
import StoreDiscovery
import StoreRuns

/// The plans of the stores that a command line names, with what cannot be planned.
///
/// Its JSON is documented in `docs/reference/json.md`.
struct PlanList {
    private let count: Int
    private let skipped: [SkippedFile]
    /// Whether the plan of each store is kept; of a fleet, plans that are not printed are not.
    var keepsPlans = false
    private var reports: [PlanReport] = []
    private var totals = PlanTotals()
    private var outcomes: StoreOutcomes
    private var room: [String] = []
    private(set) var warnings: [String]
    private let policy: LossPolicy
    /// Digests of the versions in the destination's bundle; nil for one that is none.
    private let versions: Set<String>?
    /// Names of all losses.
    private var lossNames: Set<String> = []

    init(_ fleet: FleetArguments, policy: LossPolicy, versions: Set<String>?) {
        self.policy = policy
        self.versions = versions
        count = fleet.stores.count
        skipped = fleet.skipped
        warnings = fleet.warnings.map(\.description)
        outcomes = StoreOutcomes(count: count)
    }

    /// Plans a store.
    ///
    /// - Parameters:
    ///   - store: its path.
    ///   - request: of its plan; the list's own policy says which losses are refused.
    /// - Returns: what the plan says of it.
    mutating func add(_ store: FilePath, _ request: MigrationRequest) -> CheckReport.Case {
        let name = PlanList.relative(store)
        var request = request
        // Losses are refused here, so that their numbers stay at hand.
        request.options.losses = .report
        var losses: [Loss]?
        do throws(RunError) {
            let planned = try StorePlanning(request).plan()
            var report = PlanReport(planned)
            lossNames.formUnion(report.losses.map(\.subject.name))
            losses = report.losses.filter { policy.refuses($0.subject.name) }
            do throws(EngineError) {
                try policy.check(report.losses, of: planned.source.path)
            } catch {
                throw .engine(error)
            }
            let isUnknown = versions.map { !$0.contains(planned.sourceDigest) } ?? false
            if isUnknown { report.notes.append(PlanList.unknownVersion) }
            totals.add(
                report, isUnknownVersion: isUnknown, isOpen: planned.isOpen,
                isUnchanged: planned.isUnchanged, runsCode: !planned.stepsLeft.isEmpty)
            if keepsPlans { reports.append(report) }
            var warnings =
                (isUnknown ? [PlanList.unknownVersion] : []) + report.filterNotes
                + PlanReport.swapNotes(planned)
            if !report.losses.isEmpty {
                warnings.append(
                    "loses\n" + report.losses.map(ReportWords.loss).joined(separator: "\n"))
            }
            return CheckReport.Case(name: name, file: name, warnings: warnings)
        } catch {
            let failure = CommandFailure(error)
            let cause = error.cause
            let isRefused = cause == .losses
            totals.refuse(store, cause, failure.description)
            outcomes.fail(
                store, failure, cause: cause, losses: isRefused ? losses : nil,
                isTold: keepsPlans)
            return CheckReport.Case(
                name: name, file: name,
                failure: CheckReport.Failure(
                    kind: cause.name,
                    text: failure.description.withoutStore(store.description),
                    rank: isRefused ? 1 : 0))
        }
    }

    private static let unknownVersion =
        "the store's version is not in the destination's bundle: an app that looks for it there "
        + "does not open the store"

    /// Warns of `--accept-loss` options that fit no loss, once all stores are planned.
    mutating func warnOfUnusedPatterns() {
        for pattern in policy.unused(among: lossNames) {
            let text = LossOptions.unused(pattern, among: lossNames)
            warnings.append(text)
            Console.log("warning: \(PrintedText.line(text))")
        }
    }

    /// A path as it is seen from the current folder, where it lies below that: build servers know
    /// files by their place in the repository.
    private static func relative(_ path: FilePath) -> String {
        let folder = FileManager.default.currentDirectoryPath + "/"
        let text = path.description
        return text.hasPrefix(folder) ? String(text.dropFirst(folder.count)) : text
    }

    /// Notes the room that a run over all stores takes on one file system.
    mutating func addRoom(_ need: SpaceNeed, at folder: FilePath, short: SpaceShortage?) {
        room.append(
            "\(ByteSize(bytes: need.bytes).words) and \(counted(need.inodes, "inode")) on "
                + "the file system of \(folder)")
        guard let short else { return }
        let text = "\(short). In place, migrate would wait for space"
        warnings.append(text)
        Console.log("warning: \(text)")
    }

    /// Files that were not taken although a user's data may be behind them.
    private var leftOut: [SkippedFile] { skipped.filter(\.needsAttention) }

    /// Those files, each as a case that failed.
    var leftOutCases: [CheckReport.Case] {
        leftOut.map { file in
            CheckReport.Case(
                name: PlanList.relative(file.path), file: PlanList.relative(file.path),
                failure: CheckReport.Failure(kind: "skipped", text: "\(file.reason)"))
        }
    }

    /// Prints the plan of one store, or the totals of several.
    func print(all: Bool) {
        guard count > 1 else {
            for report in reports { Console.print(report.text) }
            return
        }
        let lines = PlanReport.list("room for all stores in place", room).joined(separator: "\n")
        let told = all ? totals.short : totals.text
        let plans = all ? reports.map(\.text) : []
        Console.print((plans + [told, lines]).joined(separator: "\n\n"))
    }

    /// Ends the command as `migrate --output` would end.
    ///
    /// - Throws: `ExitCode`: of a single store its own; 75 where one of several failed, or where
    ///   files were left out that may be stores.
    func finish() throws {
        try outcomes.finish()
        guard !leftOut.isEmpty else { return }
        Console.log("godwit: \(EndReport.leftOutText(leftOut.count))")
        throw ExitCode(CommandStatus.canBeRepeated.rawValue)
    }
}

extension PlanList: Encodable {
    private enum CodingKeys: String, CodingKey { case stores, failures, skipped, warnings }

    func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(reports, forKey: .stores)
        try values.encode(outcomes.failures, forKey: .failures)
        try values.encode(skipped.map(Skipped.init), forKey: .skipped)
        try values.encode(warnings, forKey: .warnings)
    }
}

/// A file that was left out.
private struct Skipped: Encodable {
    let path: String
    let reason: String
    /// Whether it may be a store, so that the command does not end with 0.
    let needsAttention: Bool

    init(_ file: SkippedFile) {
        path = file.path.description
        reason = "\(file.reason)"
        needsAttention = file.needsAttention
    }
}
