import ArgumentParser
import CommandSupport
import DurableFiles
import Jobs
import MappingModel
import RunReports

/// Collects the failures of a command over several stores: one store's failure does not stop
/// the others.
struct StoreOutcomes {
    /// A store that failed.
    struct Failure: Hashable, Sendable, Codable {
        var store: String
        /// The status that the process would have for this store alone.
        var status: Int32
        var reason: String
        var cause: FailureCause?
        /// What the result would lack, where that is the cause.
        var losses: [Loss]?
    }

    private let count: Int
    private(set) var failures: [Failure] = []

    /// - Parameter count: how many stores the command was given.
    init(count: Int) { self.count = count }

    /// Notes a store's failure and says it on standard error, unless it is told elsewhere.
    ///
    /// - Parameters:
    ///   - store: its path, which the message names.
    ///   - failure: why it failed.
    ///   - cause: the same, for programs.
    ///   - losses: what is refused.
    ///   - isTold: whether standard error gets the message.
    mutating func fail(
        _ store: FilePath, _ failure: CommandFailure, cause: FailureCause? = nil,
        losses: [Loss]? = nil, isTold: Bool = true
    ) {
        let path = store.description
        let reason = failure.description
        let isNamed = reason.contains(path)
        if isTold { Console.log("godwit: \(isNamed ? "" : path + ": ")\(reason)") }
        failures.append(
            Failure(
                store: path, status: failure.status.rawValue, reason: reason, cause: cause,
                losses: losses))
    }

    /// How many stores failed, by what is to be done about them.
    var summary: String {
        let isBug = failures.count { $0.status == CommandStatus.bug.rawValue }
        let asIs = failures.count { $0.status == CommandStatus.canBeRepeated.rawValue }
        let broken = failures.count - asIs - isBug
        let kinds = [
            (asIs, "can be retried now"),
            (broken, "\(broken == 1 ? "needs" : "need") a fix first (see above)"),
            (isBug, "hit a bug in Godwit"),
        ]
        let words = kinds.filter { $0.0 > 0 }.map { "\(grouped($0.0)) \($0.1)" }
        return "\(grouped(failures.count)) of \(counted(count, "store")) failed: "
            + words.joined(separator: ", ")
    }

    /// - Throws: `ExitCode`: of a single store its own; of several, 75 where one failed.
    func finish() throws {
        guard let first = failures.first else { return }
        if count == 1 { throw ExitCode(first.status) }
        Console.log("godwit: \(summary)")
        throw ExitCode(CommandStatus.canBeRepeated.rawValue)
    }
}

/// The JSON of commands over several stores.
struct StoreList<Report: Codable>: Codable {
    /// Stores that succeeded, in the order of the command line.
    var stores: [Report]
    var failures: [StoreOutcomes.Failure]
}
