import ClusterProtocol
import DurableFiles
import Foundation
import Glibc
import Jobs
import MigrationEngine
import MigrationPlans
import RunService
import StoreRuns
import TestSupport
import Testing

@testable import CommandSupport
@testable import GodwitCommands
@testable import RunCommands

/// The built program as a client, with the test as its coordinator.
@Suite(.serialized) struct ClusterCommandTests {
    /// A folder with a coordinator that listens in it.
    private func withScript(_ body: (URL, ClientScript) throws -> Void) throws {
        try withTemporaryFolder { url in
            try body(url, ClientScript(ClientProcess.endpoint(in: url)))
        }
    }

    private let ended = ClusterSamples.report([ClusterSamples.run(state: .ended)])

    // MARK: - One answer

    @Test func statusShowsRunsAndWorkers() throws {
        try withScript { url, script in
            let text = try ClientProcess(["status"], in: url)
            try script.expect(.status(run: nil), .status(ClusterSamples.report()))
            let shown = try text.finish()
            #expect(shown.status == 0)
            #expect(shown.output.contains("r3  open  2/2 stores"))
            #expect(shown.output.contains("w1"))
            #expect(shown.log.isEmpty)

            let json = try ClientProcess(["status", "r3", "--json"], in: url)
            try script.expect(.status(run: "r3"), .status(ClusterSamples.report()))
            let entry = try JSONDecoder().decode(
                ClusterEntry.self, from: Data(try json.finish().output.utf8))
            #expect(entry == ClusterEntry(ClusterSamples.report()))
            #expect(entry.runs.first?.secondsLeft == 245)
            #expect(entry.workers.first?.state == "active")
        }
    }

