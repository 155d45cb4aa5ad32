import DurableFiles
import Foundation
import GRDB
import Jobs

/// Applies records to the tables of the ledger, inside a savepoint of the caller's.
struct RecordWriter {
    let database: Database
    let ledger: FilePath
    private var runs: [String: Int64] = [:]

    init(database: Database, ledger: FilePath) {
        self.database = database
        self.ledger = ledger
    }

    /// Applies one record.
    ///
    /// - Throws: `LedgerError` of the kind that `LedgerRecord` names, or GRDB's error.
    mutating func apply(_ prepared: PreparedRecord) throws {
        switch prepared.record {
        case .runBegan(let record): try begin(record)
        case .runChanged(let run, let state, let reason, let at):
            try change(run, to: state, reason, at)
        case .requestChanged(let run, let request):
            try execute(
                "UPDATE run SET request = ? WHERE number = ?", [request, try number(of: run)])
        case .storesFound(let run, let stores): try add(stores, to: number(of: run))
        case .storePrepared(let run, let store, let preparation):
            try prepare(place(run, store), preparation)
        case .storeChanged(let run, let store, let state, let reason, let at):
            try change(place(run, store), to: state, reason, at)
        case .stageEnded(let run, let store, let stage, let milliseconds):
            try add(milliseconds, of: stage, to: place(run, store))
        case .attemptBegan(
            let run, let store, let work, let attempt, let epoch, let at, let worker):
            let job = StoredJob(place: try place(run, store), work: work)
            try begin(attempt, of: job, epoch: epoch, by: worker, at)
        case .accepted(let receipt, let at):
            try accept(receipt, content: prepared.receipt ?? "", at)
        case .attemptFailed(let run, let attempt, let reason, let at):
            try fail(attempt, in: number(of: run), named: run, reason, at)
        case .epochRaised(let run, let store, let work, let epoch):
            try raise(StoredJob(place: try place(run, store), work: work), to: epoch)
        case .jobGivenUp(let run, let store, let work, let reason):
            try giveUp(StoredJob(place: try place(run, store), work: work), reason)
        case .progressReset(let run, let store, let reason, let at):
            try reset(place(run, store), reason, at)
        case .reserved(let reservation): try reserve(reservation)
        case .released(let run, let store):
            let place = try place(run, store)
            try execute(
                "DELETE FROM reservation WHERE run = ? AND store = ?", [place.run, place.store])
        case .swapStep(let run, let store, let step): try add(step, to: place(run, store))
        case .storeReport(let run, let store, let outcome, let content):
            let place = try place(run, store)
            try execute(
                """
                INSERT OR REPLACE INTO store_report (run, store, outcome, content)
                VALUES (?, ?, ?, ?)
                """, [place.run, place.store, outcome.rawValue, content])
        case .note(let run, let store, let kind, let text, let at):
            let number = try number(of: run)
            if let store { _ = try place(run, store) }
            try tell(run: number, store: store, kind: kind, text, at)
        }
    }
}

/// A store as rows name it, with what rules look at.
struct StorePlace {
    let run: Int64
    let runName: String
    let store: Int
    let state: StoreState
    let generation: Int
    let bytes: Int64

    /// How errors name it.
    var words: String { "store \(store) of the run \(runName)" }
}

/// A job as rows name it.
struct StoredJob {
    let place: StorePlace
    let work: Work

    /// The values of the key's columns: run, store, generation, work, chunk.
    var key: StatementArguments {
        [place.run, place.store, place.generation, work.kind, work.chunk]
    }
}

// Statements and look-ups that all records share.

extension RecordWriter {
    /// Runs a statement that returns no rows.
    func execute(_ sql: String, _ arguments: StatementArguments) throws {
        try database.cachedStatement(sql: sql).execute(arguments: arguments)
    }

    /// The first row of a query.
    func row(_ sql: String, _ arguments: StatementArguments) throws -> Row? {
        try Row.fetchOne(database.cachedStatement(sql: sql), arguments: arguments)
    }

