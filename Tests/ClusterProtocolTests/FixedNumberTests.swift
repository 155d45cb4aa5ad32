import ClusterProtocol
import Jobs
import Testing

/// Numbers that travel between processes of different builds never change.
@Suite struct FixedNumberTests {
    @Test func failureCodesKeepTheirNumbers() {
        let numbers: [FailureCode: Int] = [
            .badSource: 1, .sourceChanged: 2, .wrongPlan: 3, .wrongEngine: 4, .dataRefused: 5,
            .inputOutput: 6, .noSpace: 7, .internalError: 8, .slotCrashed: 9, .slotTimedOut: 10,
            .slotOutOfMemory: 11, .leaseExpired: 12, .returned: 13, .cancelled: 14,
            .unsupported: 15, .modelMissing: 16, .externalDataMissing: 17, .noMapping: 18,
            .outputExists: 19, .validationFailed: 20, .swapRefused: 21, .missing: 22, .locked: 23,
            .badDelivery: 24, .losses: 25, .olderDestination: 26, .policyFailed: 27,
            .policyMissing: 28,
        ]
        for code in FailureCode.allCases { #expect(numbers[code] == code.rawValue) }
        #expect(numbers.count == FailureCode.allCases.count)
    }

    @Test func failureCodesKeepTheirDecisions() {
        let decisions: [FailureCode: FailureDecision] = [
            .badSource: .quarantineChunk, .sourceChanged: .planAgain, .wrongPlan: .planAgain,
            .wrongEngine: .quarantineWorker, .dataRefused: .quarantineChunk, .inputOutput: .retry,
            .noSpace: .pause, .internalError: .stopRun, .slotCrashed: .retry,
            .slotTimedOut: .retry, .slotOutOfMemory: .retry, .leaseExpired: .retry,
            .returned: .retry, .cancelled: .nothing, .unsupported: .quarantineChunk,
            .modelMissing: .quarantineChunk, .externalDataMissing: .quarantineChunk,
            .noMapping: .quarantineChunk, .outputExists: .quarantineChunk,
            .validationFailed: .quarantineChunk, .swapRefused: .quarantineChunk,
            .missing: .retry, .locked: .retry, .badDelivery: .retry, .losses: .quarantineChunk,
            .olderDestination: .quarantineChunk, .policyFailed: .quarantineChunk,
            .policyMissing: .quarantineChunk,
        ]
        for code in FailureCode.allCases { #expect(decisions[code] == code.decision) }
    }

    @Test func whatSaysNothingAboutAJobDoesNotCount() {
        let innocent = FailureCode.allCases.filter { !$0.countsAgainstJob }
        #expect(
            innocent == [
                .sourceChanged, .wrongPlan, .wrongEngine, .noSpace, .leaseExpired, .returned,
                .cancelled,
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
