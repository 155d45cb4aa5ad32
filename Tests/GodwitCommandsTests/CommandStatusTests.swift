import ArgumentParser
import DurableFiles
import Glibc
import Jobs
import ManagedObjectModel
import MappingInference
import MappingModel
import MigrationPlans
import RunLedger
import RunReports
import RunService
import SafeSQLite
import StateFolders
import StoreSwap
import Testing
import ZeroMQ

@testable import CommandSupport
@testable import GodwitCommands
@testable import RunCommands
@testable import StoreRuns

@Suite struct CommandStatusTests {
    static let cases: [(RunError, CommandStatus)] = [
        (.store(.notAStore(path: "s", reason: "r")), .badData),
        (.store(.unsupported(path: "s", reason: "r")), .badData),
        (.store(.inputOutput(path: "s", reason: "r")), .inputOutput),
        (.store(.layoutUnknown("r")), .badData),
        (.store(.layoutDiffers(path: "s", reason: "r")), .badData),
        (.store(.modelMissing(path: "s")), .badData),
        (.store(.modelDiffers(path: "s", entities: "E")), .badData),
        (.store(.externalDataMissing(path: "s", count: 2)), .badData),
        (.model(.malformed("r")), .badData), (.model(.unsupported("r")), .badData),
        (.model(.unreadable("r")), .badData),
        (.inference(InferenceError(refusals: [])), .badData),
        (.plan(.unsupported("r")), .badData), (.plan(.keyOverflow(table: "t")), .badData),
        (.plan(.refused(["r"])), .badData),
        (.engine(.store(.inputOutput(path: "s", reason: "r"))), .inputOutput),
        (.engine(.store(.modelMissing(path: "s"))), .badData),
        (.engine(.file(.stopped("f"))), .canBeRepeated),
        (.engine(.wrongPlan("r")), .inputOutput),
        (.engine(.sourceChanged("r")), .canBeRepeated),
        (.engine(.dataRefused("r")), .badData), (.engine(.internalError("r")), .bug),
        (.swap(.store(.modelMissing(path: "s"))), .badData),
        (.swap(.file(.stopped("f"))), .canBeRepeated),
        (.swap(.sourceChanged("r")), .canBeRepeated),
        (.swap(.storeBusy(store: "s", holder: "h")), .canBeRepeated),
        (.swap(.clientsHidden(store: "s", reason: "r")), .usage),
        (.swap(.severalHardLinks(store: "s", links: 2)), .usage),
        (.swap(.swapRefused(store: "s", reason: "r")), .usage),
        (.swap(.storeChangedSinceSwap(store: "s")), .usage),
        (.swap(.swapOutcomeUnknown(store: "s", reason: "r")), .usage),
        (.swap(.internalError("r")), .bug),
        (.file(.system(.write, "f", number: 28)), .inputOutput),
        (.file(.overLimit("f", limit: 1)), .inputOutput),
        (.file(.lockHeld("f", holder: "h")), .canBeRepeated),
        (.file(.changedMeanwhile("f")), .canBeRepeated),
        (.file(.refusedPath("f", reason: "r")), .usage),
        (.file(.notRegularFile("f", kind: "a pipe")), .usage),
        (.outputExists("f"), .usage),
    ]

    @Test func failuresHaveTheDesignsNumbers() {
        for (error, status) in Self.cases {
            #expect(CommandFailure(error).status == status, "\(error)")
            #expect(CommandFailure(error).description.hasPrefix(error.description))
        }
    }