    /// Inserts a row that may be there already.
    func insert(
        _ sql: String, _ arguments: StatementArguments, or what: @autoclosure () -> String
    ) throws {
        do {
            try execute(sql, arguments)
        } catch let error as DatabaseError {
            guard error.resultCode == .SQLITE_CONSTRAINT else { throw error }
            throw fault(.duplicate(what()))
        }
    }

    func fault(_ kind: LedgerError.Kind) -> LedgerError {
        LedgerError(ledger: ledger, kind: kind)
    }

    /// Refuses what no ledger holds.
    func require(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
        guard condition else { throw fault(.refusedValue(reason())) }
    }

    /// The number of a run.
    mutating func number(of run: String) throws -> Int64 {
        if let known = runs[run] { return known }
        guard let row = try row("SELECT number FROM run WHERE id = ?", [run]) else {
            throw fault(.unknownRun(run))
        }
        let number = try row.decode(Int64.self, forColumn: "number")
        runs[run] = number
        return number
    }

    /// A store of a run with its state.
    mutating func place(_ run: String, _ store: Int) throws -> StorePlace {
        let number = try number(of: run)
        let found = try row(
            "SELECT state, generation, bytes FROM store WHERE run = ? AND number = ?",
            [number, store])
        guard let found else { throw fault(.unknownStore(run: run, store)) }
        let state = StoreState(rawValue: try found.decode(String.self, forColumn: "state"))
        guard let state else { throw fault(.damaged(reason: "an unknown state of a store")) }
        return StorePlace(
            run: number, runName: run, store: store, state: state,
            generation: try found.decode(Int.self, forColumn: "generation"),
            bytes: try found.decode(Int64.self, forColumn: "bytes"))
    }

    /// Adds an event.
    func tell(run: Int64, store: Int?, kind: String, _ text: String, _ at: Int64) throws {
        try execute(
            "INSERT INTO event (run, store, kind, text, at) VALUES (?, ?, ?, ?, ?)",
            [run, store, kind, text, at])
    }
}

// Runs.

extension RecordWriter {
    private mutating func begin(_ record: RunRecord) throws {
        try require(!record.id.isEmpty, "a run has no id")
        let state = RunState.open.rawValue
        try insert(
            """
            INSERT INTO run (
                id, request_digest, request, engine, begun_at, state, reason, changed_at)
            VALUES (?, ?, ?, ?, ?, ?, '', ?)
            """,
            [
                record.id, record.requestDigest, record.request, record.engine, record.begunAt,
                state, record.begunAt,
            ], or: "the run \(record.id)")
        let number = database.lastInsertedRowID
        runs[record.id] = number
        try tell(run: number, store: nil, kind: LedgerEvent.Kind.run, state, record.begunAt)
    }

    private mutating func change(
        _ run: String, to next: RunState, _ reason: RunReason, _ at: Int64
    ) throws {
        let number = try number(of: run)
        let found = try row("SELECT state FROM run WHERE number = ?", [number])
        let stored = try found?.decode(String.self, forColumn: "state") ?? ""
        guard let state = RunState(rawValue: stored) else {
            throw fault(.damaged(reason: "an unknown state of a run"))
        }
        guard state.canBecome(next) else {
            throw fault(
                .illegalTransition(
                    of: "the run \(run)", from: state.rawValue, to: next.rawValue))
        }
        try execute(
            """
            UPDATE run SET state = ?, reason_code = ?, reason = ?, changed_at = ? WHERE number = ?
            """, [next.rawValue, reason.stored.code, reason.stored.text, at, number])
        if !next.isUnfinished {
            try execute("DELETE FROM reservation WHERE run = ?", [number])
        }
        let text = "\(state.rawValue) → \(next.rawValue): \(reason.text)"
        try tell(run: number, store: nil, kind: LedgerEvent.Kind.run, text, at)
    }
}