    @Test func missingPathIsUsageError() throws {
        try withScript { url, script in
            let process = try ClientProcess(["status", "r9"], in: url)
            try script.expect(
                .status(run: "r9"),
                .refused(
                    Refusal(code: .noRun, text: "/on/the/coordinator has no run r9", run: "r9")))
            let shown = try process.finish()
            #expect(shown.status == 64)
            let endpoint = ClientProcess.endpoint(in: url)
            #expect(
                shown.log == """
                    godwit: the coordinator at \(endpoint) has no run r9; godwit status --connect \
                    \(endpoint) lists those that it has

                    """)

            let watch = try ClientProcess(["watch"], in: url)
            try script.expect(.status(run: nil), .status(ClusterSamples.report([])))
            let watched = try watch.finish()
            #expect(watched.status == 64)
            #expect(watched.log.contains("no runs yet"))
        }
    }

    @Test(
        arguments: [
            (["pause", "r3"], ClientRequest.pause(run: "r3"), "godwit resume r3"),
            (["resume", "r3"], .resume(run: "r3"), "is resumed"),
            (["cancel", "r3"], .cancel(run: "r3"), "cancelled"),
            (
                ["throttle", "r3", "--jobs", "4", "--bytes-per-second", "1MiB"],
                .throttle(ThrottleSettings(run: "r3", bytesPerSecond: 1 << 20, jobs: 4)),
                "run r3: 4 jobs at a time, 1.0 MiB/s"
            ),
            (
                ["throttle", "--off"],
                .throttle(ThrottleSettings(run: nil, bytesPerSecond: nil, jobs: nil)),
                "all runs together: no limit"
            ),
        ])
    func whatIsDoneAtOnceIsSaid(
        words: [String], request: ClientRequest, text: String
    ) throws {
        try withScript { url, script in
            let process = try ClientProcess(words, in: url)
            try script.expect(request, .done)
            let shown = try process.finish()
            #expect(shown.status == 0, "\(shown.log)")
            #expect(shown.output.contains(text))
            #expect(shown.log.isEmpty)

            let options = "--connect \(ClientProcess.endpoint(in: url))"
            let refusals: [(Refusal.Code, text: String)] = [
                (.notPossible, "do x"), (.otherRun, "do x (godwit cancel r9 \(options))"),
                (.awaitsSwap, "do x: godwit swap r9 \(options)"),
            ]
            for (code, text) in refusals {
                let refused = try ClientProcess(words, in: url)
                try script.expect(
                    request, .refused(Refusal(code: code, text: "do x", run: "r9")))
                let told = try refused.finish()
                #expect(told.status == 64)
                #expect(told.log == "godwit: \(text)\n")
            }
        }
    }

    @Test func workersAreDrainedByTheNamesThatAreShown() throws {
        let workers = [
            ClusterSamples.worker("worker-1"), ClusterSamples.worker("rack 7"),
            ClusterSamples.worker("worker-0", state: .gone),
        ]
        try withScript { url, script in
            let process = try ClientProcess(["drain", "rack 7"], in: url)
            try script.expect(.workers, .status(ClusterSamples.report([], workers)))
            try script.expect(.drain(worker: "rack 7"), .done)
            let shown = try process.finish()
            #expect(shown.status == 0, "\(shown.log)")
            #expect(shown.output.contains("rack 7"))

            for name in ["worker-0", "worker"] {
                let unknown = try ClientProcess(["drain", name], in: url)
                try script.expect(.workers, .status(ClusterSamples.report([], workers)))
                let told = try unknown.finish()
                #expect(told.status == 64)
                #expect(
                    told.log
                        == "godwit: there is no worker \(name). Connected workers: rack 7, "
                        + "worker-1\n")
            }
        }
    }

    @Test func refusalsListSoManyWorkersAsCanBeRead() throws {
        func text(_ count: Int) throws -> String {
            let workers = (0..<count).map { ClusterSamples.worker("w\($0)") }
            return try #require(throws: CommandFailure.self) {
                try DrainCommand.check("x", among: workers)
            }.description
        }
        #expect(try text(0) == "there is no worker x: no worker is connected")
        #expect(try text(2) == "there is no worker x. Connected workers: w0, w1")
        #expect(try text(60).hasSuffix(" and 10 more, which godwit workers lists"))
    }

    @Test func workersAreListed() throws {
        try withScript { url, script in
            let key = "rack-7.example"
            let workers = [
                ClusterSamples.worker(key),
                ClusterSamples.worker(
                    "w2", state: .quarantined, reason: .quarantined("too many failures")),
            ]
            let process = try ClientProcess(["workers"], in: url)
            try script.expect(.workers, .status(ClusterSamples.report([], workers)))
            let shown = try process.finish()
            #expect(shown.output.contains(key))
            #expect(shown.output.contains("quarantined: too many failures"))
            let json = try ClientProcess(["workers", "--json"], in: url)
            try script.expect(.workers, .status(ClusterSamples.report([], workers)))
            let entries = try JSONDecoder().decode(
                [ClusterEntry.Worker].self, from: Data(try json.finish().output.utf8))
            #expect(entries.map(\.name) == [key, "w2"])
        }
    }

    @Test func theNewestRunIsMeantWhereNoneIsNamed() throws {
        let runs = ClusterSamples.report(["r2", "r10", "r9"].map { ClusterSamples.run($0) })
        try withScript { url, script in
            for (word, request) in [
                ("replay", ClientRequest.replay(run: "r10", store: 4)),
                ("swap", .swap(run: "r10", store: 4)),
            ] {
                let process = try ClientProcess([word, "--store", "4"], in: url)
                try script.expect(.status(run: nil), .status(runs))
                // Each request comes by a connection of its own.
                try script.expect(request, .accepted(run: "r10"))
                let shown = try process.finish()
                #expect(shown.status == 0, "\(shown.log)")
                #expect(shown.output.contains("godwit watch r10"))
            }
        }
    }

    // MARK: - Watching

    @Test func aRunIsWatchedToItsEnd() throws {
        try withScript { url, script in
            let process = try ClientProcess(["watch", "r3"], in: url)
            try script.expect(.status(run: "r3"), .status(ClusterSamples.report()))
            let waiting = ClusterSamples.report([ClusterSamples.run(waitingFor: .noWorker)], [])
            try script.expect(
                .watch(run: "r3"), .event(.status(ClusterSamples.report())),
                .event(.status(ClusterSamples.report())), .event(.status(waiting)),
                .event(
                    .note(ClusterSamples.failure(store: 2, .damaged, "damaged"))),
                .event(
                    .note(ClusterSamples.failure(store: 1, .missing, "gone", isEarlier: true))),
                .event(.status(ended)), .event(.ended(run: "r3", failures: 0)), .done)
            try script.expect(.status(run: "r3"), .status(ended))
            let shown = try process.finish()
            #expect(shown.status == 0)
            #expect(shown.output.hasPrefix("r3: ended, 2/2 stores"))
            #expect(shown.output.contains("\nstore 1: failed: gone\nstore 2: failed: damaged\n"))
            let lines = shown.log.split(separator: "\n").map(String.init)
            #expect(lines.count == 4, "\(shown.log)")
            #expect(lines.first == "1 worker, 3 of 4 slots busy")
            #expect(lines.last == "r3 store 2: failed: damaged")
            #expect(shown.log.contains("waits: no worker"))
        }
    }

    @Test func eventsArePrintedAsJSON() throws {
        try withScript { url, script in
            let process = try ClientProcess(["watch", "r3", "--json"], in: url)
            try script.expect(.status(run: "r3"), .status(ClusterSamples.report()))
            let events: [WatchEvent] = [
                .status(ClusterSamples.report()),
                .note(ClusterSamples.failure(store: 2, .damaged, "a\nb")),
                .ended(run: "r3", failures: 1),
            ]
            try script.expect(
                .watch(run: "r3"), .event(events[0]), .event(events[1]), .event(events[2]))
            try script.expect(.status(run: "r3"), .status(ended))
            let shown = try process.finish()
            let lines = try shown.output.split(separator: "\n").map {
                try JSONDecoder().decode(EventEntry.self, from: Data($0.utf8))
            }
            #expect(lines == events.map(EventEntry.init))
            #expect(shown.log.isEmpty)
        }
    }

    @Test func watchingOutlivesTheCoordinator() throws {
        try withTemporaryFolder { url in
            let endpoint = ClientProcess.endpoint(in: url)
            let first = try ClientScript(endpoint)
            let process = try ClientProcess(["watch", "r3"], in: url)
            try first.expect(.status(run: "r3"), .status(ClusterSamples.report()))
            try first.expect(.watch(run: "r3"), .event(.status(ClusterSamples.report())))
            try first.vanish()
            let second = try ClientScript(endpoint)
            try second.expect(.watch(run: "r3"), .done)
            try second.expect(.status(run: "r3"), .status(ended))
            let shown = try withExtendedLifetime(second) { try process.finish() }
            #expect(shown.status == 0)
            #expect(shown.log.contains("is lost"))
            #expect(shown.log.contains("again"))
            #expect(shown.output.contains("r3: ended"))
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func aSignalEndsTheWatchingNotTheRun(signal: Int32) throws {
        try withScript { url, script in
            let process = try ClientProcess(["watch", "r3"], in: url)
            try script.expect(.status(run: "r3"), .status(ClusterSamples.report()))
            try script.expect(.watch(run: "r3"), .event(.status(ClusterSamples.report())))
            #expect(kill(process.identifier, signal) == 0)
            let shown = try process.finish()
            #expect(shown.status == 0)
            #expect(shown.output.contains("you stopped watching"))
            #expect(shown.output.contains("godwit watch r3"))
        }
    }

    // MARK: - Submitting

    private func makeStores(_ url: URL) throws -> [String] {
        let data = url.appendingPathComponent("data")
        try FileManager.default.createDirectory(at: data, withIntermediateDirectories: false)
        _ = try Samples.makeStore(at: data.appendingPathComponent("a.sqlite"))
        try Data("\(data.path)/b.sqlite\nsub\n".utf8)
            .write(to: data.appendingPathComponent("list"))
        return [
            "submit", "data/a.sqlite", "data", "data/*.sqlite", "--stores", "data/list", "--to",
            "self", "--root", "d=data", "--root", "out=results", "--output", "results/x",
            "--exclude", "*.old", "--max-failures", "2", "--limit-stores", "7", "--limit-jobs",
            "3", "--chunk-bytes", "1MiB",
        ]
    }

    @Test func aRunIsSubmitted() throws {
        try withScript { url, script in
            let process = try ClientProcess(makeStores(url), in: url)
            guard case .submit(let request) = try script.next() else {
                Issue.record("something else was asked for")
                return
            }
            try script.answer(.accepted(run: "r7"))
            let shown = try process.finish()
            #expect(shown.status == 0, "\(shown.log)")
            #expect(shown.output.hasPrefix("run r7 is submitted\n"))
            #expect(shown.output.contains("godwit watch r7 --connect ipc://"))
            let paths = ["a.sqlite", "", "*.sqlite", "b.sqlite", "sub"]
            #expect(request.paths == paths.map { FileReference(root: "d", path: $0) })
            #expect(request.limits == RunLimits(stores: 7, jobs: 3, failures: 2))
            let read = try SubmittedRequest(reading: request.request)
            #expect(read.output == FileReference(root: "out", path: "x"))
            #expect(read.exclude == ["*.old"])
            #expect(!read.defersSwap)
            #expect(read.waitsForRoom)
            let run = try read.request(state: "s", inputs: [], output: "o", slots: 1)
            #expect(run.options.chunkBytes == 1 << 20)
        }
    }

    @Test(
        arguments: [
            ([.done: 2], RunState.ended, 0, Int32(0)), ([.done: 1, .failed: 1], .ended, 1, 75),
            ([.cancelled: 2], .cancelled, 0, 75),
        ] as [([StoreState: Int], RunState, Int, Int32)])
    func whoWaitsEndsAsTheRun(
        stores: [StoreState: Int], state: RunState, failures: Int, status: Int32
    ) throws {
        let last = ClusterSamples.report([ClusterSamples.run(state: state, stores: stores)])
        try withScript { url, script in
            let process = try ClientProcess(makeStores(url) + ["--wait", "--json"], in: url)
            _ = try script.next()
            try script.answer(.accepted(run: "r3"))
            try script.expect(
                .watch(run: "r3"), .event(.status(ClusterSamples.report())),
                .event(.ended(run: "r3", failures: failures)), .done)
            try script.expect(.status(run: "r3"), .status(last))
            let shown = try process.finish()
            #expect(shown.status == status)
            let entry = try JSONDecoder().decode(
                RunEnd.Entry.self, from: Data(shown.output.utf8))
            #expect(entry.outcome == state.rawValue)
            #expect(entry.failures == failures)
            let words = stores.map { ($0.key.rawValue, $0.value) }
            #expect(entry.status?.stores == Dictionary(uniqueKeysWithValues: words))
        }
    }

    @Test func submitWaitPrintsResumeHintWhenRunStops() throws {
        try withScript { url, script in
            let process = try ClientProcess(makeStores(url) + ["--wait"], in: url)
            _ = try script.next()
            try script.answer(.accepted(run: "r3"))
            try script.expect(
                .watch(run: "r3"),
                .event(
                    .note(.run("r3", .stopped(reason: "2 stores failed")))))
            let shown = try process.finish()
            #expect(shown.status == 75)
            #expect(shown.log.contains("run r3 has stopped: 2 stores failed"))
            #expect(shown.log.contains("godwit resume r3 --connect"))
        }
    }

    // MARK: - Mistakes

    private static let destination = ["--to", "self", "--root", "d=.", "--connect", "ipc:///c"]

    @Test(
        arguments: [
            (["status", "--state", "s", "--connect", "ipc:///c"], "choose one"),
            (["status", "--keys", "k"], "--connect"),
            (["status", "--connect", "tcp://10.0.0.1:7000"], "--keys"),
            (["watch", "--connect", "tcp://127.0.0.1:7000"], "--plain"),
            (["watch", "--connect", "host"], "tcp://HOST:PORT"),
            (["workers", "--connect", "tcp://10.0.0.1:7000", "--plain"], "Unencrypted"),
            (["pause", "--connect", "ipc:///c"], "target"),
            (["cancel", "--connect", "ipc:///c"], "name the run"),
            (["replay", "data/a.sqlite", "--connect", "ipc:///c"], "--store"),
            (["replay", "--store", "3"], "--connect"),
            (["replay", "--workers", "2", "--connect", "ipc:///c"], "--workers"),
            (["throttle", "--connect", "ipc:///c"], "--off"),
            (["throttle", "--off", "--jobs", "1", "--connect", "ipc:///c"], "--off"),
            (["submit", "a", "--to", "self", "--connect", "ipc:///c"], "--root"),
            (["submit", "/"] + destination, "is not in a shared folder"),
            (["submit", "none"] + destination, "none does not exist"),
            (["submit", ".", "--workers", "2"] + destination, "--limit-jobs"),
            (["submit", ".", "--state", "s"] + destination, "--state"),
        ])
    func mistakesAreToldBeforeAnybodyIsAsked(words: [String], text: String) throws {
        try withTemporaryFolder { url in
            let shown = try ClientProcess(words, in: url, isConnected: false).finish()
            #expect(shown.status == 64, "\(shown.log)")
            #expect(shown.log.contains(text), "\(shown.log)")
            #expect(shown.output.isEmpty)
        }
    }
}
