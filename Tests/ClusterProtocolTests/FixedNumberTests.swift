import ClusterProtocol
import Foundation
import Jobs
import Testing

/// Numbers that travel between processes of different builds never change.
@Suite struct FixedNumberTests {
    @Test func causesKeepTheirNumbers() {
        let numbers: [FailureCause: Int] = [
            .damaged: 1, .sourceChanged: 2, .wrongPlan: 3, .wrongEngine: 4, .dataRefused: 5,
            .inputOutput: 6, .noSpace: 7, .bug: 8, .crashed: 9, .timedOut: 10, .outOfMemory: 11,
            .leaseExpired: 12, .returned: 13, .stopped: 14, .unsupported: 15, .modelMissing: 16,
            .externalDataMissing: 17, .noMapping: 18, .outputExists: 19, .validationFailed: 20,
            .swapRefused: 21, .missing: 22, .locked: 23, .badDelivery: 24, .losses: 25,
            .olderDestination: 26, .policyFailed: 27, .policyMissing: 28, .syncFailed: 29,
            .programFailed: 30,
        ]
        for cause in FailureCause.allCases { #expect(numbers[cause] == cause.rawValue) }
        #expect(numbers.count == FailureCause.allCases.count)
    }

    /// Ledgers and reports of earlier versions hold the first 21.
    @Test func causesKeepTheirNames() throws {
        let names = [
            "damaged", "unsupported", "modelMissing", "externalDataMissing", "noMapping",
            "dataRefused", "losses", "olderDestination", "policyFailed", "policyMissing",
            "sourceChanged", "locked", "missing", "outputExists", "noSpace", "inputOutput",
            "validationFailed", "swapRefused", "crashed", "stopped", "bug", "wrongPlan",
            "wrongEngine", "timedOut", "outOfMemory", "leaseExpired", "returned", "badDelivery",
            "syncFailed", "programFailed",
        ]
        let text = try JSONEncoder().encode(names)
        let causes = try JSONDecoder().decode([FailureCause].self, from: text)
        #expect(causes.map(\.name) == names)
        #expect(Set(causes) == Set(FailureCause.allCases))
        #expect(try JSONEncoder().encode(causes) == text)
        for word in ["1", "\"\"", "\"slotCrashed\"", "\"Damaged\""] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode([FailureCause].self, from: Data("[\(word)]".utf8))
            }
        }
    }

    @Test func causesKeepTheirDecisions() {
        let decisions: [FailureCause: FailureDecision] = [
            .damaged: .quarantineChunk, .sourceChanged: .planAgain, .wrongPlan: .planAgain,
            .wrongEngine: .quarantineWorker, .dataRefused: .quarantineChunk, .inputOutput: .retry,
            .noSpace: .pause, .bug: .stopRun, .crashed: .retry, .timedOut: .retry,
            .outOfMemory: .retry, .leaseExpired: .retry, .returned: .retry, .stopped: .nothing,
            .unsupported: .quarantineChunk, .modelMissing: .quarantineChunk,
            .externalDataMissing: .quarantineChunk, .noMapping: .quarantineChunk,
            .outputExists: .quarantineChunk, .validationFailed: .quarantineChunk,
            .swapRefused: .quarantineChunk, .missing: .retry, .locked: .retry,
            .badDelivery: .retry, .losses: .quarantineChunk, .olderDestination: .quarantineChunk,
            .policyFailed: .quarantineChunk, .policyMissing: .quarantineChunk,
            .syncFailed: .planAgain, .programFailed: .quarantineChunk,
        ]
        for cause in FailureCause.allCases { #expect(decisions[cause] == cause.decision) }
    }

    @Test func whatSaysNothingAboutAJobDoesNotCount() {
        let innocent = FailureCause.allCases.filter { !$0.countsAgainstJob }
        #expect(
            innocent == [
                .sourceChanged, .wrongPlan, .wrongEngine, .noSpace, .leaseExpired, .returned,
                .stopped, .syncFailed,
            ])
    }

    @Test func denialsKeepTheirNumbers() {
        let reasons: [DenialReason] = [
            .staleEpoch, .alreadyAccepted, .unknownAttempt, .badReceipt, .cancelled,
        ]
        #expect(reasons.map(\.rawValue) == [1, 2, 3, 4, 5])
        #expect(DenialReason.allCases == reasons)
    }

    @Test func refusalsAndStatesKeepTheirNumbers() {
        let codes: [Refusal.Code] = [
            .protocolVersion, .badMessage, .notFound, .notPossible, .quarantined, .badRequest,
            .nameTaken, .noRun, .otherRun, .awaitsSwap,
        ]
        #expect(codes.map(\.rawValue) == Array(1...10))
        #expect(Refusal.Code.allCases == codes)
        let states: [WorkerStatus.State] = [.active, .draining, .silent, .quarantined, .gone]
        #expect(states.map(\.rawValue) == Array(1...5))
        #expect(WorkerStatus.State.allCases == states)
        let stages: [WaitingReason.StoreStage] = [
            .preparing, .copying, .indexing, .validating, .swapping, .replanning,
        ]
        #expect(stages.map(\.rawValue) == Array(1...6))
        #expect(WaitingReason.StoreStage.allCases == stages)
    }
}
