import ClusterClient
import ClusterProtocol
import Jobs
import RunReports
import Testing

@testable import CommandSupport
@testable import RunCommands

/// The lines that people follow a cluster by.
@Suite struct ClusterPictureTests {
    private func lines(
        _ report: StatusReport, _ columns: Int = 80, _ rows: Int = 24, notes: [Note] = []
    ) -> [String] {
        var picture = ClusterPicture()
        picture.take(report)
        for note in notes { _ = picture.take(note) }
        return picture.lines(in: TerminalSize(columns: columns, rows: rows), seconds: 725)
    }

    private let busy = ClusterSamples.report(
        [
            ClusterSamples.run(
                stores: [.done: 1203, .running: 12, .failed: 3, .waiting: 782],
                jobs: ["running": 5, "accepted": 34, "waiting": 12, "resting": 0])
        ],
        [
            ClusterSamples.worker("w1", host: "host-a"),
            ClusterSamples.worker(
                "w2", host: "host-b", state: .quarantined,
                reason: .quarantined("failed\nwhat others can do")),
            ClusterSamples.worker("worker-3", host: "host-c"),
        ])

    private let copying = Note.store(StoreKey(run: "r3", number: 4), .stage(.copy))

    @Test func ofEightyColumns() {
        #expect(
            lines(busy, notes: [copying]) == [
                "3 workers  9/12 slots busy  12 min 05 s",
                "r3  open  copy  1,203/2,000 stores  12 running  3 failed",
                "    5 jobs running  12 waiting  34 accepted",
                "    120,000 rows/s  84.2 MB/s  4 min 05 s left  1,234,567 rows  5.0 MiB read",
                "worker    host    slots  state",
                "w2        host-b    3/4  quarantined: failed what others can do",
                "w1        host-a    3/4  active",
                "worker-3  host-c    3/4  active",
            ])
    }

    @Test func ofTwoHundredColumns() {
        #expect(
            lines(busy, 200, notes: [copying]).dropFirst().first
                == "r3  open  copy  1,203/2,000 stores  12 running  3 failed  "
                + "5 jobs running  12 waiting  34 accepted  "
                + "120,000 rows/s  84.2 MB/s  4 min 05 s left  1,234,567 rows  5.0 MiB read")
    }

    @Test func whatWaitsIsSaid() {
        let waiting = ClusterSamples.report(
            [ClusterSamples.run(waitingFor: .noRoom("the disk\nis full"))], [])
        let lines = lines(waiting)
        #expect(lines.first == "no worker is connected  12 min 05 s")
        #expect(lines.last == "    waits: the disk is full")
    }

    @Test(arguments: [(80, 24), (200, 50), (20, 4), (40, 8), (80, 3), (10, 1)])
    func everythingFits(columns: Int, rows: Int) {
        let many = ClusterSamples.report(
            (1...40).map {
                ClusterSamples.run(
                    "r\($0)", stores: [.done: 9, .validated: 1, .rolledBack: 2],
                    waitingFor: .noRoom(String(repeating: "the disk is full ", count: 20)))
            },
            (1...90).map {
                ClusterSamples.worker(
                    "w\($0)", state: $0 % 2 == 0 ? .gone : .silent,
                    reason: .quarantined(String(repeating: "x\u{1B}", count: 300)))
            })
        let lines = lines(many, columns, rows)
        #expect(lines.count <= max(rows - 1, 3))
        #expect(lines.allSatisfy { $0.count <= max(columns, 20) })
        #expect(!lines.joined().contains("\u{1B}"))
        guard rows >= 24 else { return }
        #expect(lines.contains { $0.hasPrefix("… and") && $0.hasSuffix("more runs") })
        #expect(lines.contains { $0.hasPrefix("… and") && $0.hasSuffix("more workers") })
        // The newest run comes first.
        #expect(lines[1].hasPrefix("r40  "))
    }

    @Test func reportedNotesAreNotPrintedAgain() {
        var picture = ClusterPicture()
        let key = StoreKey(run: "r3", number: 1)
        let quiet: [Note] = [
            .store(key, .accepted(.whole, rows: 1, bytes: 1)), .store(key, .stage(.copy)),
            .store(key, .ended(.done, nil)), .run("r3", .began),
            ClusterSamples.failure(store: 1, .damaged, "t", isEarlier: true),
        ]
        for note in quiet { #expect(picture.take(note) == nil) }
        let failed = ClusterSamples.failure(store: 7, .damaged, "damaged")
        #expect(picture.take(failed) == "r3 store 7: failed: damaged")
        #expect(picture.take(.worker("w1", .joined(slots: 1))) == "w1 joined with 1 slot")
    }

    @Test func onlyWhatMattersIsAMilestone() {
        func milestone(
            _ stores: [StoreState: Int], _ jobs: [String: Int] = [:], state: RunState = .open,
            waitingFor: WaitingReason? = nil
        ) -> ClusterPicture.Milestone {
            ClusterPicture.Milestone(
                ClusterSamples.run(
                    state: state, stores: stores, jobs: jobs, waitingFor: waitingFor))
        }
        let fleet = milestone([.done: 500, .waiting: 1500])
        #expect(fleet == milestone([.done: 519, .waiting: 1470, .running: 11]))
        #expect(fleet != milestone([.done: 520, .waiting: 1480]))
        #expect(fleet != milestone([.done: 500, .waiting: 1499, .failed: 1]))
        #expect(fleet != milestone([.done: 500, .waiting: 1500], state: .paused))
        #expect(fleet != milestone([.done: 500, .waiting: 1500], waitingFor: .noWorker))
        #expect(fleet == milestone([.done: 500, .waiting: 1500], waitingFor: .stage(.indexing)))
        for passing in [WaitingReason.behindOtherStores, .offers, .behindOtherTasks] {
            #expect(fleet == milestone([.done: 500, .waiting: 1500], waitingFor: passing))
        }
        #expect(
            milestone([.running: 1], waitingFor: .noWorker)
                != milestone([.running: 1], waitingFor: .noWorkerWithEngine("2")))
        #expect(
            fleet == milestone([.done: 500, .waiting: 1500], ["running": 1], waitingFor: .noWorker))
        #expect(
            milestone([.running: 1], waitingFor: .unclaimed(jobs: 1, seconds: 30))
                == milestone([.running: 1], waitingFor: .unclaimed(jobs: 2, seconds: 29)))
        let one = milestone([.running: 1], ["accepted": 10, "waiting": 90])
        #expect(one == milestone([.running: 1], ["accepted": 19, "waiting": 81]))
        #expect(one != milestone([.running: 1], ["accepted": 20, "waiting": 80]))
    }

    @Test func jobsThatWaitAtAWorkerKeepNoSlotBusy() {
        let ahead = WorkerStatus(
            name: "w1", host: "h", engine: "1", slots: 4, running: 6, state: .active, reason: nil)
        #expect(WorkerTable.summary([ahead]) == "1 worker, 4 of 4 slots busy")
        #expect(WorkerTable.lines([ahead]).last?.contains("4/4") == true)
    }

    @Test func aReasonThatSaysItWaitsIsNotToldTwice() {
        let backOff = WaitingReason.backOff(seconds: 3, FailureReason(.locked, "x"))
        let waiting = ClusterSamples.run(waitingFor: backOff)
        #expect(
            ClusterPicture.line(of: waiting).hasSuffix(
                "; waits before the next attempt after: locked: x"))
        let counted = ClusterSamples.run(
            jobs: ["unclaimed": 2, "waiting": 3], waitingFor: .unclaimed(jobs: 2, seconds: 5))
        let line = ClusterPicture.line(of: counted)
        #expect(line.contains("2 jobs unclaimed, 3 waiting"))
        #expect(
            line.hasSuffix(
                "; 2 jobs are leased to silent workers; the leases end in 5 s"))
        let moving = ClusterSamples.run(
            jobs: ["running": 1, "resting": 1], waitingFor: backOff)
        #expect(
            ClusterPicture.line(of: moving)
                .hasSuffix("; the rest waits before the next attempt after: locked: x"))
    }

    @Test func runsAreOrderedByTheirNumbers() {
        #expect(RunNumber("r9") < RunNumber("r10"))
        #expect(RunNumber("a") < RunNumber("r1"))
        #expect(!(RunNumber("r2") < RunNumber("r2")))
    }

    @Test func aRunIsALineOfALog() {
        let run = ClusterSamples.run(
            stores: [.validated: 2, .failed: 1], jobs: ["running": 1],
            waitingFor: .noRoom("no room"))
        #expect(
            ClusterPicture.line(of: run)
                == "r3: open, 0/3 stores, 2 ready to swap, 1 failed, 1 job running, "
                + "120,000 rows/s, 84.2 MB/s, 4 min 05 s left, 1,234,567 rows, 5.0 MiB read; "
                + "the rest waits: no room")
        let ended = ClusterSamples.run(state: .ended)
        #expect(
            ClusterPicture.line(of: ended)
                == "r3: ended, 2/2 stores, 1,234,567 rows, 5.0 MiB read")
    }
}

