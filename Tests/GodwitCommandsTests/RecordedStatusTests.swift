import Jobs
import RunLedger
import Testing

@testable import RunCommands

@Suite struct RecordedStatusTests {
    private func run(_ change: (inout RecordedStatus) -> Void = { _ in }) -> RecordedStatus {
        var run = RecordedStatus(
            run: "r1", state: .ended, reason: nil, stores: [.done: 1_980, .failed: 20])
        run.begun = "2025-03-01T12:00:00Z"
        run.changed = "2025-03-01T12:01:00Z"
        change(&run)
        return run
    }

    @Test func runsAreListed() {
        #expect(
            RecordedStatus.lines(of: [run()], holder: nil) == [
                "run  state  started               in state since        stores",
                "r1   ended  2025-03-01T12:00:00Z  2025-03-01T12:01:00Z  1,980 done, 20 failed",
            ])
    }

    @Test func prunedStatusKeepsOutcomes() {
        let pruned = run {
            $0.stores = ["pruned": 2_000]
            $0.pruned = .init(
                migrated: 1_900, unchanged: 0, failed: 20, rolledBack: 78, cancelled: 2)
        }
        #expect(
            RecordedStatus.lines(of: [pruned], holder: nil)[1].hasSuffix(
                "2,000 pruned (1,900 migrated, 20 failed, 78 rolled back, 2 cancelled)"))
    }

    /// Of old runs only those are pruned that have something left.
    @Test func runsArePrunedOnce() {
        #expect(PruneCommand.isPruned([.pruned: 3]))
        #expect(PruneCommand.isPruned([.pruned: 3, .done: 0]))
        #expect(!PruneCommand.isPruned([.pruned: 3, .done: 1]))
        #expect(!PruneCommand.isPruned([.cancelled: 1]))
        #expect(!PruneCommand.isPruned([:]))
    }

    /// Only a run that no process works on needs a command.
    @Test func pausedStatusExplainsHowToResume() {
        let paused = run {
            $0.state = "paused"
            $0.pause = .space("/s is full")
        }
        #expect(
            Array(RecordedStatus.lines(of: [paused], holder: "pid 7").dropFirst(2)) == [
                "r1 is paused: not enough space: /s is full; it resumes automatically",
                "running: pid 7",
            ])
        let asked = run {
            $0.state = "paused"
            $0.pause = .request
        }
        #expect(
            RecordedStatus.lines(of: [asked], holder: "pid 7")[2]
                == "r1 is paused on request; resume it with godwit resume")
        #expect(
            Array(RecordedStatus.lines(of: [paused], holder: nil).dropFirst(2)) == [
                "r1 is paused: not enough space: /s is full",
                "No command is working on an unfinished run. To resume it, run its command again.",
                "If that was godwit submit, start godwit coordinate with this --state.",
            ])
    }
}