    @Test func everyErrorHasItsCause() {
        let causes: [(RunError, FailureCause)] = [
            (.store(.notAStore(path: "a", reason: "r")), .damaged),
            (.store(.modelMissing(path: "a")), .modelMissing),
            (.store(.externalDataMissing(path: "a", count: 1)), .externalDataMissing),
            (.plan(.refused(["r"])), .dataRefused), (.plan(.unsupported("r")), .noMapping),
            (.engine(.sourceChanged("a")), .sourceChanged),
            (.engine(.internalError("r")), .bug),
            (.file(.system(.write, "a", number: ENOSPC)), .noSpace),
            (.file(.system(.open, "a", number: ENOENT)), .missing),
            (.file(.system(.open, "a", number: EIO)), .inputOutput),
            (.file(.lockHeld("a", holder: "h")), .locked), (.outputExists("a"), .outputExists),
            (.store(.unsupported(path: "a", reason: "r")), .unsupported),
            (.swap(.swapRefused(store: "a", reason: "r")), .swapRefused),
            (.swap(.storeBusy(store: "a", holder: "h")), .locked),
            (.ledger(LedgerError(ledger: "a", kind: .locked(holder: "h"))), .locked),
            (.ledger(LedgerError(ledger: "a", kind: .damaged(reason: "r"))), .inputOutput),
            (.badDelivery("r"), .badDelivery),
        ]
        for (error, cause) in causes {
            #expect(error.cause == cause, "\(error)")
            #expect(CommandStatus(cause) == CommandStatus(error))
        }
    }