/// How `submit --wait` ends.
@Suite struct RunEndTests {
    private func end(_ ending: WatchSession.Ending) throws -> RunEnd {
        RunEnd(
            ending, run: "r3",
            connection: CoordinatorConnection(endpoint: "tcp://127.0.0.1:7000", keys: nil))
    }

    @Test(
        arguments: [
            ([.done: 3], .ended, .success),
            ([.done: 3, .validated: 2, .pruned: 1], .ended, .success),
            ([.done: 3, .failed: 1], .ended, .canBeRepeated),
            ([.done: 3, .waiting: 1], .ended, .canBeRepeated),
            ([.done: 3, .cancelled: 1], .cancelled, .canBeRepeated),
            ([.done: 3], .cancelled, .canBeRepeated),
            ([.validated: 3], .open, .success),
            ([.validated: 2, .done: 1], .paused, .success),
            ([.validated: 2, .failed: 1], .open, .canBeRepeated),
            ([.validated: 2, .waiting: 1], .open, .canBeRepeated),
            ([.rolledBack: 1], .ended, .canBeRepeated),
        ] as [([StoreState: Int], RunState, CommandStatus)])
    func theStoresDecide(
        stores: [StoreState: Int], state: RunState, status: CommandStatus
    ) throws {
        let run = ClusterSamples.run(state: state, stores: stores)
        let failures = stores[.failed, default: 0]
        #expect(try end(.ended(run, failures: failures)).status == status)
        #expect(try end(.ended(run, failures: nil)).status == status)
    }

