import DurableFiles
import Foundation
import Glibc
import Jobs
import RunLedger
import Synchronization
import TestSupport
import Testing

/// Runs a body with a fresh folder as a path and removes the folder afterwards.
func withFolder<Result>(_ body: (FilePath) throws -> Result) throws -> Result {
    try withTemporaryFolder { url in try body(try #require(FilePath(url))) }
}

/// Opens the ledger of a folder as the tests do.
///
/// A process that another test starts holds our descriptors, and with them a lock that was let go,
/// until it runs its program.
func openLedger(_ folder: FilePath, faults: FaultPoints = .none) throws -> Ledger {
    let holder = LockHolder(text: "the tests")
    for _ in 0..<100_000 {
        do throws(LedgerError) {
            return try Ledger(folder: folder, holder: holder, faults: faults)
        } catch {
            guard case .locked = error.kind else { throw error }
            sched_yield()
        }
    }
    return try Ledger(folder: folder, holder: holder, faults: faults)
}

/// Runs a body with a ledger in a fresh folder, closed afterwards.
func withLedger(faults: FaultPoints = .none, _ body: (Ledger) throws -> Void) throws {
    try withFolder { folder in
        let ledger = try openLedger(folder, faults: faults)
        try body(ledger)
        try ledger.close()
    }
}

/// The cause with which a body fails.
func cause(
    _ location: SourceLocation = #_sourceLocation, of body: () throws -> Void
) throws -> LedgerError.Kind {
    let error = #expect(throws: LedgerError.self, sourceLocation: location) { try body() }
    return try #require(error, sourceLocation: location).kind
}

/// A run of this name.
func run(_ id: String = "r1") -> RunRecord {
    RunRecord(
        id: id, requestDigest: "digest", request: #"{"to":"model"}"#, engine: "1.0", begunAt: 1)
}

/// Stores with numbers from a range.
func found(_ numbers: Range<Int>) -> [FoundStore] {
    numbers.map {
        FoundStore(
            number: $0, location: StoreLocation(FilePath("/stores/\($0).sqlite")), output: nil,
            bytes: 100)
    }
}

/// The records of a run with a number of stores.
func beginning(_ id: String = "r1", stores: Int) -> [LedgerRecord] {
    [.runBegan(run(id)), .storesFound(run: id, found(0..<stores))]
}

/// A preparation that differs from others in its plan.
func preparation(plan: String = "plan", boot: String = "boot") -> Preparation {
    Preparation(
        sourceFingerprint: "print", planDigest: plan, engine: "1.0", hasSnapshot: true,
        bootIdentifier: boot, chunks: 3, linkChunks: 1)
}

/// A receipt as an engine would deliver it.
func receipt(
    _ attempt: String, epoch: Int = 0, store: Int = 0, work: Work = .copy(chunk: 0),
    run: String = "r1"
) -> Receipt {
    let file = FileReference(root: "run", path: "shards/\(attempt)")
    let job = Job(
        run: run, store: store, work: work, plan: file, planDigest: "plan", source: file,
        sourceSupport: nil, destination: nil, sourceFingerprint: "print", engine: "1.0",
        limits: .standard)
    return Receipt(
        job: job, attempt: Attempt(id: attempt, epoch: epoch, folder: file),
        files: [DeliveredFile(file: file, bytes: .max, digest: "d")], rows: 7,
        sums: ["P.n": ContentSum(count: 1, high: .max, low: .max)], counts: ["dropped": 2])
}

/// The record of an attempt's beginning.
func began(
    _ attempt: String, epoch: Int = 0, store: Int = 0, work: Work = .copy(chunk: 0),
    run: String = "r1"
) -> LedgerRecord {
    .attemptBegan(run: run, store: store, work: work, attempt: attempt, epoch: epoch, at: 5)
}

/// Why something failed.
let damaged = FailureReason(.damaged, "page 3 is damaged")

/// Records fault points, and lets some of them fail.
final class LedgerScript: Sendable {
    let points = Mutex<[FaultPoint]>([])
    private let failing: Mutex<[FaultPoint.Moment: (FileOperation, Int32)]> = Mutex([:])

    var faults: FaultPoints {
        FaultPoints { point in
            self.points.withLock { $0.append(point) }
            return self.failing.withLock { failing in
                guard let (operation, number) = failing[point.moment] else { return nil }
                return operation == point.operation ? .error(number) : nil
            }
        }
    }

    /// From now on the action fails at this moment with this error number.
    func fail(_ operation: FileOperation, _ moment: FaultPoint.Moment, _ number: Int32) {
        failing.withLock { $0[moment] = (operation, number) }
    }

    /// Nothing fails any more.
    func repair() { failing.withLock { $0 = [:] } }

    func count(_ operation: FileOperation) -> Int {
        points.withLock { points in
            points.count { $0.operation == operation && $0.moment == .before }
        }
    }
}

/// A note on the first store.
func note(_ text: String) -> LedgerRecord {
    .note(run: "r1", store: 0, kind: "k", text: text, at: 1)
}
