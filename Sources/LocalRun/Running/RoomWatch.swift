import CoreDataStore
import DurableFiles
import MigrationEngine
import RunLedger
import Threads

/// Waits for room on a disk that is full, and tells the ledger and the observer so.
struct RoomWatch {
    let context: RunContext

    /// Seconds between two looks.
    static let interval = 2.0
    /// Bytes that must have come free before another try is worth it.
    static let worthwhile: Int64 = 1 << 20
    /// Looks after which another try is made although nothing seems to have changed: a quota
    /// shows in no count of free blocks, and what others hold may come free in small parts.
    static let patience = 30
    /// The same where plenty of room is free, so that it must be a quota.
    static let patienceWithQuota = 5

    /// What was free where the disk was found full.
    struct Finding {
        fileprivate let paths: [FilePath]
        fileprivate let free: [Int64]
    }

    /// Looks at the file systems of a store and of the ledger.
    func look(beside places: StorePlaces) throws(RunError) -> Finding {
        try look(at: [places.building.parent, context.state])
    }

    /// Looks at the file systems of some folders.
    func look(at paths: [FilePath]) throws(RunError) -> Finding {
        Finding(paths: paths, free: try room(paths))
    }

    /// Returns once the file systems have more room than when the disk was found full, or after
    /// some time, for a try is the only way to know.
    ///
    /// - Throws: `RunError` where the file systems or the ledger cannot be read.
    func wait(for error: RunError, since finding: Finding) throws(RunError) {
        let before = finding.free
        try pause("no room: \(error.shortage)")
        let isQuota = before.allSatisfy { $0 > 64 * Self.worthwhile }
        for _ in 0..<(isQuota ? Self.patienceWithQuota : Self.patience) {
            context.environment.wait(Self.interval)
            if context.cancellation.isCancelled { throw .stopped }
            let now = try room(finding.paths)
            if zip(before, now).contains(where: { $1 - $0 >= Self.worthwhile }) { break }
        }
        try resume()
    }

    /// Tells that the run waits.
    func pause(_ reason: String) throws(RunError) {
        try change(.paused, reason)
        context.observe(.paused(reason))
    }

    /// Tells that it goes on.
    func resume() throws(RunError) {
        try change(.open, "there is room again")
        context.observe(.resumed)
    }

    private func change(_ state: RunState, _ reason: String) throws(RunError) {
        let run = try context.read { ledger throws(LedgerError) in try ledger.run(context.id) }
        // Several stores may meet the same full disk.
        guard run?.state.canBecome(state) == true else { return }
        do throws(RunError) {
            try RunBook(ledger: context.ledger, environment: context.environment).change(
                context.id, state, reason)
        } catch {
            // The ledger may lie on the disk that is full: then it hears of it when work goes on.
            if error.isOutOfSpace { return }
            // Another store was faster.
            if case .ledger(let reason) = error, case .illegalTransition = reason.cause { return }
            throw error
        }
    }

    private func room(_ paths: [FilePath]) throws(RunError) -> [Int64] {
        try RunError.translating {
            try paths.map { path in
                let space = try FileSystemSpace(at: path)
                // A free inode counts like the room that may be missing beside it.
                return space.freeInodes == 0 ? 0 : space.freeBytes
            }
        }
    }
}

extension RunError {
    /// What lacks room, without the advice of a message that ends a run: one that waits goes on by
    /// itself.
    var shortage: String {
        switch self {
        case .store(let error), .engine(.store(let error)):
            guard case .outOfSpace(let path, let reason) = error else { return description }
            return "\(path): \(reason)"
        case .file(let error), .engine(.file(let error)):
            let text = error.description
            let advice = "; \(error.hint)"
            return text.hasSuffix(advice) ? String(text.dropLast(advice.count)) : text
        case .noRoom(let shortage): return "\(shortage)"
        default: return description
        }
    }
}
