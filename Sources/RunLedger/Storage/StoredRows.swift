import DurableFiles
import Foundation
import GRDB
import Jobs

// Values from rows. A row that does not hold what its table promises is damage, which
// `LedgerError.translating` says; nothing traps.

/// A stored word or number that this program does not know.
struct UnknownStoredValue: Error, CustomStringConvertible {
    let column: String

    var description: String { "an unknown value in the column \(column)" }
}

extension Row {
    /// The word of an enumeration.
    func word<Word: RawRepresentable>(
        _ column: String, as type: Word.Type = Word.self
    ) throws -> Word where Word.RawValue == String {
        guard let word = Word(rawValue: try decode(String.self, forColumn: column)) else {
            throw UnknownStoredValue(column: column)
        }
        return word
    }

    /// The path in a column of bytes.
    func path(_ column: String) throws -> FilePath {
        FilePath(bytes: try decode(Data.self, forColumn: column))
    }

    /// The reason in `failure_code` and `failure_text`; nil where there is none.
    func failureReason() throws -> FailureReason? {
        guard let number = try decode(Int?.self, forColumn: "failure_code") else { return nil }
        guard let code = FailureCause(rawValue: number) else {
            throw UnknownStoredValue(column: "failure_code")
        }
        return FailureReason(code, try decode(String?.self, forColumn: "failure_text") ?? "")
    }
}

extension RunReason {
    /// What a ledger keeps: `reason_code` and `reason`.
    var stored: (code: String, text: String) {
        switch self {
        case .paused(.request): ("paused", "")
        case .paused(.space(let text)): ("no-space", text)
        case .paused(.stopped(let text)): ("stopped", text)
        case .resumed: ("resumed", "")
        case .spaceAvailable: ("space-available", "")
        case .restarted: ("restarted", "")
        case .storesWait: ("stores-wait", "")
        case .replayed: ("replayed", "")
        case .finished: ("finished", "")
        case .cancelled: ("cancelled", "")
        case .refused(let text): ("refused", text)
        }
    }

    /// The reason of a code; nil for an unknown one.
    init?(code: String, text: String) {
        switch code {
        case "paused": self = .paused(.request)
        case "no-space": self = .paused(.space(text))
        case "stopped": self = .paused(.stopped(text))
        case "resumed": self = .resumed
        case "space-available": self = .spaceAvailable
        case "restarted": self = .restarted
        case "stores-wait": self = .storesWait
        case "replayed": self = .replayed
        case "finished": self = .finished
        case "cancelled": self = .cancelled
        case "refused": self = .refused(text)
        default: return nil
        }
    }
}

extension Row {
    /// The reason in `reason_code` and `reason`; nil where there is none.
    func runReason() throws -> RunReason? {
        guard let code = try decode(String?.self, forColumn: "reason_code") else { return nil }
        guard let reason = RunReason(code: code, text: try decode(forColumn: "reason")) else {
            throw UnknownStoredValue(column: "reason_code")
        }
        return reason
    }
}

extension Work {
    /// The work in `work` and `chunk`.
    init(row: Row) throws {
        let kind = try row.decode(String.self, forColumn: "work")
        let chunk = try row.decode(Int.self, forColumn: "chunk")
        guard let work = Work(kind: kind, chunk: chunk) else {
            throw UnknownStoredValue(column: "work")
        }
        self = work
    }
}

extension RunOverview {
    /// A row of `run`.
    init(row: Row) throws {
        record = RunRecord(
            id: try row.decode(forColumn: "id"),
            requestDigest: try row.decode(forColumn: "request_digest"),
            request: try row.decode(forColumn: "request"),
            engine: try row.decode(forColumn: "run_engine"),
            begunAt: try row.decode(forColumn: "begun_at"))
        state = try row.word("run_state")
        reason = try row.runReason()
        changedAt = try row.decode(forColumn: "run_changed_at")
    }

    /// The columns that the initialiser reads, of a table named `run`.
    static let columns = """
        run.id, run.request_digest, run.request, run.engine AS run_engine, run.begun_at,
        run.state AS run_state, run.reason_code, run.reason,
        run.changed_at AS run_changed_at
        """
}

extension Preparation {
    /// A row of `preparation`.
    init(stored row: Row) throws {
        self.init(
            sourceFingerprint: try row.decode(forColumn: "source_fingerprint"),
            planDigest: try row.decode(forColumn: "plan_digest"),
            engine: try row.decode(forColumn: "engine"),
            hasSnapshot: try row.decode(forColumn: "has_snapshot"),
            bootIdentifier: try row.decode(forColumn: "boot_identifier"),
            chunks: try row.decode(forColumn: "chunks"),
            linkChunks: try row.decode(forColumn: "link_chunks"))
    }
}

extension StoreSummary {
    /// A row of `store` joined with its `preparation`.
    init(row: Row) throws {
        let hasOutput = try row.decode(Bool.self, forColumn: "has_output")
        found = FoundStore(
            number: try row.decode(forColumn: "number"),
            location: StoreLocation(try row.path("path")),
            output: hasOutput ? StoreLocation(try row.path("output")) : nil,
            bytes: try row.decode(forColumn: "bytes"))
        state = try row.word("state")
        reason = try row.failureReason()
        changedAt = try row.decode(Int64?.self, forColumn: "changed_at")
        resets = try row.decode(forColumn: "generation")
        let isPrepared = try row.decode(Bool.self, forColumn: "is_prepared")
        preparation = isPrepared ? try Preparation(stored: row) : nil
    }

    /// The columns that the initialiser reads.
    static let columns = """
        store.number, store.path, store.output, store.output IS NOT NULL AS has_output,
        store.bytes, store.state, store.generation, store.failure_code, store.failure_text,
        store.changed_at, preparation.run IS NOT NULL AS is_prepared,
        preparation.source_fingerprint, preparation.plan_digest, preparation.engine,
        preparation.has_snapshot, preparation.boot_identifier, preparation.chunks,
        preparation.link_chunks
        """
    /// The join that the columns come from.
    static let join = """
        store LEFT JOIN preparation ON preparation.run = store.run
            AND preparation.store = store.number AND preparation.generation = store.generation
        """
}
