import CLinux
import ClusterProtocol
import DurableFiles
import FaultSupport
import GRDB
import Glibc
import Jobs
import MigrationEngine
import MigrationPlans
import RunService
import SafeSQLite
import StateFolders
import StoreRuns
import Synchronization
import Worker

/// The jobs of a slot that misbehaves.
enum FaultySlot {
    static func serve(_ arguments: [String]) -> Never {
        var roots: [String] = []
        var report = 1000
        for place in arguments.indices.dropLast() {
            if arguments[place] == "--\(SlotSetup.rootOption)" {
                roots.append(arguments[place + 1])
            }
            if arguments[place] == "--\(SlotSetup.reportOption)" {
                report = Int(arguments[place + 1]) ?? report
            }
        }
        do throws(SlotError) {
            let setup = try SlotSetup(roots: roots, reportMilliseconds: report)
            let stores = WholeStoreJobs(clock: { 0 })
            let engine = SlotWork.engine(setup) { job, attempt, places throws(SlotFailure) in
                do throws(RunError) {
                    return try stores.run(job, attempt: attempt, in: places)
                } catch {
                    throw SlotFailure(error.cause, text: "\(error)")
                }
            }
            let work = SlotWork { () throws(SlotFailure) in
                let run = try engine.prepare()
                return { order, counter throws(SlotFailure) in
                    for fault in ChosenFault.all where fault.fits(order) {
                        try fault.commit(order, counter, setup.roots)
                    }
                    guard let fault = Fault(rawValue: order.job.run) else {
                        return try run(order, counter)
                    }
                    return try fault.commit(order, counter, setup.roots)
                }
            }
            SlotChild.serve(work, reportMilliseconds: report)
        } catch {
            exit(64)
        }
    }
}

/// What a job does instead of its work.
enum Fault: String {
    /// Nothing wrong: an empty receipt.
    case none
    case trap, overflow, abort, loop, allocate, leave, garbage, hugeLength, foreignReceipt
    /// A fault inside SQLite's own code.
    case sqliteCrash
    /// A statement that needs more memory than a GiB.
    case sqliteMemory
    /// Counts rows without end.
    case rows
    /// Fills a temporary file, in the root `run`, without end.
    case spill
    case refuse

    func commit(
        _ order: JobOrder, _ counter: RowCounter, _ roots: [String: FilePath] = [:]
    ) throws(SlotFailure) -> Receipt {
        switch self {
        case .none: break
        case .trap: trap(order.attempt.epoch)
        case .overflow: print(deep(order.attempt.epoch))
        case .abort: Glibc.abort()
        case .loop: spin()
        case .allocate: allocate()
        case .leave: exit(3)
        case .garbage: send([0, 0, 0, 2, 255, 255])
        case .hugeLength: send([255, 255, 255, 255])
        case .foreignReceipt:
            let attempt = Attempt(id: "another", epoch: 1, folder: order.attempt.folder)
            return Receipt(job: order.job, attempt: attempt, rows: 0)
        case .sqliteCrash: try sql("SELECT fault()")
        case .sqliteMemory:
            // What reads a stranger's file has a limit of its own (decision 0023).
            let file = FilePath("/tmp/godwit-test-slot-\(getpid()).sqlite")
            defer { unlink(file.description) }
            try sql("SELECT hex(zeroblob(400000000))", in: file)
        case .rows: try sql("CREATE TABLE t (x); \(Self.endless)", counter)
        case .spill:
            setenv("SQLITE_TMPDIR", roots["run"]?.description ?? "", 1)
            try sql("CREATE TEMP TABLE t (x); \(Self.filling)", counter)
        case .refuse: throw SlotFailure(.dataRefused, text: "refused as asked")
        }
        return Receipt(job: order.job, attempt: order.attempt, rows: 1)
    }

    private static let endless =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) INSERT INTO t SELECT 1 "
        + "FROM c"

    private static let filling =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) INSERT INTO t SELECT "
        + "zeroblob(100000) FROM c"

    private func trap(_ epoch: Int) {
        let values = [1]
        Swift.print(values[epoch + 1])
    }

    private func deep(_ depth: Int) -> Int {
        var frame = (depth, depth, depth, depth)
        return withUnsafeMutablePointer(to: &frame) { deep($0.pointee.0 + 1) + $0.pointee.1 }
    }

    private func spin() {
        let turns = Atomic<UInt64>(0)
        while turns.load(ordering: .relaxed) != .max { turns.wrappingAdd(1, ordering: .relaxed) }
    }

    private func allocate() {
        var all: [[UInt8]] = []
        while true {
            all.append([UInt8](unsafeUninitializedCapacity: 1 << 22) { $1 = $0.count })
        }
    }

    private func send(_ bytes: [UInt8]) {
        _ = clinux_socket_send(SlotChild.descriptor, bytes, bytes.count)
        spin()
    }

    private func sql(
        _ text: String, _ counter: RowCounter? = nil, in file: FilePath? = nil
    ) throws(SlotFailure) {
        do throws(EngineError) {
            try EngineError.translating {
                let connection = try Connection(
                    path: file ?? "", mode: file == nil ? .memory : .create)
                let fault = DatabaseFunction("fault", argumentCount: 0) { _ in
                    UnsafePointer<Int>(bitPattern: 8)?.pointee
                }
                connection.queue.inDatabase { $0.add(function: fault) }
                if let counter {
                    try counter.counting(on: connection) { try connection.execute(text) }
                } else {
                    try connection.execute(text)
                }
            }
        } catch {
            throw SlotFailure(error)
        }
    }
}
