import DurableFiles
import Foundation
import Glibc
import Jobs
import RunLedger
import SafeSQLite
import Testing

/// `godwit migrate` with worker processes, as a user meets it.
@Suite(.serialized) struct MigrateWithWorkersTests {
    private static let shapes: [[String]] = [[], ["--chunk-bytes", "16KiB"]]

    @Test(arguments: shapes) func resultsAreThoseOfOneProcess(shape: [String]) throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: shape.isEmpty ? 6 : 2, notes: shape.isEmpty ? 40 : 200)
            let originals = try lab.contents(of: lab.data)
            let expected = try lab.expected(shape)
            #expect(expected.count >= 2)

            // Into another folder.
            let beside = try lab.run(
                lab.migration(["--output", lab.output.path, "--workers", "2"] + shape))
            #expect(beside.status == 0, "\(beside.log)")
            #expect(try lab.contents(of: lab.data) == originals)
            let results = try lab.contents(of: lab.output)
            for (name, bytes) in expected where name.hasSuffix(".sqlite") {
                #expect(results[name] == bytes, "\(name)")
            }

            // With a swap that waits.
            let deferred = try lab.run(lab.migration(["--defer-swap", "--workers", "2"] + shape))
            #expect(deferred.status == 0, "\(deferred.log)")
            #expect(try lab.contents(of: lab.data) == originals)
            let swap = try lab.run(["swap", "--state", lab.ledger.description])
            #expect(swap.status == 0, "\(swap.log)")
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.redone() == 0)
            #expect(try lab.strays().isEmpty)
            let back = try lab.run(["rollback", "--state", lab.ledger.description])
            #expect(back.status == 0, "\(back.log)")
            #expect(try lab.contents(of: lab.data) == originals)

            // In place.
            let inPlace = try lab.run(lab.migration(["--workers", "2"] + shape))
            #expect(inPlace.status == 0, "\(inPlace.log)")
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.strays().isEmpty)
            // Once more, there is nothing to do.
            for more in [[], ["--defer-swap"]] {
                let idle = try lab.run(lab.migration(["--workers", "2"] + more + shape))
                #expect(idle.status == 0, "\(idle.log)")
                #expect(try lab.contents(of: lab.data) == expected)
                #expect(try lab.strays().isEmpty)
            }
            let again = try lab.run(["rollback", "--state", lab.ledger.description])
            #expect(again.status == 0, "\(again.log)")
            #expect(try lab.contents(of: lab.data) == originals)
        }
    }

    /// Byte by byte, also for a store in chunks.
    @Test(arguments: shapes) func resultsAreTheSameHoweverJobsRun(shape: [String]) throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: shape.isEmpty ? 4 : 1, notes: shape.isEmpty ? 40 : 200)
            let expected = try lab.expected(shape)
            #expect(expected.count >= 1)
            let ways = [
                ["--workers", "1"], ["--workers", "5"], ["--in-process", "--workers", "1"],
                ["--in-process", "--workers", "5"],
            ]
            for (number, way) in ways.enumerated() {
                let output = lab.folder.appendingPathComponent("out-\(number)")
                let ended = try lab.run(
                    lab.migration(["--output", output.path] + way + shape))
                #expect(ended.status == 0, "\(ended.log)")
                let results = try lab.contents(of: output)
                for (name, bytes) in expected where name.hasSuffix(".sqlite") {
                    #expect(results[name] == bytes, "\(name) with \(way)")
                }
            }
        }
    }

    /// What was done before a kill is resumed on threads after worker processes, and the other way
    /// round.
    @Test(arguments: shapes, [false, true])
    func progressIsPortable(shape: [String], isInProcessFirst: Bool) throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: shape.isEmpty ? 60 : 1, notes: shape.isEmpty ? 40 : 3000)
            let expected = try lab.expected(shape)
            let (workers, threads) = (["--workers", "2"], ["--in-process", "--workers", "3"])
            let first = try lab.start(
                lab.migration(shape + (isInProcessFirst ? threads : workers)),
                log: lab.folder.appendingPathComponent("log"))
            try ClusterProcess.wait("some accepted jobs") {
                // Until there is a ledger.
                ((try? accepted(lab)) ?? 0) > 1
            }
            kill(first.processIdentifier, SIGKILL)
            first.waitUntilExit()
            #expect(first.terminationReason == .uncaughtSignal)
            let before = try accepted(lab)
            let last = try lab.run(
                lab.migration(shape + (isInProcessFirst ? workers : threads)))
            #expect(last.status == 0, "\(last.log)")
            #expect(try accepted(lab) > before)
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.redone() == 0)
            #expect(try lab.strays().isEmpty)
        }
    }

    @Test(arguments: shapes, ["abort", "trap"])
    func theDeathOfAPartCostsItsAttemptAlone(shape: [String], fault: String) throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: shape.isEmpty ? 6 : 1, notes: shape.isEmpty ? 40 : 200)
            let expected = try lab.expected(shape)
            // At the first attempt of some jobs, and never again.
            let faults =
                shape.isEmpty
                ? "\(fault):2:*:1,\(fault):5:*:1" : "\(fault):1:copy-1:1,\(fault):1:copy-2:1"
            let ended = try lab.run(
                lab.migration(shape + ClusterProcess.faulty(workers: 2)), faults: faults)
            #expect(ended.status == 0, "\(ended.log)")
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.redone() == 0)
            #expect(try lab.strays().isEmpty)
        }
    }

    @Test(arguments: shapes) func theSameCommandGoesOnWhenAllHaveDied(shape: [String]) throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: shape.isEmpty ? 6 : 1, notes: shape.isEmpty ? 40 : 200)
            let originals = try lab.contents(of: lab.data)
            let expected = try lab.expected(shape)
            let command = lab.migration(shape + ClusterProcess.faulty(workers: 2))
            for place in shape.isEmpty ? ["4:*:1", "6:*:1"] : ["1:copy-0:1", "1:copy-2:*"] {
                let killed = try lab.run(command, faults: "killAll:\(place)")
                #expect(killed.wasKilled && killed.status == SIGKILL, "\(killed.log)")
                // Each store is the one or the other, whole.
                for (name, bytes) in try lab.contents(of: lab.data)
                where name.hasSuffix(".sqlite") && originals[name] != bytes {
                    #expect(bytes == expected[name], "\(name)")
                }
            }
            let ended = try lab.run(command)
            #expect(ended.status == 0, "\(ended.log)")
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.redone() == 0)
            #expect(try lab.strays().isEmpty)
        }
    }

    @Test func faultsCostTheirOwnStoresAlone() throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: 8)
            let originals = try lab.contents(of: lab.data)
            let expected = try lab.expected()
            let kinds = [2: "trap", 4: "loop", 6: "sqliteCrash", 7: "allocate"]
                .filter { $0.value != "allocate" || ClusterProcess.canLimitMemory }
            let faults = kinds.map { "\($0.value):\($0.key):*:*" }.joined(separator: ",")
            // Three workers, so that no job waits for long until all of them have tried.
            let ended = try lab.run(
                lab.migration(ClusterProcess.faulty(workers: 3)), faults: faults)
            #expect(ended.status == 75, "\(ended.log)")
            let after = try lab.contents(of: lab.data)
            for number in 1...8 {
                let name = "/s\(number).sqlite"
                if kinds[number] == nil {
                    #expect(after[name] == expected[name], "\(name)")
                } else {
                    #expect(after[name] == originals[name], "\(name)")
                }
            }
            for (number, kind) in kinds {
                let code = try lab.failure(of: number)
                #expect(kind != "loop" || code == .timedOut)
                #expect([.crashed, .timedOut, .outOfMemory].contains(code), "\(kind)")
            }
            #expect(try lab.redone() == 0)

            // The cause is repaired: what failed is run, and nothing else.
            let before = try attempts(lab)
            let replay = try lab.run([
                "replay", "--state", lab.ledger.description, "--workers", "2",
            ])
            #expect(replay.status == 0, "\(replay.log)")
            #expect(try attempts(lab) - before == kinds.count)
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.redone() == 0)
            #expect(try lab.strays().isEmpty)
        }
    }

    @Test(arguments: ["trap", "loop", "sqliteCrash", "allocate"])
    func aChunkThatNobodyCanDoIsGivenUp(fault: String) throws {
        guard fault != "allocate" || ClusterProcess.canLimitMemory else { return }
        try ClusterProcess.run { lab in
            try lab.forge(stores: 2, notes: 200)
            let shape = ["--chunk-bytes", "16KiB"]
            let expected = try lab.expected(shape)
            let ended = try lab.run(
                lab.migration(shape + ClusterProcess.faulty(workers: 3)),
                faults: "\(fault):1:copy-2:*")
            #expect(ended.status == 75, "\(ended.log)")
            let counts = try lab.counts()
            // No other job was begun twice: what is above one attempt a job is the chunk's.
            #expect(counts.attempts - counts.jobs == counts.mostForOneJob - 1)
            #expect(counts.failed == counts.mostForOneJob && counts.failed >= 3)
            let name = "/s2.sqlite"
            #expect(try lab.contents(of: lab.data)[name] == expected[name])
            let before = try attempts(lab)
            let accepted = try accepted(lab)
            let replay = try lab.run([
                "replay", "--state", lab.ledger.description, "--workers", "2",
            ])
            #expect(replay.status == 0, "\(replay.log)")
            // What was accepted counts; the rest of the store's jobs is done once.
            #expect(try attempts(lab) - before == (try self.accepted(lab)) - accepted)
            #expect(try lab.contents(of: lab.data) == expected)
            #expect(try lab.redone() == 0)
        }
    }

    /// The change is distinguished from a fault of the store or of the engine, and the store is
    /// planned again once.
    ///
    /// Of a store in chunks most were copied by then, so that its result differs.
    @Test(arguments: [("write:2:*:1", []), ("write:1:copy-20:1", ["--chunk-bytes", "16KiB"])])
    func aStoreThatSomebodyWritesMeanwhileIsMigratedAnew(
        fault: String, shape: [String]
    ) throws {
        try ClusterProcess.run { lab in
            try lab.forge(stores: 2, notes: shape.isEmpty ? 40 : 400)
            let ended = try lab.run(
                lab.migration(shape + ClusterProcess.faulty(workers: 2)), faults: fault)
            #expect(ended.status == 0, "\(ended.log)")
            let written = try Connection(
                path: FilePath(lab.store(shape.isEmpty ? 2 : 1).path), mode: .readWrite)
            let titles = try written.integer(
                "SELECT count(*) FROM ZNOTE WHERE ZTITLE = 'written meanwhile'")
            try written.close()
            #expect(titles == (shape.isEmpty ? 40 : 400))
            #expect(try lab.strays().isEmpty)
        }
    }

    private func attempts(_ lab: ClusterProcess) throws -> Int { try lab.counts().attempts }

    private func accepted(_ lab: ClusterProcess) throws -> Int { try lab.counts().accepted }
}
