import DurableFiles
import Foundation
import GRDB
import Jobs

// Stores: what was found, prepared, changed, reserved, moved.

extension RecordWriter {
    /// Adds stores, all waiting.
    func add(_ stores: [FoundStore], to run: Int64) throws {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO store (run, number, path, output, bytes, state, generation)
                VALUES (?, ?, ?, ?, ?, ?, 0)
                """)
        let state = StoreState.waiting.rawValue
        for store in stores {
            try require(
                store.number >= 0 && store.bytes >= 0 && !store.path.bytes.isEmpty,
                "a store without a path, or with a negative number or size")
            do {
                try statement.execute(arguments: [
                    run, store.number, Data(store.path.bytes),
                    store.output.map { Data($0.database.bytes) }, store.bytes, state,
                ])
            } catch let error as DatabaseError {
                guard error.resultCode == .SQLITE_CONSTRAINT else { throw error }
                throw fault(.duplicate("the store \(store.number) (\(store.path))"))
            }
        }
        let bytes = stores.reduce(0.0) { $0 + Double($1.bytes) }
        try count(stores.count, bytes: bytes, as: .waiting, in: run)
    }

    /// Adds to the counts of stores in a state, or takes from them.
    private func count(_ stores: Int, bytes: Double, as state: StoreState, in run: Int64) throws {
        try execute(
            """
            INSERT INTO tally (run, state, stores, bytes) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                stores = stores + excluded.stores, bytes = bytes + excluded.bytes
            """, [run, state.rawValue, stores, bytes])
    }

    /// Stores what a store's progress depends on.
    func prepare(_ place: StorePlace, _ preparation: Preparation) throws {
        try require(
            preparation.chunks >= 0 && preparation.linkChunks >= 0, "a negative number of chunks")
        let key: StatementArguments = [place.run, place.store, place.generation]
        let earlier = try row(
            "SELECT * FROM preparation WHERE run = ? AND store = ? AND generation = ?", key)
        if let earlier, try !preparation.keepsProgress(of: Preparation(stored: earlier)) {
            let accepted = try row(
                """
                SELECT 1 FROM job
                WHERE run = ? AND store = ? AND generation = ? AND accepted IS NOT NULL LIMIT 1
                """, key)
            if accepted != nil { throw fault(.progressDepends(store: place.store)) }
        }
        try execute(
            """
            INSERT OR REPLACE INTO preparation (
                run, store, generation, source_fingerprint, plan_digest, engine, has_snapshot,
                boot_identifier, chunks, link_chunks)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            key + [
                preparation.sourceFingerprint, preparation.planDigest, preparation.engine,
                preparation.hasSnapshot, preparation.bootIdentifier, preparation.chunks,
                preparation.linkChunks,
            ])
    }

    /// Changes a store's state and reports it.
    func change(
        _ place: StorePlace, to next: StoreState, _ reason: FailureReason?, _ at: Int64
    ) throws {
        let from = place.state
        guard from.canBecome(next) else {
            throw fault(
                .illegalTransition(of: place.words, from: from.rawValue, to: next.rawValue))
        }
        try execute(
            """
            UPDATE store SET
                state = ?, former_state = ?, failure_code = ?, failure_text = ?, changed_at = ?
            WHERE run = ? AND number = ?
            """,
            [
                next.rawValue, from.rawValue, reason?.cause.rawValue, reason?.text, at, place.run,
                place.store,
            ])
        try count(-1, bytes: -Double(place.bytes), as: from, in: place.run)
        try count(1, bytes: Double(place.bytes), as: next, in: place.run)
        if from == .failed, next == .waiting { try forgive(place) }
        let text = "\(from.rawValue) → \(next.rawValue)" + (reason.map { ": \($0.text)" } ?? "")
        try tell(run: place.run, store: place.store, kind: LedgerEvent.Kind.store, text, at)
    }

    /// Makes the store's progress history.
    func reset(_ place: StorePlace, _ reason: String, _ at: Int64) throws {
        guard place.state.isUnfinished || place.state == .failed else {
            throw fault(
                .illegalTransition(
                    of: "the progress of \(place.words)", from: place.state.rawValue, to: "reset"))
        }
        try execute(
            "UPDATE store SET generation = generation + 1 WHERE run = ? AND number = ?",
            [place.run, place.store])
        try tell(run: place.run, store: place.store, kind: LedgerEvent.Kind.reset, reason, at)
    }

    /// Adds to the time of a stage.
    func add(_ milliseconds: Int64, of stage: Stage, to place: StorePlace) throws {
        // The bound, 34 years, keeps sums far from an overflow.
        try require((0..<1 << 40).contains(milliseconds), "\(milliseconds) ms in one stage")
        try execute(
            """
            INSERT INTO stage_time (run, store, stage, milliseconds) VALUES (?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET milliseconds = milliseconds + excluded.milliseconds
            """, [place.run, place.store, stage.rawValue, milliseconds])
    }

    /// Lays claim to room.
    mutating func reserve(_ reservation: Reservation) throws {
        let place = try place(reservation.run, reservation.store)
        try require(
            reservation.bytes >= 0 && reservation.inodes >= 0, "a negative reservation")
        try execute(
            """
            INSERT OR REPLACE INTO reservation (run, store, device, bytes, inodes)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                place.run, place.store, Int64(bitPattern: reservation.device), reservation.bytes,
                reservation.inodes,
            ])
    }

    /// Adds a step of a swap or rollback.
    func add(_ step: SwapEntry, to place: StorePlace) throws {
        try execute(
            """
            INSERT INTO swap_step (run, store, kind, step, name, is_done, detail)
            VALUES (?, ?, ?, 0, ?, ?, ?)
            """,
            [
                place.run, place.store, step.kind.rawValue, step.phase.rawValue, step.isDone,
                step.detail,
            ])
    }
}
