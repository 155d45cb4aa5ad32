package import ClusterProtocol
import ClusterVocabulary
import Coordinator
import CoreDataStore
package import DurableFiles
import Jobs
import LocalCluster
package import MigrationEngine
package import RunLedger
package import RunMoves
import RunService
import SafeSQLite
package import StateFolders
package import StoreRuns
import Synchronization

/// Runs of tests: a coordinator with threads for slots, whose tries follow each other at once.
package struct TestRuns {
    package var environment: RunEnvironment
    package var waitsForSpace = false
    package var slots = 2
    /// The migration policies that the slots run.
    package var policies = PolicyLibrary()
    package var watch: @Sendable (WatchEvent) -> Void = { _ in }
    package var logged: @Sendable (String) -> Void = { _ in }

    package init(_ environment: RunEnvironment) { self.environment = environment }

    /// Migrates stores, or resumes the same request's run.
    package func run(_ request: RunRequest, over stores: [FoundStore]) throws(RunError) -> RunEnding
    {
        var begun: BegunRun?
        let (run, end) = try cluster(slots: request.slots, waits: request.waitsForRoom).run(
            state: request.state, purpose: "testing"
        ) { coordinator throws(RunError) in
            let run = try coordinator.begin(
                request, over: stores, waitsForRoom: request.waitsForRoom)
            begun = run
            return run.id
        }
        return try ending(run, end, request.state, isResumed: begun?.isResumed ?? false)
    }

    /// Runs again what failed.
    package func replay(
        _ selection: RunSelection
    ) throws(RunError) -> (ending: RunEnding, replayed: Int) {
        var count = 0
        let (run, end) = try cluster(slots: slots, waits: waitsForSpace).run(
            state: selection.state, purpose: "testing"
        ) { coordinator throws(RunError) in
            let (run, stores) = try coordinator.replay(selection)
            count = stores
            return run.id
        }
        return (try ending(run, end, selection.state, isResumed: true), count)
    }

    /// Swaps in what waits.
    package func swap(
        _ selection: RunSelection, assumesClosed: Bool = false
    ) throws(RunError) -> RunEnding {
        let (run, end) = try cluster(slots: slots, waits: false).run(
            state: selection.state, purpose: "testing"
        ) { coordinator throws(RunError) in
            try coordinator.swap(selection, assumesClosed: assumesClosed)
        }
        return try ending(run, end, selection.state, isResumed: true)
    }

    private func cluster(slots: Int, waits: Bool) -> LocalCluster {
        let clock = ContinuousClock()
        let beginning = clock.now
        var threads = LocalSlots(.threads, count: slots)
        threads.policies = policies
        var cluster = LocalCluster(
            slots: threads, waitsForSpace: waits,
            environment: environment,
            place: LocalPlace(
                sockets: FilePath("/tmp"),
                milliseconds: { Int64((clock.now - beginning) / .milliseconds(1)) },
                number: { .random(in: 0 ... .max) }))
        cluster.times.backoff = Backoff(first: 1, longest: 4)
        cluster.times.spaceRetry = 20
        cluster.watch = watch
        cluster.log = logged
        return cluster
    }

    private func ending(
        _ run: String, _ end: LocalEnd, _ state: FilePath, isResumed: Bool
    ) throws(RunError) -> RunEnding {
        let records = try RunRecords(state: state)
        let counts = try records.counts(of: run)
        try records.close()
        switch end {
        case .ended: return RunEnding(id: run, counts: counts, isResumed: isResumed)
        case .stopped(let reason):
            return RunEnding(id: run, counts: counts, isResumed: isResumed, stopReason: reason)
        case .noSpace(let text): throw .store(.outOfSpace(path: "", reason: text))
        case .interrupted: throw .stopped
        case .withoutSlots(let text): throw .resources(text)
        }
    }
}

/// What a run reported of its stores, for a look at it afterwards.
package final class NoticeLog: Sendable {
    private let notes = Mutex<[Note]>([])
    private let paths: [Int: FilePath]

    /// - Parameter stores: in the order of their numbers.
    package init(_ stores: [FilePath]) {
        paths = Dictionary(uniqueKeysWithValues: stores.enumerated().map { ($0 + 1, $1) })
    }

    package var watch: @Sendable (WatchEvent) -> Void {
        { event in
            guard case .note(let note) = event else { return }
            self.notes.withLock { $0.append(note) }
        }
    }

    package var all: [Note] { notes.withLock { $0 } }

    /// Stores that came to an end, in the order in which they did.
    package var ended: [FilePath] {
        all.compactMap { note in
            guard case .store(let key, _, .ended(let state, _, _)) = note, state != .cancelled
            else { return nil }
            return paths[key.number]
        }
    }

    /// Stores of which anything was reported.
    package var touched: Set<FilePath> { Set(all.compactMap { $0.store.flatMap { paths[$0] } }) }

    /// Why stores failed.
    package var failures: [String] {
        all.compactMap { note in
            guard case .store(_, _, .ended(.failed, let cause, _)) = note else { return nil }
            return cause?.text ?? ""
        }
    }
}

extension WatchEvent {
    /// Whether a run waits.
    package var isPause: Bool {
        if case .note(.run(_, .paused)) = self { true } else { false }
    }
}

extension FaultPoints {
    /// Does something once for each of some stores, when the coordinator takes a whole result over
    /// or makes a merged one durable: it is built, and nothing has moved.
    ///
    /// - Parameters:
    ///   - stores: by their numbers in the run.
    ///   - body: what is done with a number, on the coordinator's thread that does it.
    /// - Returns: points that call the body.
    package static func beforeSwap(
        of stores: Set<Int>, _ body: @escaping @Sendable (Int) throws -> Void
    ) -> FaultPoints {
        let left = Mutex(stores)
        return FaultPoints { point in
            guard point.moment == .before else { return nil }
            let names = point.path.bytes.split(separator: UInt8(ascii: "/"))
                .map { String(decoding: $0, as: UTF8.self) }
            guard
                let place = names.firstIndex(where: {
                    $0.hasPrefix(DurableFileSystem.temporaryPrefix)
                }), let number = names[place].split(separator: "-").last.flatMap({ Int($0) })
            else { return nil }
            let isLast = place == names.count - 1
            let isAccepted = !isLast && names[place + 1].hasPrefix("accepted-")
            guard isLast && point.operation == .sync || isAccepted,
                left.withLock({ $0.remove(number) }) != nil
            else { return nil }
            do { try body(number) } catch { preconditionFailure("\(error)") }
            return nil
        }
    }
}

extension MigrationRequest {
    /// What a run over this store alone makes, in its output.
    ///
    /// - Throws: `RunError`, also where the store failed.
    package func runAlone() throws(RunError) {
        let request = RunRequest(
            destination: destination, sourceModel: sourceModel, options: options,
            output: output?.parent, state: state, inputs: [store], slots: slots,
            waitsForRoom: false)
        let bytes: Int64
        do throws(DurableFileError) {
            bytes = try FileStatus(of: store).size
        } catch {
            throw .file(error)
        }
        let found = FoundStore(
            number: 1, location: StoreLocation(store), output: output.map(StoreLocation.init),
            bytes: bytes)
        let ending = try TestRuns(RunEnvironment(clock: { 0 })).run(request, over: [found])
        guard ending.counts == [.done: 1] else { throw .stopped }
    }
}
