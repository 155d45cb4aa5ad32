import CoreDataStore
import DurableFiles
package import Jobs
package import MappingModel
import MigrationPlans
import RunLedger
package import RunReports
import StateFolders
import StoreRuns
import StoreSwap

// The layers below say what to do in words. The command line alone knows the options that do it.

extension FailureCause {
    /// What to do before the store is tried again, with the option that does it.
    package var advice: String {
        switch self {
        case .damaged: "Restore the file from another backup."
        case .unsupported: "See the reason of each store."
        case .modelMissing: "Give the model that wrote the store with --from."
        case .externalDataMissing:
            "Restore the support folder, or keep the references with --allow-missing-external."
        case .noMapping:
            "Check that it is the app's model; then change it, or migrate through another version."
        case .losses:
            "Run the command again with --accept-loss Entity.property, or keep the data in the "
                + "model."
        case .olderDestination:
            "Run the command again with the app's newest model, or with --allow-older."
        case .dataRefused: "Correct the data in the app, the mapping, or the model."
        case .policyFailed: "Correct the policy, or the object in the app; then replay."
        case .programFailed: "Correct the program, or the data in the app; then replay."
        case .policyMissing:
            "Run the command again with --worker-command, and an executable that carries the "
                + "policy; or start workers from it."
        case .sourceChanged: "Stop the program that writes to the store."
        case .locked: "Wait for the other run or program to finish, or stop it."
        case .missing: "Put the file back, or mount its disk."
        case .outputExists: "Remove the result, or give another --output."
        case .noSpace: "Free space or inodes, or raise the limit of open files."
        case .inputOutput: "Check the disk and the file permissions."
        case .validationFailed: "The original is unchanged. Please report this bug."
        case .swapRefused: "See the reason of each store, or use --output."
        case .crashed: "See the reason of each store, and report it; other stores are not affected."
        case .timedOut: "Check the disk and its mount; if needed, raise --worker-timeout."
        case .outOfMemory: "Allow more memory with --slot-memory or --worker-memory."
        case .leaseExpired: "Check the workers and the network."
        case .returned: "Keep workers running until the run ends."
        case .wrongPlan: "Check that workers mount the shared folders."
        case .wrongEngine: "Use one release on all machines."
        case .badDelivery:
            "The original is unchanged. Check disk, memory and release of the named worker."
        case .syncFailed: "Check the disk, then replay."
        case .stopped: "Run the same command again."
        case .bug: "The original is unchanged. Please report this bug."
        }
    }

    /// The same options in brackets, to follow a message; empty where none helps.
    package var help: String { options.map { " (\($0))" } ?? "" }

    /// The options that help a store that failed by this cause; nil where none does.
    package var options: String? {
        switch self {
        case .modelMissing: "see --from"
        case .externalDataMissing: "see --allow-missing-external"
        case .outputExists, .swapRefused: "see --output"
        case .losses: "see --accept-loss and --history"
        case .olderDestination: "see --allow-older"
        case .policyMissing: "see --worker-command"
        default: nil
        }
    }
}

extension RunError {
    /// The options and commands that help against it; nil where none does.
    var options: String? {
        switch self {
        case .noRun(.some, let state): "godwit status --state \(state) lists its runs"
        case .noRun(nil, _), .ledger: "see --state"
        case .otherRun(let id, _, let state), .runOfOtherVersion(let id, _, let state, _):
            "godwit cancel \(id) --state \(state)"
        case .lostStore: "godwit rollback, godwit prune --lost"
        case .noRoom: "see --output and --state"
        case .swap(.clientsHidden), .file(.clientsHidden), .swap(.file(.clientsHidden)):
            "see --assume-closed and --output"
        case .engine(.losses), .engine(.olderDestination), .mapping: cause.options
        case .notShared: "see --root NAME=FOLDER"
        case .resultOfOtherModel, .resultWithoutModel: "see --to"
        case .swap(.storeChangedSinceSwap): "see --discard-changes"
        case .store, .outputExists, .outdatedOutput, .incompleteOutput, .halfPublished,
            .swap(.severalHardLinks), .file(.refusedFolder), .swap(.file(.refusedFolder)):
            cause.options
        default: nil
        }
    }
}

extension NextStep {
    /// The subcommand that takes the step.
    private var verb: String {
        switch self {
        case .replay: "replay"
        case .swap: "swap"
        case .rollBack: "rollback"
        case .prune: "prune"
        }
    }

    /// The step as it is typed.
    func command(for facts: RunFacts) -> String {
        "godwit \(verb) \(ShellWord.quoted(facts.run)) --state \(ShellWord.quoted(facts.state))"
    }
}

extension ReportGuide {
    /// The words of this command line.
    package static let commandLine = ReportGuide(
        advice: { $0.advice }, command: { $0.command(for: $1) })
}

extension MappingMistake {
    /// The mistake, with the option that helps against it.
    package var helped: String {
        description + (missingPolicy == nil ? "" : FailureCause.policyMissing.help)
    }
}
