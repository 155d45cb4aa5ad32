import ClusterProtocol
import ClusterVocabulary
@testable import Coordinator
import Jobs
import Testing

/// What the coordinator's log says of runs.
@Suite(.serialized) struct RunLogTests {
    private static func fail(_ run: String, _ text: String, _ lab: CoordinatorLab) throws {
        try lab.onLoop { loop in
            loop.ended(
                TaskReport(
                    TaskID(1_000_000), StoreKey(run: run, number: 1),
                    .failed(.inputOutput, text: text)))
        }
    }

    @Test func aRunBeginsAndGoesOn() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([try lab.sharing.forge("s1.sqlite")])
            try lab.told(.run(run, .began))
            try lab.restart()
            try lab.told(.run(run, .resumed))
        }
    }

    @Test func whatFailsInACancelledRunIsNoAlarm() throws {
        try CoordinatorLab.run { lab in
            let run = try lab.begin([try lab.sharing.forge("s1.sqlite")])
            try Self.fail(run, "before", lab)
            let client = try lab.peer("client")
            try client.ask(.watch(run: run))
            try client.ask(.cancel(run: run))
            _ = try client.end(of: run)
            try Self.fail(run, "after", lab)
            let texts = try lab.notesSoFar().compactMap { note in
                if case .taskFailed(_, .inputOutput, let text) = note { text } else { nil }
            }
            #expect(texts == ["before"])
        }
    }
}