    @Test func withoutDetailsTheFailuresDecide() throws {
        #expect(try end(.ended(nil, failures: 0)).status == .success)
        #expect(try end(.ended(nil, failures: 2)).status == .canBeRepeated)
        #expect(try end(.ended(nil, failures: nil)).status == .canBeRepeated)
    }

    @Test func watchAfterInterruptPrintsResumeHint() throws {
        let stopped = try end(.stopped(reason: "3 stores failed"))
        #expect(stopped.status == .canBeRepeated)
        #expect(
            stopped.lines == [
                "run r3 has stopped: 3 stores failed",
                "resume it with: godwit resume r3 --connect tcp://127.0.0.1:7000 --plain",
                "or cancel it with: godwit cancel r3 --connect tcp://127.0.0.1:7000 --plain",
            ])
        #expect(stopped.entry.outcome == "stopped")
        let interrupted = try end(.interrupted)
        #expect(interrupted.status == .canBeRepeated)
        #expect(interrupted.lines.first?.contains("godwit watch r3") == true)
    }

    @Test func filesThatWereLeftOutAreTold() throws {
        let run = ClusterSamples.run(state: .ended, stores: [.done: 1])
        let connection = CoordinatorConnection(endpoint: "tcp://127.0.0.1:7000", keys: nil)
        let leftOut = Note.run("r3", .filesLeftOut(count: 1, files: ["a: no model"]))
        let text = "skipped 1 file that may contain user data: a: no model"
        let end = RunEnd(
            .ended(run, failures: 0), run: "r3", connection: connection, leftOut: leftOut)
        #expect(end.status == .canBeRepeated)
        #expect(end.lines.contains(text))
        #expect(end.entry.leftOut == text)
        #expect(try self.end(.ended(run, failures: 0)).status == .success)
        #expect(end.lines.contains { $0.contains("runs/r3/report.html") })
    }

    @Test func causesAreToldAtTheEnd() throws {
        let run = ClusterSamples.run(state: .ended, stores: [.failed: 3])
        let connection = CoordinatorConnection(endpoint: "tcp://127.0.0.1:7000", keys: nil)
        func lines(_ ending: WatchSession.Ending) -> [String] {
            RunEnd(
                ending, run: "r3", connection: connection,
                failures: [
                    10: ClusterSamples.failure(
                        store: 10, .noSpace, "there is\nno room", file: "d:b"),
                    2: ClusterSamples.failure(store: 2, .damaged, "damaged", file: "d:a"),
                ]
            ).lines
        }
        let causes = [
            "store 2: d:a: failed: damaged", "store 10: d:b: failed: there is no room",
        ]
        #expect(
            Array(lines(.ended(run, failures: 3))[1...3]) == causes + [
                "and 1 more store that failed"
            ])
        #expect(Array(lines(.stopped(reason: "x"))[1...2]) == causes)
        let entry = RunEnd(
            .ended(run, failures: 3), run: "r3", connection: connection,
            failures: [2: ClusterSamples.failure(store: 2, .damaged, "damaged")]
        ).entry
        #expect(entry.failed == [RunEnd.Failure(store: 2, text: "failed: damaged")])
    }

    @Test func failedStoresCanBeReplayed() throws {
        let run = ClusterSamples.run(state: .ended, stores: [.failed: 1, .validated: 1])
        let lines = try end(.ended(run, failures: 1)).lines
        #expect(lines.contains { $0.contains("godwit replay r3") })
        #expect(lines.contains { $0.contains("godwit swap r3") })
    }
}