    @Test func everyCauseIsTold() {
        let causes = FailureCause.allCases
        #expect(Set(causes.map(\.name)).count == causes.count)
        #expect(Set(causes.map(\.title)).count == causes.count)
        for cause in causes {
            #expect(!cause.title.isEmpty && cause.advice.hasSuffix("."))
            #expect(CommandStatus(cause).rawValue >= CommandStatus.usage.rawValue)
        }
        let statuses: [FailureCause: CommandStatus] = [
            .wrongPlan: .canBeRepeated, .wrongEngine: .canBeRepeated, .crashed: .canBeRepeated,
            .timedOut: .canBeRepeated, .outOfMemory: .canBeRepeated,
            .leaseExpired: .canBeRepeated, .returned: .canBeRepeated, .stopped: .canBeRepeated,
            .syncFailed: .inputOutput, .badDelivery: .bug,
        ]
        for (cause, status) in statuses { #expect(CommandStatus(cause) == status) }
    }

    /// What ends a command, and no store, keeps the number of a wrong command line.
    @Test func commandsThatFindNothingEndWith64() {
        let errors: [RunError] = [
            .nothingToDo("t"), .nothingFailed(run: "r", store: nil), .noRun(id: nil, state: "s"),
            .lostStore("t"), .alreadyThere("f"),
        ]
        for error in errors {
            #expect(error.cause == .swapRefused && CommandFailure(error).status == .usage)
        }
    }

    @Test func numbersAreThoseOfTheDesign() {
        #expect(CommandStatus.allCases.map(\.rawValue) == [0, 1, 64, 65, 70, 74, 75])
    }

    @Test func everyLayersErrorKeepsItsText() throws {
        let errors: [any Error] = [
            StoreError.modelMissing(path: "s"), ModelError.malformed("m"), PlanError.refused(["p"]),
            InferenceError(refusals: []), EngineError.dataRefused("d"),
            SwapError.sourceChanged("w"), DurableFileError.changedMeanwhile("f"),
            RunError.outputExists("o"),
        ]
        for error in errors {
            let failure = try #require(throws: CommandFailure.self) {
                try CommandFailure.translating { throw error }
            }
            #expect(failure.status != .bug)
            #expect(failure.description.hasPrefix("\(error)"))
        }
        struct Unknown: Error {}
        let bug = try #require(throws: CommandFailure.self) {
            try CommandFailure.translating { throw Unknown() }
        }
        #expect(bug.status == .bug)
    }

    @Test(
        arguments: [
            (ZeroMQError.refused(.bind, subject: "tcp://h:1", number: EADDRINUSE), 74, "another"),
            (.refused(.bind, subject: "tcp://h:1", number: EACCES), 64, "1023"),
            (.refused(.bind, subject: "tcp://h:1", number: EADDRNOTAVAIL), 64, "no such address"),
            (.refused(.bind, subject: "ipc:///a/b", number: ENOENT), 64, "folder"),
            (.refused(.connect, subject: "tcp://h:1", number: EINVAL), 64, "tcp://HOST:PORT"),
            (.refused(.makeSocket, subject: nil, number: EMFILE), 74, "ulimit"),
            (.tooFewDescriptors(limit: 40, needed: 96), 74, "ulimit"),
            (.invalidKey, 64, "keys new"), (.noAccessPolicy, 70, "policy"),
        ] as [(ZeroMQError, Int32, String)])
    func socketsThatCannotBeHadHaveTheirNumbers(
        error: ZeroMQError, status: Int32, text: String
    ) throws {
        let failure = try #require(throws: CommandFailure.self) {
            try CommandFailure.translating { throw error }
        }
        #expect(failure.status.rawValue == status)
        #expect(failure.description.contains(text), "\(failure)")
    }

    @Test func severalStoresEndWith75() throws {
        var none = StoreOutcomes(count: 2)
        try none.finish()
        none.fail("a", CommandFailure(.badData, "r"))
        #expect(throws: (any Error).self) { try none.finish() }
        #expect(GodwitCommand.exitCode(for: try thrown(by: none)).rawValue == 75)
        var one = StoreOutcomes(count: 1)
        one.fail("a", CommandFailure(.badData, "r"))
        #expect(GodwitCommand.exitCode(for: try thrown(by: one)).rawValue == 65)
    }

    /// 0 says that every store is where it should be: nothing else may.
    @Test func aRunIsCompleteWhereEveryStoreIs() {
        func isComplete(
            _ counts: [StoreState: Int], stopReason: String? = nil, leftOut: Int = 0
        ) -> Bool {
            let ending = RunEnding(
                id: "r1", counts: counts, isResumed: false, stopReason: stopReason)
            return EndReport.isComplete(ending, leftOut: leftOut)
        }
        for state in StoreState.allCases {
            let isFine = [.done, .validated, .pruned].contains(state)
            var counts: [StoreState: Int] = [.done: 9]
            counts[state] = 1
            #expect(isComplete(counts) == isFine, "\(state)")
            #expect(isComplete([state: 1]) == isFine, "\(state)")
            counts[state] = 0
            #expect(isComplete(counts), "\(state)")
        }
        #expect(isComplete([:]))
        #expect(!isComplete([.done: 9], stopReason: "9 stores failed"))
        #expect(!isComplete([.done: 9], leftOut: 1))
    }

    /// What a user took out of a run is none of a replay's business.
    @Test func replaysMeanWhatHadFailed() throws {
        func ending(_ counts: [StoreState: Int]) -> RunEnding {
            RunEnding(id: "r1", counts: counts, isResumed: false)
        }
        let undone = ending([.done: 3, .rolledBack: 2, .cancelled: 1])
        #expect(EndReport.isComplete(undone, leftOut: 0, of: .replay))
        #expect(!EndReport.isComplete(undone, leftOut: 0, of: .migration))
        for state in [StoreState.failed, .waiting, .running] {
            let open = ending([.done: 3, state: 1])
            #expect(!EndReport.isComplete(open, leftOut: 0, of: .replay))
        }
        let text = try #require(EndReport.undone(undone, .replay))
        #expect(text.hasPrefix("the run skipped 3 cancelled or rolled back stores"))
        #expect(text.contains("run godwit migrate again"))
        #expect(EndReport.undone(ending([.done: 3]), .replay) == nil)
    }

    @Test func failuresAreCountedByWhatIsToBeDone() {
        var outcomes = StoreOutcomes(count: 1200)
        outcomes.fail("a", CommandFailure(.canBeRepeated, "r"))
        #expect(
            outcomes.summary == "1 of 1,200 stores failed: 1 can be retried now")
        outcomes.fail("b", CommandFailure(.canBeRepeated, "r"))
        outcomes.fail("c", CommandFailure(.badData, "r"))
        outcomes.fail("d", CommandFailure(.inputOutput, "r"))
        outcomes.fail("e", CommandFailure(.bug, "r"))
        #expect(
            outcomes.summary == "5 of 1,200 stores failed: 2 can be retried now, "
                + "2 need a fix first (see above), 1 hit a bug in Godwit")
    }

    private func thrown(by outcomes: StoreOutcomes) throws -> any Error {
        try #require(throws: (any Error).self) { try outcomes.finish() }
    }
}
